//! Why a stream could not be decoded.

use crate::entropy::EntropyError;
use core::fmt;

/// Why a Lizard stream could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LizardError {
    /// The stream or one of its sub-streams ended before what it has to hold.
    InputEnded {
        /// Length of the stream or sub-stream.
        input: usize,
    },
    /// There is more data than the output has space for.
    OutputFull {
        /// Bytes written before what does not fit.
        written: usize,
        /// Length of the output.
        room: usize,
    },
    /// The first byte of the stream is no compression level.
    BadLevel {
        /// That byte.
        level: u8,
    },
    /// The first byte of a block has bits that are not in use.
    BadBlock {
        /// That byte.
        flags: u8,
    },
    /// A block or the whole stream has no data.
    EmptyBlock,
    /// A match refers to bytes before the start of the output, or to less than 8 bytes back.
    BadOffset {
        /// Offset of the match.
        offset: usize,
        /// Bytes that could have been referred to.
        available: usize,
    },
    /// A token without literals and without a match.
    IdleToken,
    /// A Huffman-coded sub-stream has a length that it cannot have.
    BadLength {
        /// Its length after decoding.
        decoded: usize,
        /// Its length in the stream.
        coded: usize,
    },
    /// The weights of a Huffman code do not make a code.
    BadWeights,
    /// A Huffman-coded sub-stream does not end where its data does.
    BadBits,
}

impl fmt::Display for LizardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InputEnded { input } => write!(f, "what should be in {input} bytes goes on behind them"),
            Self::OutputFull { written, room } => {
                write!(f, "what follows {written} bytes runs over the {room} bytes of output")
            }
            Self::BadLevel { level } => write!(f, "the level is {level}, those from 10 to 49 are known"),
            Self::BadBlock { flags } => write!(f, "the flags of a block are {flags:#04x}, which has unknown bits"),
            Self::EmptyBlock => f.write_str("a block has no data"),
            Self::BadOffset { offset, available } => {
                write!(f, "a match goes back {offset} bytes, it can be from 8 to {available}")
            }
            Self::IdleToken => f.write_str("a token has neither literals nor a match"),
            Self::BadLength { decoded, coded } => {
                write!(f, "a Huffman-coded part of {coded} bytes cannot stand for {decoded} bytes")
            }
            Self::BadWeights => f.write_str("the weights of a Huffman code are wrong"),
            Self::BadBits => f.write_str("the bits of a Huffman-coded part do not end where its data does"),
        }
    }
}

impl core::error::Error for LizardError {}

impl From<EntropyError> for LizardError {
    fn from(error: EntropyError) -> Self {
        match error {
            EntropyError::Ended { input } => Self::InputEnded { input },
            EntropyError::BadCounts | EntropyError::BadWeights => Self::BadWeights,
            EntropyError::BadBits => Self::BadBits,
            EntropyError::BadLength { decoded, coded } => Self::BadLength { decoded, coded },
        }
    }
}
