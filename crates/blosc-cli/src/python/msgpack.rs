//! Msgpack values, as python-blosc2 writes them into metalayers.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use blosc_oxide::{Error, ErrorKind, Limits, Result};

/// Values may be this deep inside each other: reading is recursive.
const MAX_DEPTH: usize = 32;
/// How many values a list has room for from the first on.
const FIRST: usize = 4;
/// What python-blosc2 puts in front of the members of a tuple.
const TUPLE: &str = "__tuple__";

/// A value. Numbers with a fraction and extensions are read over: nothing here asks for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
    Other,
}

impl Value {
    /// Reads bytes that hold one value and nothing else.
    pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let mut reader = Reader { left: bytes, limits, taken: 0 };
        let value = reader.value(MAX_DEPTH)?;
        match reader.left.len() {
            0 => Ok(value),
            more => Err(corrupt(&format!("{more} bytes come after the value"))),
        }
    }

    /// The value of a key that is a text.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The members of a tuple of Python.
    pub(crate) fn as_tuple(&self) -> Option<&[Self]> {
        match self {
            Self::List(members) => members.split_first().filter(|(mark, _)| mark.as_text() == Some(TUPLE)),
            _ => None,
        }
        .map(|(_, members)| members)
    }
}

struct Reader<'a> {
    left: &'a [u8],
    limits: &'a Limits,
    /// How much memory the values have taken so far, or a little less than that.
    taken: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let there = self.left.len();
        let cut = || Error::new(ErrorKind::Truncated, format!("msgpack: {len} bytes are needed, {there} are left"));
        let (taken, left) = self.left.split_at_checked(len).ok_or_else(cut)?;
        self.left = left;
        Ok(taken)
    }

    /// Takes memory. A byte can stand for a hundred: lists of one value have room for four.
    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        self.limits.check("a msgpack value", self.taken)
    }

    /// A number of `width` bytes, the highest first.
    fn unsigned(&mut self, width: usize) -> Result<u64> {
        Ok(self.take(width)?.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn length(&mut self, width: usize) -> Result<usize> {
        Ok(usize::try_from(self.unsigned(width)?).unwrap_or(usize::MAX))
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        let depth = depth.checked_sub(1).ok_or_else(|| corrupt("values are too deep inside each other"))?;
        let [tag] = *self.take(1)? else { return Err(corrupt("no value")) };
        // While a list grows, there is a second one of half its length.
        self.charge(size_of::<[Value; 2]>())?;
        match tag {
            0x00..=0x7f => Ok(Value::Int(tag.into())),
            0x80..=0x8f => self.map(usize::from(tag & 0x0f), depth),
            0x90..=0x9f => self.list(usize::from(tag & 0x0f), depth),
            0xa0..=0xbf => self.text(usize::from(tag & 0x1f)),
            0xc0 => Ok(Value::Nil),
            0xc2 | 0xc3 => Ok(Value::Bool(tag == 0xc3)),
            0xe0..=0xff => Ok(Value::Int(i64::from(i8::from_le_bytes([tag])))),
            _ => self.long_value(tag, depth),
        }
    }

    /// A value whose length, or width, comes after its tag.
    fn long_value(&mut self, tag: u8, depth: usize) -> Result<Value> {
        match tag {
            0xc4..=0xc6 => {
                let len = self.length(width(tag, 0xc4))?;
                let bytes = self.take(len)?;
                self.charge(len)?;
                Ok(Value::Bytes(bytes.to_vec()))
            }
            0xc7..=0xc9 => {
                let len = self.length(width(tag, 0xc7))?;
                self.skip(len.saturating_add(1))
            }
            0xca | 0xcb => self.skip(width(tag, 0xc8)),
            0xcc..=0xcf => {
                self.unsigned(width(tag, 0xcc)).map(|number| i64::try_from(number).map_or(Value::Other, Value::Int))
            }
            0xd0..=0xd3 => self.signed(width(tag, 0xd0)),
            0xd4..=0xd8 => self.skip(width(tag, 0xd4).saturating_add(1)),
            0xd9..=0xdb => {
                let len = self.length(width(tag, 0xd9))?;
                self.text(len)
            }
            0xdc | 0xdd => {
                let len = self.length(width(tag, 0xdb))?;
                self.list(len, depth)
            }
            0xde | 0xdf => {
                let len = self.length(width(tag, 0xdd))?;
                self.map(len, depth)
            }
            _ => Err(corrupt(&format!("{tag:#04x} starts no value"))),
        }
    }

    fn skip(&mut self, len: usize) -> Result<Value> {
        self.take(len).map(|_| Value::Other)
    }

    fn signed(&mut self, width: usize) -> Result<Value> {
        let number = self.unsigned(width)?;
        let unused = 64_usize.saturating_sub(width.saturating_mul(8));
        Ok(Value::Int((number << unused).cast_signed() >> unused))
    }

    fn text(&mut self, len: usize) -> Result<Value> {
        let text = std::str::from_utf8(self.take(len)?).map_err(|_| corrupt("a text is no UTF-8"))?;
        self.charge(len)?;
        Ok(Value::Text(text.to_owned()))
    }

    fn list(&mut self, len: usize, depth: usize) -> Result<Value> {
        // Not allocated beforehand: the number is only what the file says.
        let mut members = Vec::new();
        self.charge(size_of::<[Value; FIRST]>())?;
        for _ in 0..len {
            members.push(self.value(depth)?);
        }
        Ok(Value::List(members))
    }

    fn map(&mut self, len: usize, depth: usize) -> Result<Value> {
        let mut members = Vec::new();
        self.charge(size_of::<[(Value, Value); FIRST]>())?;
        for _ in 0..len {
            members.push((self.value(depth)?, self.value(depth)?));
        }
        Ok(Value::Map(members))
    }
}

/// Tags in a row stand for 1, 2, 4, 8 and 16 bytes.
fn width(tag: u8, first: u8) -> usize {
    1 << usize::from(tag.saturating_sub(first)).min(4)
}

fn corrupt(message: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("msgpack: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Value> {
        Value::parse(bytes, &Limits::new())
    }

    #[test]
    fn values_of_every_width_are_read() {
        let cases: [(&[u8], Value); 13] = [
            (&[0x07], Value::Int(7)),
            (&[0xff], Value::Int(-1)),
            (&[0xcd, 1, 0], Value::Int(256)),
            (&[0xd0, 0xfe], Value::Int(-2)),
            (&[0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd], Value::Int(-3)),
            (&[0xcf, 0xff, 0, 0, 0, 0, 0, 0, 0], Value::Other),
            (&[0xcb, 0, 0, 0, 0, 0, 0, 0, 0], Value::Other),
            (&[0xca, 0, 0, 0, 0], Value::Other),
            (&[0xd5, 42, 1, 2], Value::Other),
            (&[0xc4, 2, 5, 6], Value::Bytes(vec![5, 6])),
            (&[0xd9, 1, b'x'], Value::Text("x".to_owned())),
            (&[0xdc, 0, 1, 0xc0], Value::List(vec![Value::Nil])),
            (&[0x81, 0xa1, b'k', 0xc3], Value::Map(vec![(Value::Text("k".to_owned()), Value::Bool(true))])),
        ];
        for (bytes, value) in cases {
            assert_eq!(parse(bytes).unwrap(), value, "{bytes:x?}");
            for len in 0..bytes.len() {
                assert!(parse(&bytes[..len]).is_err(), "{len} bytes of {bytes:x?}");
            }
        }
    }

    #[test]
    fn what_is_no_value_or_claims_too_much_is_refused() {
        for bytes in [&[0xc1_u8][..], &[0x01, 0x02], &[0xdd, 0xff, 0xff, 0xff, 0xff], &[0xa1, 0xff], &[0x91; 100]] {
            assert!(parse(bytes).is_err(), "{bytes:x?}");
        }
    }

    #[test]
    fn what_values_take_is_held_to_the_limit() {
        let limits = Limits::new().with_max_allocation(100_000);
        // A text, a long list, lists of one value inside each other, and maps.
        let text = [&[0xda, 0xff, 0xff][..], &[b'x'; 0xffff]].concat();
        let long = [&[0xdc, 0xff, 0xff][..], &[0; 0xffff]].concat();
        let nested = |open: u8, nil: &[u8]| {
            let one = [&[open].repeat(20)[..], nil].concat();
            [&[0xdc, 0, 100][..], &one.repeat(100)].concat()
        };
        let maps = [&[0xdc, 0, 200][..], &[0x81, 0xc0, 0x81, 0xc0, 0xc0].repeat(200)].concat();
        assert!(Value::parse(&text, &limits).is_ok() && parse(&maps).is_ok());
        for bytes in [[&[0x92][..], &text, &text].concat(), long, nested(0x91, &[0xc0]), maps] {
            assert!(parse(&bytes).is_ok());
            assert_eq!(Value::parse(&bytes, &limits).unwrap_err().kind(), ErrorKind::LimitExceeded);
        }
    }

    #[test]
    fn tuples_are_lists_with_a_mark() {
        let value = parse(b"\x93\xa9__tuple__\x01\x02").unwrap();
        assert_eq!(value.as_tuple(), Some(&[Value::Int(1), Value::Int(2)][..]));
        assert_eq!(parse(&[0x91, 0x01]).unwrap().as_tuple(), None);
    }
}
