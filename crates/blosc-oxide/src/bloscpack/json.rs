//! JSON texts as other writers of metadata write them: short, and in ASCII.
//!
//! Numbers stay as they were written: a `serde_json::Value` would round them, and its feature
//! `arbitrary_precision` would change the values of every other crate in the build.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail, error};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Values may be this deep inside each other: `serde_json` reads no more.
const MAX_DEPTH: usize = 127;

/// The same value without white space, in ASCII.
pub(super) fn compact(text: &str) -> Result<String> {
    // Numbers and strings are checked below, one by one; this checks what is around them, without
    // recursion.
    serde_json::from_str::<&RawValue>(text).map_err(|cause| error!(Corrupt, "JSON: {cause}"))?;
    let mut short = String::with_capacity(text.len());
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(next) = rest.chars().next() {
        if next == '"' {
            let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let Some(string) = strings.next() else { bail!(Corrupt, "JSON: a string has no end") };
            let string = string.map_err(|cause| error!(Corrupt, "JSON: {cause}"))?;
            push_string(&string, &mut short);
            rest = rest.get(strings.byte_offset()..).unwrap_or_default();
            continue;
        }
        match next {
            '[' | '{' => depth = depth.saturating_add(1),
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            bail!(LimitExceeded, "JSON: more than {MAX_DEPTH} values inside each other");
        }
        if !next.is_ascii_whitespace() {
            short.push(next);
        }
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    Ok(short)
}

/// The members of an object as they are written; `None` if the text is another value.
pub(super) fn members(text: &str) -> Result<Option<BTreeMap<String, &RawValue>>> {
    let value = serde_json::from_str::<&RawValue>(text).map_err(|cause| error!(Corrupt, "JSON: {cause}"))?;
    if !value.get().starts_with('{') {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|cause| error!(Corrupt, "JSON: {cause}"))
}

/// Appends a string, quoted, in ASCII.
pub(super) fn push_string(text: &str, out: &mut String) {
    let quoted = serde_json::Value::from(text).to_string();
    for c in quoted.chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Rng;
    use testkit::serde_json;

    #[test]
    fn values_come_back_short_and_in_ascii() {
        let text = " { \"a\" : [ 1 , -2.50e+3 , null , true , false ] , \"n\u{e9}v\" : \"gr\u{f6} \u{2603} \u{1d11e} \\n\\u0041\" } ";
        let short = "{\"a\":[1,-2.50e+3,null,true,false],\"n\\u00e9v\":\"gr\\u00f6 \\u2603 \\ud834\\udd1e \\nA\"}";
        assert_eq!(compact(text).unwrap(), short);
        assert_eq!(compact(short).unwrap(), short);
    }

    #[test]
    fn numbers_of_any_size_and_keys_in_any_order_stay_what_they_are() {
        let text = "{\"b\":12345678901234567890123456789,\"a\":1e999,\"b\":-0.10}";
        assert_eq!(compact(text).unwrap(), text);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let message = |text: &str| compact(text).unwrap_err().to_string();
        assert_eq!(message("[1,]"), "JSON: expected value at line 1 column 4");
        assert_eq!(message("[1"), "JSON: EOF while parsing a list at line 1 column 2");
        assert_eq!(message("1 2"), "JSON: trailing characters at line 1 column 3");
        for text in ["{\"a\" 1}", "\"\\ud800\"", "NaN", "", "01", "\"a"] {
            assert!(compact(text).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(compact(&nested(MAX_DEPTH)).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH)).is_ok());
        assert!(compact(&nested(MAX_DEPTH + 1)).is_err());
        assert!(compact(&"[".repeat(1_000_000)).is_err());
    }

    /// Texts that are almost JSON: those that are values are kept, and mean the same.
    #[test]
    fn what_is_a_value_stays_that_value() {
        let pieces =
            ["{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9\"", "1", "-0.5e-3", "01", ".5", "null", "tru", " "];
        let mut rng = Rng::new(5);
        let mut good = 0;
        for _ in 0..200_000 {
            let text: String = (0..1 + rng.below(7)).map(|_| pieces[rng.below(pieces.len())]).collect();
            let value = serde_json::from_str::<serde_json::Value>(&text);
            let short = compact(&text);
            assert_eq!(short.is_ok(), value.is_ok(), "{text}");
            if let (Ok(short), Ok(value)) = (short, value) {
                good += 1;
                assert_eq!(serde_json::from_str::<serde_json::Value>(&short).unwrap(), value, "{text}");
            }
        }
        assert!(good > 1000);
    }
}
