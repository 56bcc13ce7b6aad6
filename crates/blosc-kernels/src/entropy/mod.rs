//! The entropy codes of Zstandard, which Lizard has too: Huffman codes of bytes, and FSE codes.
//!
//! Their bits are read from the end of a stream to its start ([`bits`]). An FSE code is given by
//! how often each symbol occurs ([`counts`]), a Huffman code by a weight for each byte
//! ([`weights`]), which may be FSE coded themselves.

pub(crate) mod bits;
pub(crate) mod counts;
pub(crate) mod huffman;
mod weights;

/// Why a code or its bits could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntropyError {
    /// What describes a code goes on behind the end.
    Ended {
        /// Length of what it should be in.
        input: usize,
    },
    /// The counts of an FSE code do not make a code.
    BadCounts,
    /// The weights of a Huffman code do not make a code.
    BadWeights,
    /// Bits do not end where their data does.
    BadBits,
    /// So many bytes cannot be four streams.
    BadLength {
        /// Length after decoding.
        decoded: usize,
        /// Length before.
        coded: usize,
    },
}
