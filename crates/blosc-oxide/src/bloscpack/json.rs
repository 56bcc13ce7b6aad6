//! JSON, as much as metadata needs: values read strictly, written as short as they can be and in ASCII.
//!
//! Numbers stay text, so that nothing is lost on the way through, and the order of keys is kept.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail, error};
use std::fmt::{self, Write as _};

/// Values may be this deep inside each other: reading is recursive.
const MAX_DEPTH: usize = 128;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Reads a text that holds one value and nothing else.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(MAX_DEPTH)?;
        match parser.peek() {
            None => Ok(value),
            Some(found) => bail!(Corrupt, "JSON: {found:?} at {} comes after the value", parser.at),
        }
    }

    /// The value of a key; the last one, if the key is there more than once.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_string(f, text),
            Self::Array(values) => {
                f.write_char('[')?;
                separated(f, values, |f, value| value.fmt(f))?;
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                separated(f, members, |f, (name, value)| {
                    write_string(f, name)?;
                    f.write_char(':')?;
                    value.fmt(f)
                })?;
                f.write_char('}')
            }
        }
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    parts: &[T],
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    let mut parts = parts.iter();
    if let Some(first) = parts.next() {
        write(f, first)?;
    }
    parts.try_for_each(|part| {
        f.write_char(',')?;
        write(f, part)
    })
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            ' '..='~' => f.write_char(c)?,
            _ => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
        }
    }
    f.write_char('"')
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    /// The next character after any white space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.advance(rest.len().saturating_sub(trimmed.len()));
        trimmed.chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        self.peek();
        let is_there = self.rest().starts_with(token);
        if is_there {
            self.advance(token.len());
        }
        is_there
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) {
            return Ok(());
        }
        match self.rest().chars().next() {
            Some(found) => bail!(Corrupt, "JSON: {found:?} at {} where {token:?} belongs", self.at),
            None => bail!(Corrupt, "JSON: the text ends at {} where {token:?} belongs", self.at),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        let Some(depth) = depth.checked_sub(1) else {
            bail!(LimitExceeded, "JSON: more than {MAX_DEPTH} values inside each other at {}", self.at);
        };
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"') => self.string().map(Json::String),
            Some('-' | '0'..='9') => self.number(),
            _ if self.take("null") => Ok(Json::Null),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            Some(found) => bail!(Corrupt, "JSON: {found:?} at {} starts no value", self.at),
            None => bail!(Corrupt, "JSON: the text ends at {} where a value belongs", self.at),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json> {
        self.expect("[")?;
        let mut values = Vec::new();
        if self.take("]") {
            return Ok(Json::Array(values));
        }
        loop {
            values.push(self.value(depth)?);
            if !self.take(",") {
                self.expect("]")?;
                return Ok(Json::Array(values));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        self.expect("{")?;
        let mut members = Vec::new();
        if self.take("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.peek();
            let name = self.string()?;
            self.expect(":")?;
            members.push((name, self.value(depth)?));
            if !self.take(",") {
                self.expect("}")?;
                return Ok(Json::Object(members));
            }
        }
    }

    fn number(&mut self) -> Result<Json> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let text = rest.split(|c| !is_part(c)).next().unwrap_or_default();
        if !is_number(text) {
            bail!(Corrupt, "JSON: {text:?} at {} is no number", self.at);
        }
        self.advance(text.len());
        Ok(Json::Number(text.to_owned()))
    }

    fn string(&mut self) -> Result<String> {
        if !self.rest().starts_with('"') {
            self.expect("\"")?;
        }
        self.advance(1);
        let mut value = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.split(|c| matches!(c, '"' | '\\' | '\0'..='\x1f')).next().unwrap_or_default();
            value.push_str(plain);
            self.advance(plain.len());
            match self.rest().chars().next() {
                Some('"') => {
                    self.advance(1);
                    return Ok(value);
                }
                Some('\\') => value.push(self.escape()?),
                Some(found) => bail!(Corrupt, "JSON: {found:?} at {} must be escaped", self.at),
                None => bail!(Corrupt, "JSON: the text ends at {} inside a string", self.at),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let at = self.at;
        self.advance(1);
        let letter = self.rest().chars().next();
        self.advance(letter.map_or(0, char::len_utf8));
        Ok(match letter {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => self.unicode_escape(at)?,
            _ => bail!(Corrupt, "JSON: the escape at {at} is none"),
        })
    }

    /// One UTF-16 unit, or the two of a surrogate pair.
    fn unicode_escape(&mut self, at: usize) -> Result<char> {
        let bad = || error!(Corrupt, "JSON: the escape at {at} is no character");
        let first = self.unit().ok_or_else(bad)?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            self.advance(2);
            units.push(self.unit().ok_or_else(bad)?);
        }
        char::decode_utf16(units).next().and_then(std::result::Result::ok).ok_or_else(bad)
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.advance(4);
        u16::from_str_radix(digits, 16).ok()
    }
}

/// Whether `text` is a number by the grammar of JSON: no leading zeros, digits on both sides of a point.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_is_good =
        exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits) && exponent_is_good
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
        assert_eq!(Json::parse(text).unwrap().to_string(), short);
        assert_eq!(Json::parse(short).unwrap(), Json::parse(text).unwrap());
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let message = |text: &str| Json::parse(text).unwrap_err().to_string();
        assert_eq!(message("[1,]"), "JSON: ']' at 3 starts no value");
        assert_eq!(message("{\"a\" 1}"), "JSON: '1' at 5 where \":\" belongs");
        assert_eq!(message("[1"), "JSON: the text ends at 2 where \"]\" belongs");
        assert_eq!(message("1 2"), "JSON: '2' at 2 comes after the value");
        assert_eq!(message("\"\\ud800\""), "JSON: the escape at 1 is no character");
        assert_eq!(message("NaN"), "JSON: 'N' at 0 starts no value");
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
        assert!(Json::parse(&nested(MAX_DEPTH + 1)).is_err());
        assert!(Json::parse(&"[".repeat(1_000_000)).is_err());
    }

    /// Texts that are almost JSON: both readers agree on which are.
    #[test]
    fn another_reader_agrees_on_what_is_json() {
        let pieces =
            ["{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9\"", "1", "-0.5e-3", "01", ".5", "null", "tru", " "];
        let mut rng = Rng::new(5);
        let mut good = 0;
        for _ in 0..200_000 {
            let text: String = (0..1 + rng.below(7)).map(|_| pieces[rng.below(pieces.len())]).collect();
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            let ours = Json::parse(&text);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{text}");
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                good += 1;
                assert_eq!(serde_json::from_str::<serde_json::Value>(&ours.to_string()).unwrap(), theirs, "{text}");
            }
        }
        assert!(good > 1000);
    }
}
