//! Python literals, as NumPy uses them to describe its types: strings, whole numbers, truth values,
//! lists, tuples, dicts.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail, error};
use std::fmt::{self, Write as _};

/// Values may be this deep inside each other: reading is recursive.
const MAX_DEPTH: usize = 64;

/// A Python value. Its `Display` is what Python's `repr` gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    None,
    Bool(bool),
    Int(i64),
    Str(String),
    List(Vec<Self>),
    Tuple(Vec<Self>),
    Dict(Vec<(Self, Self)>),
}

impl Literal {
    /// Reads a text that holds one value and nothing else.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(MAX_DEPTH)?;
        match parser.peek() {
            None => Ok(value),
            Some(found) => bail!(Corrupt, "literal: {found:?} at {} comes after the value", parser.at),
        }
    }

    /// The value of a key that is a string.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dict(members) => members.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Str(text) => write_string(f, text),
            Self::List(values) => {
                f.write_char('[')?;
                separated(f, values)?;
                f.write_char(']')
            }
            Self::Tuple(values) => {
                f.write_char('(')?;
                separated(f, values)?;
                f.write_str(if values.len() == 1 { ",)" } else { ")" })
            }
            Self::Dict(members) => {
                f.write_char('{')?;
                members.iter().try_for_each(|(name, value)| write!(f, "{name}: {value}, "))?;
                f.write_char('}')
            }
        }
    }
}

fn separated(f: &mut fmt::Formatter<'_>, values: &[Literal]) -> fmt::Result {
    let mut values = values.iter();
    if let Some(first) = values.next() {
        write!(f, "{first}")?;
    }
    values.try_for_each(|value| write!(f, ", {value}"))
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote => write!(f, "\\{c}")?,
            '\0'..='\x1f' | '\x7f' => write!(f, "\\x{:02x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
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

    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_ascii_start();
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

    fn value(&mut self, depth: usize) -> Result<Literal> {
        let Some(depth) = depth.checked_sub(1) else {
            bail!(LimitExceeded, "literal: more than {MAX_DEPTH} values inside each other at {}", self.at);
        };
        match self.peek() {
            Some('(') => self.tuple(depth),
            Some('[') => Ok(Literal::List(self.values("[", "]", depth)?.0)),
            Some('{') => self.dict(depth),
            Some('\'' | '"') => self.string(),
            Some('-' | '0'..='9') => self.int(),
            // Python 2 marked what was not ASCII.
            _ if self.rest().starts_with("u'") || self.rest().starts_with("u\"") => {
                self.advance(1);
                self.string()
            }
            _ if self.take("None") => Ok(Literal::None),
            _ if self.take("True") => Ok(Literal::Bool(true)),
            _ if self.take("False") => Ok(Literal::Bool(false)),
            Some(found) => bail!(Corrupt, "literal: {found:?} at {} starts no value", self.at),
            None => bail!(Corrupt, "literal: the text ends at {} where a value belongs", self.at),
        }
    }

    /// A tuple, or a value that is in parentheses for no reason.
    fn tuple(&mut self, depth: usize) -> Result<Literal> {
        let (mut values, ends_with_comma) = self.values("(", ")", depth)?;
        if values.len() == 1 && !ends_with_comma {
            return Ok(values.remove(0));
        }
        Ok(Literal::Tuple(values))
    }

    /// Values between brackets, and whether a comma follows the last.
    fn values(&mut self, open: &str, close: &str, depth: usize) -> Result<(Vec<Literal>, bool)> {
        self.take(open);
        let mut values = Vec::new();
        loop {
            if self.take(close) {
                return Ok((values, true));
            }
            values.push(self.value(depth)?);
            if !self.take(",") {
                self.close(close)?;
                return Ok((values, false));
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Literal> {
        self.take("{");
        let mut members = Vec::new();
        loop {
            if self.take("}") {
                return Ok(Literal::Dict(members));
            }
            let name = self.value(depth)?;
            self.close(":")?;
            members.push((name, self.value(depth)?));
            if !self.take(",") {
                self.close("}")?;
                return Ok(Literal::Dict(members));
            }
        }
    }

    fn close(&mut self, token: &str) -> Result<()> {
        if !self.take(token) {
            bail!(Corrupt, "literal: {token:?} is missing at {}", self.at);
        }
        Ok(())
    }

    fn int(&mut self) -> Result<Literal> {
        let rest = self.rest();
        let text = rest.split(|c: char| !c.is_ascii_digit() && c != '-').next().unwrap_or_default();
        let value = text.parse().map_err(|_| error!(Corrupt, "literal: {text:?} at {} is no number", self.at))?;
        self.advance(text.len());
        // Python 2 wrote long numbers with an L.
        if self.rest().starts_with('L') {
            self.advance(1);
        }
        Ok(Literal::Int(value))
    }

    fn string(&mut self) -> Result<Literal> {
        let start = self.at;
        let unfinished = || error!(Corrupt, "literal: the string at {start} does not end");
        let quote = self.rest().chars().next().ok_or_else(unfinished)?;
        self.advance(1);
        let mut value = String::new();
        loop {
            let c = self.next_char().ok_or_else(unfinished)?;
            match c {
                '\\' => value.push(self.escape()?),
                c if c == quote => return Ok(Literal::Str(value)),
                c => value.push(c),
            }
        }
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.advance(c.len_utf8());
        Some(c)
    }

    fn escape(&mut self) -> Result<char> {
        let at = self.at;
        let bad = || error!(Corrupt, "literal: the escape before {at} is not known");
        Ok(match self.next_char().ok_or_else(bad)? {
            c @ ('\\' | '\'' | '"') => c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'x' => self.code_point(2).ok_or_else(bad)?,
            'u' => self.code_point(4).ok_or_else(bad)?,
            'U' => self.code_point(8).ok_or_else(bad)?,
            _ => return Err(bad()),
        })
    }

    fn code_point(&mut self, digits: usize) -> Option<char> {
        let text = self.rest().get(..digits)?;
        self.advance(digits);
        u32::from_str_radix(text, 16).ok().and_then(char::from_u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_types_come_back() {
        for text in [
            "'<f8'",
            "[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]",
            "[('p', [('x', '<f4'), ('y', '<f4')]), ('id', '<u8', (2,))]",
            "[(('title', 'name'), '<i4'), (\"it's\", '|b1')]",
            "()",
            "(-3,)",
            "[None, True, False, (1, 2)]",
            "'\\n\\\\ \\x01 \u{e9}'",
        ] {
            assert_eq!(Literal::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_header_of_an_npy_file_is_read() {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
        let header = Literal::parse(text).unwrap();
        assert_eq!(header.get("descr").and_then(Literal::as_str), Some("<f8"));
        assert_eq!(header.get("shape").unwrap().to_string(), "(3, 4)");
        assert_eq!(header.to_string(), text);
    }

    #[test]
    fn other_ways_to_write_the_same_are_read() {
        assert_eq!(Literal::parse(" ( u'a' , 5L , ) ").unwrap().to_string(), "('a', 5)");
        assert_eq!(Literal::parse("(5)").unwrap(), Literal::Int(5));
        assert_eq!(Literal::parse("\"\\u00e9\"").unwrap(), Literal::Str("\u{e9}".to_owned()));
    }

    #[test]
    fn what_is_no_literal_is_refused_with_its_place() {
        let message = |text: &str| Literal::parse(text).unwrap_err().to_string();
        assert_eq!(message("[1"), "literal: \"]\" is missing at 2");
        assert_eq!(message("'abc"), "literal: the string at 0 does not end");
        assert_eq!(message("open('x')"), "literal: 'o' at 0 starts no value");
        assert_eq!(message("1 2"), "literal: '2' at 2 comes after the value");
        assert_eq!(message("99999999999999999999"), "literal: \"99999999999999999999\" at 0 is no number");
        assert!(Literal::parse(&"(".repeat(100_000)).is_err());
    }
}
