//! What the LZ codecs share: the error of a bad stream, match copies, match comparison and hashing.

pub(crate) mod copy;
#[cfg(test)]
pub(crate) mod decoding;
pub(crate) mod hint;
pub(crate) mod length;
pub(crate) mod literals;
pub(crate) mod matching;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod vectors;
pub(crate) mod window;

use core::fmt;

/// Why an LZ stream could not be decoded. Positions count bytes from the start of the stream or of
/// the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LzError {
    /// The stream ended in the middle of a sequence.
    InputEnded {
        /// Length of the stream.
        input: usize,
    },
    /// A sequence produces more bytes than the output has space for.
    OutputFull {
        /// Bytes written before the sequence.
        written: usize,
        /// Length of the output.
        room: usize,
    },
    /// A match refers to bytes before the start of the output and the dictionary.
    DistanceTooFar {
        /// Distance of the match.
        distance: usize,
        /// Bytes that could have been referred to.
        available: usize,
    },
    /// The stream is over but the last sequence is not one a stream may end with.
    BadEnd {
        /// Bytes of the stream that were read.
        read: usize,
    },
}

impl fmt::Display for LzError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InputEnded { input } => write!(f, "the stream of {input} bytes ends inside a sequence"),
            Self::OutputFull { written, room } => {
                write!(f, "a sequence after {written} bytes runs over the {room} bytes of output")
            }
            Self::DistanceTooFar { distance, available } => {
                write!(f, "a match goes back {distance} bytes where only {available} are there")
            }
            Self::BadEnd { read } => write!(f, "the stream ends wrongly after {read} bytes"),
        }
    }
}

impl core::error::Error for LzError {}
