//! Fill values: what items are in chunks that are not there.

use super::Version;
use crate::arguments::dtype::{Dtype, Kind};
use crate::failure::{Failure, Outcome};
use blosc_oxide::NpyHeader;
use serde_json::Value;

/// The bytes of an item that a description says.
pub(super) fn bytes(value: &Value, array: &NpyHeader, version: Version) -> Outcome<Vec<u8>> {
    let dtype = Dtype::of(&array.dtype(), array.itemsize());
    let wrong = || Failure::data(format!("its fill_value {value} is none for items of type {}", array.dtype()));
    if value.is_null() && version == Version::V2 {
        return Ok(vec![0; dtype.size]);
    }
    let found = match (&dtype.kind, value) {
        (Kind::Complex, Value::Array(parts)) if parts.len() == 2 => {
            let half = Dtype { kind: Kind::Float, size: dtype.size / 2, is_big: dtype.is_big };
            let parts: Option<Vec<Vec<u8>>> = parts.iter().map(|part| number(part, &half)).collect();
            parts.map(|parts| parts.concat())
        }
        (Kind::Complex, real) => {
            let half = Dtype { kind: Kind::Float, size: dtype.size / 2, is_big: dtype.is_big };
            number(real, &half).map(|mut real| {
                real.resize(dtype.size, 0);
                real
            })
        }
        (Kind::Bytes | Kind::Void | Kind::Struct(_), Value::String(text)) => base64(text).map(|mut bytes| {
            bytes.resize(dtype.size, 0);
            bytes
        }),
        (Kind::Text, Value::String(text)) => {
            let unit = |c: char| if dtype.is_big { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() };
            let mut bytes: Vec<u8> = text.chars().flat_map(unit).collect();
            bytes.resize(dtype.size, 0);
            Some(bytes)
        }
        (Kind::Bytes | Kind::Void | Kind::Struct(_) | Kind::Text, other) => {
            (other == &Value::from(0)).then(|| vec![0; dtype.size])
        }
        _ => number(value, &dtype),
    };
    found.filter(|found| found.len() == dtype.size).ok_or_else(wrong)
}

/// A number, a truth, or one of the words that JSON lacks numbers for.
fn number(value: &Value, dtype: &Dtype) -> Option<Vec<u8>> {
    let mut little = match (&dtype.kind, value) {
        (Kind::Float, Value::String(text)) => match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?.to_le_bytes()[..dtype.size.min(8)].to_vec(),
            None => float(text.parse().ok()?, dtype.size)?,
        },
        (Kind::Float, value) => float(value.as_f64()?, dtype.size)?,
        (Kind::Datetime(_) | Kind::Timedelta, Value::String(text)) if text == "NaT" => i64::MIN.to_le_bytes().to_vec(),
        (_, Value::Bool(truth)) => vec![u8::from(*truth)],
        (_, value) => {
            let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
            // Python writes whole floats for integers, too.
            let number = number.or_else(|| value.as_f64().filter(|number| number.fract() == 0.0).and_then(whole))?;
            number.to_le_bytes().get(..dtype.size)?.to_vec()
        }
    };
    if dtype.is_big {
        little.reverse();
    }
    Some(little)
}

#[expect(clippy::cast_possible_truncation, reason = "it is a whole number that i64 can hold")]
fn whole(number: f64) -> Option<i128> {
    (number.abs() < 9e15).then_some(number as i128)
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest number of fewer bytes is meant")]
fn float(number: f64, size: usize) -> Option<Vec<u8>> {
    match size {
        2 => half(number).map(|half| half.to_le_bytes().to_vec()),
        4 => Some((number as f32).to_le_bytes().to_vec()),
        8 => Some(number.to_le_bytes().to_vec()),
        _ => None,
    }
}

/// Fill values of two bytes: zeros, what is no number, and whole or halved numbers up to 2048.
fn half(number: f64) -> Option<u16> {
    let sign = u16::from(number.is_sign_negative()) << 15;
    if number == 0.0 {
        return Some(sign);
    }
    if number.is_nan() {
        return Some(0x7e00);
    }
    if number.is_infinite() {
        return Some(sign | 0x7c00);
    }
    let all = (0..0x7c00_u16).map(|bits| bits | sign);
    all.min_by(|&one, &other| {
        let distance = |bits: u16| (value_of_half(bits) - number).abs();
        distance(one).total_cmp(&distance(other)).then((one & 1).cmp(&(other & 1)))
    })
}

fn value_of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = if exponent == 0 { fraction * 2_f64.powi(-24) } else { (1024.0 + fraction) * 2_f64.powi(exponent - 25) };
    if bits >> 15 == 0 { size } else { -size }
}

/// Bytes of which each three are four letters.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let digits: Vec<u32> = group.iter().map(|&c| digit(c).map(u32::from)).collect::<Option<_>>()?;
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - digits.len()));
        bytes.extend(&bits.to_be_bytes()[1..digits.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{base64, bytes};
    use crate::zarr::Version;
    use blosc_oxide::{ItemOrder, NpyHeader};
    use serde_json::json;

    #[test]
    fn fill_values_become_items() {
        let of =
            |dtype: &str, value| bytes(&value, &NpyHeader::new(dtype, [], ItemOrder::C).unwrap(), Version::V3).unwrap();
        assert_eq!(of("<i2", json!(-2)), [254, 255]);
        assert_eq!(of(">u4", json!(1)), [0, 0, 0, 1]);
        assert_eq!(of("<f4", json!(1.5)), 1.5_f32.to_le_bytes());
        assert_eq!(of("<f8", json!("-Infinity")), f64::NEG_INFINITY.to_le_bytes());
        assert_eq!(of("<f4", json!("0x7fc00001")), 0x7fc0_0001_u32.to_le_bytes());
        assert_eq!(of("<f2", json!(0.1)), 0x2e66_u16.to_le_bytes());
        assert_eq!(of("|b1", json!(true)), [1]);
        assert_eq!(of("<c8", json!([1, "NaN"])), [1_f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat());
        assert_eq!(of("|S3", json!("YWI=")), b"ab\0");
        assert!(bytes(&json!("x"), &NpyHeader::new("<i2", [], ItemOrder::C).unwrap(), Version::V3).is_err());
        assert_eq!(base64("AAECAw==").unwrap(), [0, 1, 2, 3]);
    }
}
