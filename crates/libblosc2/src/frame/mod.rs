//! What a super-chunk has of a frame: one that is stored, or the bytes that it was read from.

mod disk;
mod place;

pub(crate) use disk::Disk;
pub(crate) use place::{Place, plain_path};

use c_boundary::memory;

/// C programs have pointers to it, and know nothing of what is inside.
pub(crate) enum Frame {
    /// The chunks are in memory, and came from the bytes of a frame.
    Buffer(Buffer),
    /// The chunks are where the frame is.
    Disk(Box<Disk>),
}

/// The bytes of a frame that a program has given to a super-chunk.
pub(crate) struct Buffer {
    bytes: *mut u8,
    /// Whether the program frees them itself.
    pub(crate) is_lent: bool,
}

impl Buffer {
    pub(crate) fn new(bytes: *mut u8) -> Self {
        Self { bytes, is_lent: false }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !self.is_lent {
            // SAFETY: the program has taken it with `malloc`, and given it to the super-chunk.
            unsafe { memory::free(self.bytes) };
        }
    }
}
