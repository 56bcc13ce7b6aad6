//! What a super-chunk has of a frame that C programs have given it.

use c_boundary::memory;

/// C programs have pointers to it, and know nothing of what is inside.
pub(crate) struct Frame {
    /// The buffer that the frame was read from, which belongs to the super-chunk.
    buffer: *mut u8,
    /// Whether the program frees it itself.
    pub(crate) is_lent: bool,
}

impl Frame {
    pub(crate) fn of_buffer(buffer: *mut u8) -> Self {
        Self { buffer, is_lent: false }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if !self.is_lent {
            // SAFETY: the program has taken it with `malloc`, and given it to the super-chunk.
            unsafe { memory::free(self.buffer) };
        }
    }
}
