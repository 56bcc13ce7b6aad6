//! Dictionaries.

use super::ZstdError;
use super::codes::{Codes, Field};
use super::literals::MAX_WEIGHT;
use crate::entropy::huffman::Table;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

const MAGIC: u32 = 0xEC30_A437;
/// Magic number and number of the dictionary.
const HEADER_LEN: usize = 8;

/// A dictionary made ready for decompression: bytes that matches may refer to, as if they stood
/// before the output. One in the format of Zstandard also has the codes that the first block of a
/// frame may use.
#[derive(Clone)]
pub struct Dictionary {
    /// All its bytes: matches can refer to those of the codes, too.
    pub(super) content: Vec<u8>,
    pub(super) entropy: Option<Box<Entropy>>,
}

/// What a dictionary has besides its content.
#[derive(Clone)]
pub(super) struct Entropy {
    pub(super) id: u32,
    pub(super) huffman: Table,
    pub(super) codes: Codes,
    /// The offsets that come first.
    pub(super) offsets: [u32; 3],
}

impl Dictionary {
    /// One in the format of Zstandard, if `bytes` start with its magic number, or else one that is
    /// content alone.
    ///
    /// # Errors
    /// When it is in that format and damaged.
    pub fn new(bytes: &[u8]) -> Result<Self, ZstdError> {
        let is_formatted = bytes.len() >= HEADER_LEN && bytes.starts_with(&MAGIC.to_le_bytes());
        let entropy = if is_formatted { Some(Entropy::parse(bytes).ok_or(ZstdError::BadDictionary)?) } else { None };
        Ok(Self { content: bytes.to_vec(), entropy })
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.entropy.as_ref().map(|entropy| entropy.id);
        f.debug_struct("Dictionary").field("id", &id).field("content", &self.content.len()).finish_non_exhaustive()
    }
}

impl Entropy {
    fn parse(bytes: &[u8]) -> Option<Box<Self>> {
        let (header, mut rest) = bytes.split_first_chunk::<HEADER_LEN>()?;
        let id = u32::from_le_bytes(*header.last_chunk()?);
        let mut entropy = Box::new(Self { id, huffman: Table::new(), codes: Codes::new(), offsets: [0; 3] });
        let Self { huffman, codes, offsets, .. } = &mut *entropy;
        rest = rest.get(huffman.read(rest, MAX_WEIGHT).ok()?..)?;
        rest = rest.get(codes.offsets.read(Field::Offset, rest).ok()?..)?;
        rest = rest.get(codes.matches.read(Field::Match, rest).ok()?..)?;
        rest = rest.get(codes.literals.read(Field::Literals, rest).ok()?..)?;
        let (first, content) = rest.split_at_checked(4 * offsets.len())?;
        for (offset, &bytes) in offsets.iter_mut().zip(first.as_chunks().0) {
            *offset = u32::from_le_bytes(bytes);
            if *offset == 0 || *offset as usize > content.len() {
                return None;
            }
        }
        Some(entropy)
    }
}
