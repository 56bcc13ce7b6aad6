//! How a buffer is divided into blocks and streams, and how sizes are stored.

use crate::bytes::put_le_i32;

/// The length of a size or an offset.
pub(in crate::chunk) const SIZE_LEN: usize = 4;

/// How a buffer is divided into blocks and streams.
#[derive(Debug, Clone, Copy)]
pub(in crate::chunk) struct Layout {
    pub(in crate::chunk) nbytes: usize,
    /// As the header stores it.
    pub(in crate::chunk) typesize: usize,
    pub(in crate::chunk) blocksize: usize,
    pub(in crate::chunk) nblocks: usize,
    pub(in crate::chunk) split: bool,
    pub(in crate::chunk) header_len: usize,
    pub(in crate::chunk) min_buffer: usize,
    /// Whether streams of one repeated byte have a short form.
    pub(in crate::chunk) has_runs: bool,
}

impl Layout {
    pub(in crate::chunk) fn nstreams(&self, block_len: usize) -> usize {
        if self.split && block_len == self.blocksize { self.typesize } else { 1 }
    }

    /// The most bytes that a block can take.
    pub(in crate::chunk) fn slot_len(&self) -> usize {
        self.blocksize + SIZE_LEN * self.nstreams(self.blocksize)
    }
}

/// The typesize as a header can store it.
pub(in crate::chunk) fn stored_typesize(typesize: usize) -> usize {
    u8::try_from(typesize).map_or(1, usize::from)
}

/// A size that has been checked against what a chunk can hold, as it is stored.
pub(in crate::chunk) fn stored(size: usize) -> i32 {
    i32::try_from(size).expect("sizes are checked against what a chunk can hold")
}

/// Writes a size or an offset at `at`, where there must be space for it.
pub(in crate::chunk) fn put_size(at: usize, size: usize, out: &mut [u8]) {
    let has_room = put_le_i32(out, at, stored(size));
    debug_assert!(has_room, "no room for a size at {at}");
}
