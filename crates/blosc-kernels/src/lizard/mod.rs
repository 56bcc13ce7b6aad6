//! The decoder of Lizard 1.0 streams, which Blosc2 wrote from 2017 to 2020.
//!
//! A stream is a byte that names the compression level, followed by inner blocks of up to 128 KiB
//! of data each. The tens digit of the level tells which of two kinds of codewords the blocks have:
//! those of LZ4 (`lz4`) or LIZv1 (`lizv1`). A block keeps tokens, literals and offsets apart, each
//! in a sub-stream of its own that may be Huffman coded (`block`, `substream`); the Huffman code is
//! that of the literals of Zstandard (`crate::entropy`).

mod block;
mod error;
mod fields;
mod lizv1;
mod lz4;
mod output;
mod substream;

use core::fmt;

use alloc::vec::Vec;

use crate::entropy::huffman::Table;
use crate::lz::vectors::{Job, Vectors, dispatch};
use block::Block;
pub use error::LizardError;
use fields::Fields;
use output::Output;

/// The tables and the scratch memory of a decoder, which are used again.
///
/// The scratch memory holds the Huffman-coded sub-streams of a block once they are decoded: up to
/// four times 128 KiB, allocated when a block needs it.
#[derive(Clone)]
pub struct Decoder {
    table: Table,
    scratch: Vec<u8>,
}

impl Decoder {
    /// One with empty tables and without scratch memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { table: Table::new(), scratch: Vec::new() }
    }

    /// Decodes the Lizard stream `src` to the start of `dst`, and returns how many bytes it made,
    /// at least one.
    ///
    /// The result is less than `dst.len()` when the stream ends early; callers that need an exact
    /// length compare. Bytes of `dst` behind it may have been overwritten.
    ///
    /// # Errors
    /// When the stream is cut off or damaged, needs more space than `dst` has, or has a form that
    /// no writer makes and that decoders do not agree on, such as offsets below 8.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, LizardError> {
        dispatch(Stream { decoder: self, src, dst })
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("scratch", &self.scratch.len()).finish_non_exhaustive()
    }
}

/// What the tokens of a stream's blocks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codewords {
    Lz4,
    LizV1,
}

impl Codewords {
    fn of_level(level: u8) -> Result<Self, LizardError> {
        match level {
            10..=19 | 30..=39 => Ok(Self::Lz4),
            20..=29 | 40..=49 => Ok(Self::LizV1),
            _ => Err(LizardError::BadLevel { level }),
        }
    }
}

struct Stream<'a> {
    decoder: &'a mut Decoder,
    src: &'a [u8],
    dst: &'a mut [u8],
}

impl Job for Stream<'_> {
    type Output = Result<usize, LizardError>;

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) -> Self::Output {
        let mut fields = Fields::new(self.src);
        let codewords = Codewords::of_level(fields.u8()?)?;
        let mut output = Output::new(self.dst);
        while !fields.is_empty() {
            match Block::parse(&mut fields)? {
                Block::Raw(bytes) => output.literals(vectors, &mut Fields::new(bytes), bytes.len())?,
                Block::Coded(parts) => {
                    let before = output.written();
                    let parts = parts.decode(vectors, self.decoder)?;
                    match codewords {
                        Codewords::Lz4 => lz4::decode(vectors, parts, &mut output)?,
                        Codewords::LizV1 => lizv1::decode(vectors, parts, &mut output)?,
                    }
                    if output.written() == before {
                        return Err(LizardError::EmptyBlock);
                    }
                }
            }
        }
        if output.written() == 0 { Err(LizardError::EmptyBlock) } else { Ok(output.written()) }
    }
}

#[cfg(test)]
mod tests;
