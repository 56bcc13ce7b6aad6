//! Memory that HDF5 frees.

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

/// Memory of the C library, for what a filter hands to HDF5.
pub struct Buffer {
    memory: NonNull<u8>,
    len: usize,
}

impl Buffer {
    /// So many zeros.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn zeros(len: usize) -> crate::Result<Self> {
        // SAFETY: takes two numbers. There is always a byte, since NULL would mean that there is no
        // memory.
        let memory = unsafe { libc::calloc(len.max(1), 1) };
        match NonNull::new(memory.cast()) {
            Some(memory) if isize::try_from(len).is_ok() => Ok(Self { memory, len }),
            _ => Err(format!("there is no memory for {len} bytes")),
        }
    }

    /// A copy of `bytes`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn copy_of(bytes: &[u8]) -> crate::Result<Self> {
        let mut buffer = Self::zeros(bytes.len())?;
        buffer.copy_from_slice(bytes);
        Ok(buffer)
    }

    /// Forgets what is behind the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Hands the memory over to whoever frees it.
    pub(crate) fn into_raw(self) -> *mut c_void {
        let memory = self.memory;
        std::mem::forget(self);
        memory.as_ptr().cast()
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `calloc` has given at least `len` bytes, and set them.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: `calloc` has given at least `len` bytes, and set them; nobody else has them.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it came from `calloc`, and has not been handed over.
        unsafe { libc::free(self.memory.as_ptr().cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn buffers_hold_what_is_put_into_them() {
        let mut buffer = Buffer::copy_of(b"abc").unwrap();
        buffer[0] = b'x';
        buffer.truncate(2);
        assert_eq!(*buffer, *b"xb");
        assert!(Buffer::zeros(0).unwrap().is_empty());
        assert!(Buffer::zeros(usize::MAX).is_err());
    }
}
