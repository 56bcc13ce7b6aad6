//! The decoder of deflate streams, for input and output that are in memory as a whole.
//!
//! Knowing both ends from the start is what makes it fast: there is no state to leave and enter
//! again, bits are taken from whole words, and matches are copied with the registers of the LZ
//! codecs.

mod bits;
mod code;
mod header;
mod symbols;

use core::fmt;

use crate::lz::vectors::{Job, Vectors, dispatch};
use bits::Bits;
use code::{Code, DISTANCE_BITS, DISTANCE_ENTRIES, LENGTHS_BITS, LENGTHS_ENTRIES, LITERAL_BITS, LITERAL_ENTRIES};
use symbols::{Codes, Output};

/// The tables of a decoder, which are used again.
#[derive(Clone)]
pub struct Inflater {
    literals: Code<LITERAL_BITS, LITERAL_ENTRIES>,
    distances: Code<DISTANCE_BITS, DISTANCE_ENTRIES>,
    lengths: Code<LENGTHS_BITS, LENGTHS_ENTRIES>,
    /// Whether the tables are those of a block with fixed codes.
    is_fixed: bool,
}

/// How much was read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inflated {
    /// Bytes of the stream.
    pub read: usize,
    /// Bytes of the output.
    pub written: usize,
}

impl Inflater {
    /// One with empty tables.
    #[must_use]
    pub const fn new() -> Self {
        Self { literals: Code::new(), distances: Code::new(), lengths: Code::new(), is_fixed: false }
    }

    /// Decodes the deflate stream that `src` starts with to the start of `dst`.
    ///
    /// Bytes of `dst` behind what it made may have been overwritten.
    ///
    /// # Errors
    /// When the stream is cut off, is no deflate stream, needs more space than `dst` has, or has a
    /// match that goes back too far.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<Inflated, InflateError> {
        dispatch(Stream { inflater: self, bits: Bits::new(src), output: Output::new(dst) })
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater").finish_non_exhaustive()
    }
}

/// What the two bits of a block's kind say.
const STORED: u32 = 0;
const FIXED: u32 = 1;
const DYNAMIC: u32 = 2;

struct Stream<'a> {
    inflater: &'a mut Inflater,
    bits: Bits<'a>,
    output: Output<'a>,
}

impl Job for Stream<'_> {
    type Output = Result<Inflated, InflateError>;

    #[inline(always)]
    fn run<V: Vectors>(mut self, vectors: V) -> Self::Output {
        loop {
            self.bits.refill();
            let is_last = self.bits.take(1) == 1;
            match self.bits.take(2) {
                STORED => self.output.stored(self.bits.stored()?)?,
                FIXED => {
                    self.inflater.read_fixed();
                    self.symbols(vectors)?;
                }
                DYNAMIC => {
                    self.inflater.read_dynamic(&mut self.bits)?;
                    self.symbols(vectors)?;
                }
                _ => return Err(InflateError::BadBlock),
            }
            let read = self.bits.position()?;
            if is_last {
                return Ok(Inflated { read, written: self.output.written });
            }
        }
    }
}

impl Stream<'_> {
    #[inline(always)]
    fn symbols<V: Vectors>(&mut self, vectors: V) -> Result<(), InflateError> {
        let Inflater { literals, distances, .. } = &*self.inflater;
        self.output.symbols(vectors, &mut self.bits, Codes { literals, distances })
    }
}

/// Why a deflate stream could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InflateError {
    /// The stream ended before its last block did.
    InputEnded {
        /// Length of the stream.
        input: usize,
    },
    /// There is more data than the output has space for.
    OutputFull {
        /// Bytes written before what does not fit.
        written: usize,
        /// Length of the output.
        room: usize,
    },
    /// A match refers to bytes before the start of the output.
    DistanceTooFar {
        /// Distance of the match.
        distance: usize,
        /// Bytes that could have been referred to.
        available: usize,
    },
    /// A block of a kind that there is not, or of a length that is told in two ways.
    BadBlock,
    /// The lengths of a block's codes do not make a code.
    BadLengths,
    /// Bits that stand for nothing.
    BadSymbol,
}

impl fmt::Display for InflateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InputEnded { input } => write!(f, "the stream of {input} bytes ends inside a block"),
            Self::OutputFull { written, room } => {
                write!(f, "what follows {written} bytes runs over the {room} bytes of output")
            }
            Self::DistanceTooFar { distance, available } => {
                write!(f, "a match goes back {distance} bytes where only {available} are there")
            }
            Self::BadBlock => f.write_str("the header of a block is wrong"),
            Self::BadLengths => f.write_str("the lengths of the codes of a block are wrong"),
            Self::BadSymbol => f.write_str("a code of a block stands for nothing"),
        }
    }
}

impl core::error::Error for InflateError {}

#[cfg(test)]
mod tests;
