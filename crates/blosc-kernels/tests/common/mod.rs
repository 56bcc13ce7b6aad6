//! What the tests of kernels share: noise, the definitions of the filters, and memory that ends
//! where a slice ends.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::slice;

/// Bytes without a pattern, others for each length.
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ len as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

/// The byte shuffle as its definition reads.
pub fn shuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len() / typesize;
    let mut dst = src.to_vec();
    for i in 0..items {
        for j in 0..typesize {
            dst[j * items + i] = src[i * typesize + j];
        }
    }
    dst
}

/// The bit shuffle as its definition reads.
pub fn bitshuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let groups = src.len() / typesize / 8;
    let mut dst = src.to_vec();
    dst[..groups * 8 * typesize].fill(0);
    for i in 0..groups * 8 {
        for j in 0..typesize {
            for k in 0..8 {
                let bit = src[i * typesize + j] >> k & 1;
                dst[(8 * j + k) * groups + i / 8] |= bit << (i % 8);
            }
        }
    }
    dst
}

/// Bytes that start at some offset from a boundary of 64, and end where their memory ends: a byte
/// further is one that valgrind and AddressSanitizer see.
pub struct Exact {
    memory: *mut u8,
    layout: Layout,
    offset: usize,
    len: usize,
}

impl Exact {
    /// As many zeros.
    pub fn zeros(len: usize, offset: usize) -> Self {
        let layout = Layout::from_size_align((offset + len).max(1), 64).unwrap();
        // SAFETY: the size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Self { memory, layout, offset, len }
    }

    /// A copy of `bytes`.
    pub fn of(bytes: &[u8], offset: usize) -> Self {
        let mut exact = Self::zeros(bytes.len(), offset);
        exact.copy_from_slice(bytes);
        exact
    }
}

impl Deref for Exact {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `offset + len` bytes were allocated and set to zero.
        unsafe { slice::from_raw_parts(self.memory.wrapping_add(self.offset), self.len) }
    }
}

impl DerefMut for Exact {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: `offset + len` bytes were allocated and set to zero, and nobody else has them.
        unsafe { slice::from_raw_parts_mut(self.memory.wrapping_add(self.offset), self.len) }
    }
}

impl Drop for Exact {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.memory, self.layout) };
    }
}
