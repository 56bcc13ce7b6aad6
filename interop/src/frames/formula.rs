//! Data given by formulas, which the other side computes in the same way.

use testkit::serde_json::{Value, json};

/// Numbers that count up, in a way of their own for each `number`.
pub(super) fn ramp(number: usize, nbytes: usize) -> Value {
    json!({"ramp": [1 + number % 7, number % 251, 1 + number % 5], "nbytes": nbytes})
}

/// Bytes that are repeated.
pub(super) fn pattern(bytes: &[u8], nbytes: usize) -> Value {
    json!({"pattern": to_hex(bytes), "nbytes": nbytes})
}

/// The bytes that a formula stands for.
pub(super) fn bytes_of(formula: &Value) -> Vec<u8> {
    if let Some(blocks) = formula["blocks"].as_array() {
        return blocks.iter().flat_map(bytes_of).collect();
    }
    let int = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("a size");
    let nbytes = int(&formula["nbytes"]);
    if let Some(pattern) = formula["pattern"].as_str() {
        return from_hex(pattern).into_iter().cycle().take(nbytes).collect();
    }
    let [factor, start, divisor] = [0, 1, 2].map(|place| int(&formula["ramp"][place]));
    (0..nbytes).map(|at| ((at / divisor * factor + start) as u64).to_le_bytes()[0]).collect()
}

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16).expect("hex")).collect()
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
