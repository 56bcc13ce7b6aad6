//! Why a stream could not be decoded.

use crate::entropy::EntropyError;
use core::fmt;

/// Why a Zstandard stream could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZstdError {
    /// The stream or a part of it ended before what it has to hold.
    InputEnded {
        /// Length of the stream or part.
        input: usize,
    },
    /// There is more data than the output has space for.
    OutputFull {
        /// Bytes written before what does not fit.
        written: usize,
        /// Length of the output.
        room: usize,
    },
    /// A frame does not start as one.
    BadMagic {
        /// Its first four bytes, little-endian.
        magic: u32,
    },
    /// The header of a frame has a bit that is not in use, or a window of 4 GiB or more.
    BadHeader,
    /// The frame was made with another dictionary than the one that is there, or with one where
    /// there is none.
    OtherDictionary {
        /// Number of the dictionary that the frame was made with.
        id: u32,
    },
    /// A dictionary in the format of Zstandard is damaged.
    BadDictionary,
    /// A block of a kind that there is not, or of a length that it cannot have.
    BadBlock,
    /// Literals with a length that they cannot have.
    BadLiterals,
    /// The header of the sequences of a block is wrong.
    BadSequences,
    /// A code is used again where there was none before.
    NoCode,
    /// The counts of an FSE code do not make a code.
    BadCounts,
    /// The weights of a Huffman code do not make a code.
    BadWeights,
    /// Bits do not end where their data does.
    BadBits,
    /// A match refers to bytes before the start of the output and the dictionary, or to none.
    BadOffset {
        /// Offset of the match.
        offset: usize,
        /// Bytes that could have been referred to.
        available: usize,
    },
    /// The frame has more or fewer bytes than its header says.
    BadLength {
        /// Bytes that it makes.
        written: usize,
        /// Bytes that it says it has.
        expected: u64,
    },
    /// The checksum of the frame is another one.
    BadChecksum {
        /// That of the bytes.
        found: u32,
        /// That of the frame.
        stored: u32,
    },
}

impl fmt::Display for ZstdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InputEnded { input } => write!(f, "what should be in {input} bytes goes on behind them"),
            Self::OutputFull { written, room } => {
                write!(f, "what follows {written} bytes runs over the {room} bytes of output")
            }
            Self::BadMagic { magic } => write!(f, "no frame starts with the number {magic:#010x}"),
            Self::BadHeader => f.write_str("the header of a frame is wrong"),
            Self::OtherDictionary { id } => {
                write!(f, "the frame was made with the dictionary {id}, which is not there")
            }
            Self::BadDictionary => f.write_str("the dictionary is damaged"),
            Self::BadBlock => f.write_str("the header of a block is wrong"),
            Self::BadLiterals => f.write_str("the lengths of the literals of a block are wrong"),
            Self::BadSequences => f.write_str("the header of the sequences of a block is wrong"),
            Self::NoCode => f.write_str("a block uses the code of a block before it that has none"),
            Self::BadCounts => f.write_str("the counts of an FSE code are wrong"),
            Self::BadWeights => f.write_str("the weights of a Huffman code are wrong"),
            Self::BadBits => f.write_str("the bits of a block do not end where its data do"),
            Self::BadOffset { offset, available } => {
                write!(f, "a match goes back {offset} bytes, it can be from 1 to {available}")
            }
            Self::BadLength { written, expected } => {
                write!(f, "the frame has {written} bytes, not {expected} as its header says")
            }
            Self::BadChecksum { found, stored } => {
                write!(f, "the checksum is {found:08x}, {stored:08x} is stored")
            }
        }
    }
}

impl core::error::Error for ZstdError {}

impl From<EntropyError> for ZstdError {
    fn from(error: EntropyError) -> Self {
        match error {
            EntropyError::Ended { input } => Self::InputEnded { input },
            EntropyError::BadCounts => Self::BadCounts,
            EntropyError::BadWeights => Self::BadWeights,
            EntropyError::BadBits => Self::BadBits,
            EntropyError::BadLength { .. } => Self::BadLiterals,
        }
    }
}
