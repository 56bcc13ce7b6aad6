//! A chunk decoded without a decompressor of the caller's.

use super::decode::Decompressor;
use super::view::Chunk;
use crate::error::Result;
use std::ops::Range;

impl Chunk<'_> {
    /// All of the data. A [`Decompressor`] does the same, in parallel and with memory that it
    /// keeps.
    ///
    /// # Errors
    /// `Corrupt` if the chunk is damaged, `Unsupported` if it needs a codec or filter that is not
    /// there, `LimitExceeded` if it holds more than the default [`Limits`](crate::Limits).
    pub fn decompress(&self) -> Result<Vec<u8>> {
        Decompressor::new().chunk(self)
    }

    /// The data of this range of bytes, decoding only the blocks that have any of it.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `InvalidArgument` if the range is not inside the data.
    pub fn bytes(&self, range: Range<usize>) -> Result<Vec<u8>> {
        Decompressor::new().bytes(self, range)
    }

    /// The data of this range of items, decoding only the blocks that have any of it. Items are of
    /// the header's typesize, which is 1 for those of more than 255 bytes.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn items(&self, range: Range<usize>) -> Result<Vec<u8>> {
        Decompressor::new().items(self, range)
    }

    /// The data of one block.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `InvalidArgument` if there is no such block.
    pub fn block(&self, index: usize) -> Result<Vec<u8>> {
        Decompressor::new().block(self, index)
    }
}
