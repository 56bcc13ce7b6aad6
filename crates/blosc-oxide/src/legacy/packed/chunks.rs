//! One chunk after the other.

use super::reader::PackedSuperChunk;
use crate::chunk::Decompressor;
use crate::error::Result;
use crate::storage::ReadAt;
use std::ops::Range;

/// The data of the chunks of a packed super-chunk, from [`PackedSuperChunk::chunks`].
///
/// ```
/// use blosc_oxide::legacy::{PackedOptions, PackedSuperChunk};
/// let bytes = PackedOptions::new(1).pack([b"one", b"two"])?;
/// let packed = PackedSuperChunk::open_in(&bytes[..])?;
/// let buffers = packed.chunks().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(buffers, [b"one", b"two"]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct PackedChunks<'a, R> {
    packed: &'a PackedSuperChunk<R>,
    indices: Range<usize>,
    /// Keeps its memory from one chunk to the next.
    decompressor: Decompressor,
}

impl<R: ReadAt> PackedSuperChunk<R> {
    /// The data of one chunk after the other.
    #[must_use]
    pub fn chunks(&self) -> PackedChunks<'_, R> {
        PackedChunks::new(self)
    }
}

impl<'a, R: ReadAt> PackedChunks<'a, R> {
    fn new(packed: &'a PackedSuperChunk<R>) -> Self {
        Self { packed, indices: 0..packed.nchunks(), decompressor: packed.decompressor() }
    }
}

impl<R: ReadAt> Iterator for PackedChunks<'_, R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.indices.next()?;
        Some(self.packed.decompress_with(&mut self.decompressor, index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl<R: ReadAt> ExactSizeIterator for PackedChunks<'_, R> {}
