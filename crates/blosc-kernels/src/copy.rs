//! Copies of blocks.
//!
//! On some processors the `memcpy` of the C library is more than ten times slower where the
//! destination is up to 31 bytes ahead of the source modulo 4096, for lengths from a few kilobytes
//! on. A loop of vectors knows no such cliff; anywhere else the C library is as fast or faster, a
//! few hundred kilobytes at a time: from about a megabyte on it takes another way, which was seen
//! to be a tenth slower.
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        target_feature = "simd128"
    )),
    allow(dead_code, reason = "nothing there to run the vector kernels on")
)]

use crate::isa::Isa;
use crate::simd::dispatch;
use crate::simd::{Kernel, Simd};

/// The length that the cliff was seen from, with space to spare.
const CLIFF_LENGTH: usize = 2048;

/// Distances the cliff was seen at, with space to spare.
const CLIFF_DISTANCES: core::ops::Range<usize> = 1..64;

/// How much is copied at a time.
const PART: usize = 256 << 10;

/// Copies `src` into `dst`.
///
/// # Panics
/// If the lengths differ.
pub fn copy(src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "source and destination differ in length");
    if src.len() <= PART {
        return copy_part(src, dst);
    }
    for (src, dst) in src.chunks(PART).zip(dst.chunks_mut(PART)) {
        copy_part(src, dst);
    }
}

#[inline]
fn copy_part(src: &[u8], dst: &mut [u8]) {
    let distance = dst.as_ptr().addr().wrapping_sub(src.as_ptr().addr()) % 4096;
    if src.len() >= CLIFF_LENGTH && CLIFF_DISTANCES.contains(&distance) {
        dispatch!(Isa::best(), simd => simd.run(Copy { src, dst }), dst.copy_from_slice(src));
    } else {
        dst.copy_from_slice(src);
    }
}

/// Copies at least `8 * WIDTH` bytes.
struct Copy<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
}

impl Kernel for Copy<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { src, dst } = self;
        let len = src.len();
        assert!(len == dst.len() && len >= 8 * S::WIDTH);
        // The first four vectors where they are, then all at addresses that no store crosses a
        // cache line from, then the last four where they are; what overlaps is copied twice.
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
        // SAFETY: `len >= 4 * WIDTH`.
        unsafe { copy_four(simd, from, to) };
        let mut at = 4 * S::WIDTH - to.addr() % S::WIDTH;
        while at + 4 * S::WIDTH <= len {
            // SAFETY: the four vectors end at `len` at most.
            unsafe { copy_four(simd, from.wrapping_add(at), to.wrapping_add(at)) };
            at += 4 * S::WIDTH;
        }
        let last = len - 4 * S::WIDTH;
        // SAFETY: the four vectors end at `len`.
        unsafe { copy_four(simd, from.wrapping_add(last), to.wrapping_add(last)) };
    }
}

/// Copies four vectors.
///
/// # Safety
/// `4 * WIDTH` bytes must be readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_four<S: Simd>(simd: S, from: *const u8, to: *mut u8) {
    let mut vectors = [simd.zero(); 4];
    for (i, vector) in vectors.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *vector = unsafe { simd.load(from.wrapping_add(i * S::WIDTH)) };
    }
    for (i, &vector) in vectors.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { simd.store(to.wrapping_add(i * S::WIDTH), vector) };
    }
}
