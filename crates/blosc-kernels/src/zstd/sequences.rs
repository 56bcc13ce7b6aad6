//! The header of the sequences of a block.

use super::ZstdError;
use super::codes::{Code, Codes, Field};

/// How many sequences a block has, and where their number ends. They start at `at` of a block that
/// ends with `src`.
pub(super) fn count(src: &[u8], at: usize) -> Result<(usize, usize), ZstdError> {
    let ended = ZstdError::InputEnded { input: src.len() };
    let (count, len) = match *src.get(at..).ok_or(ended)? {
        [first @ ..128, ..] => (usize::from(first), 1),
        [255, low, high, ..] => (usize::from(u16::from_le_bytes([low, high])) + 0x7f00, 3),
        [first @ 128..=254, second, ..] => (usize::from(first - 128) << 8 | usize::from(second), 2),
        _ => return Err(ended),
    };
    Ok((count, at + len))
}

/// Where the tables of the codes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// There is no code yet.
    Nowhere,
    /// In the decoder.
    Own,
    /// In the dictionary.
    Dictionary,
}

impl Place {
    /// The one of two tables that is meant.
    pub(super) fn pick<'a, T>(self, own: &'a T, dict: Option<&'a T>) -> Result<&'a T, ZstdError> {
        match self {
            Self::Own => Ok(own),
            Self::Dictionary => dict.ok_or(ZstdError::NoCode),
            Self::Nowhere => Err(ZstdError::NoCode),
        }
    }
}

/// Where the tables of the three codes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) literals: Place,
    pub(super) offsets: Place,
    pub(super) matches: Place,
}

impl Places {
    pub(super) fn all(place: Place) -> Self {
        Self { literals: place, offsets: place, matches: place }
    }

    /// Makes the codes whose descriptions are at `at` of a block that ends with `src`, and returns
    /// where their bits start.
    pub(super) fn read(&mut self, codes: &mut Codes, src: &[u8], at: usize) -> Result<usize, ZstdError> {
        let &modes = src.get(at).ok_or(ZstdError::InputEnded { input: src.len() })?;
        if modes & 3 != 0 {
            return Err(ZstdError::BadSequences);
        }
        let mut at = at + 1;
        at = self.literals.read(modes >> 6, &mut codes.literals, Field::Literals, src, at)?;
        at = self.offsets.read(modes >> 4, &mut codes.offsets, Field::Offset, src, at)?;
        self.matches.read(modes >> 2, &mut codes.matches, Field::Match, src, at)
    }
}

impl Place {
    fn read(&mut self, mode: u8, code: &mut Code, field: Field, src: &[u8], at: usize) -> Result<usize, ZstdError> {
        let len = match mode & 3 {
            0 => {
                code.make_default(field);
                0
            }
            1 => code.read_single(field, &src[at..])?,
            2 => code.read(field, &src[at..])?,
            _ if *self == Self::Nowhere => return Err(ZstdError::NoCode),
            _ => return Ok(at),
        };
        *self = Self::Own;
        Ok(at + len)
    }
}
