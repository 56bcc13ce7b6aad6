//! Bit shuffle: the bits of equal significance of all elements brought together, and back.
//!
//! Of the `m = n / typesize` elements of a block the first `m8 = m - m % 8` are transposed: bit `k`
//! of byte `j` of element `i` becomes bit `i % 8` of byte `i / 8` of row `8 * j + k`, a row being
//! `m8 / 8` bytes. All bytes after those elements are copied as they are.
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        target_feature = "simd128"
    )),
    allow(dead_code, unused_imports, reason = "nothing there to run the vector kernels on")
)]

mod scalar;
mod vector;

use crate::isa::Isa;
use crate::simd::{LANE, dispatch, dispatch_baseline};

/// Groups of eight elements that the vector kernels work on at a time: as many as fill a cache line
/// of every row.
const LINE: usize = 64;

/// Bit-shuffles `src` into `dst` with the fastest kernel of this processor.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    bitshuffle_with(Isa::best(), typesize, src, dst);
}

/// Undoes [`bitshuffle`].
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    bitunshuffle_with(Isa::best(), typesize, src, dst);
}

/// [`bitshuffle`] with the kernel of one instruction set; the scalar one where the processor lacks
/// it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitshuffle_with(isa: Isa, typesize: usize, src: &[u8], dst: &mut [u8]) {
    check(typesize, src, dst);
    let groups = src.len() / typesize / 8;
    if groups >= LINE {
        dispatch!(
            isa,
            simd => vector::bitshuffle::<_, LINE>(simd, typesize, src, dst),
            scalar::bitshuffle(typesize, src, dst)
        );
    } else {
        dispatch_baseline!(
            isa,
            simd if groups >= LANE => vector::bitshuffle::<_, LANE>(simd, typesize, src, dst),
            scalar::bitshuffle(typesize, src, dst)
        );
    }
}

/// [`bitunshuffle`] with the kernel of one instruction set; the scalar one where the processor
/// lacks it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn bitunshuffle_with(isa: Isa, typesize: usize, src: &[u8], dst: &mut [u8]) {
    check(typesize, src, dst);
    let groups = src.len() / typesize / 8;
    if groups >= LINE {
        dispatch!(
            isa,
            simd => vector::bitunshuffle::<_, LINE>(simd, typesize, src, dst),
            scalar::bitunshuffle(typesize, src, dst)
        );
    } else {
        dispatch_baseline!(
            isa,
            simd if groups >= LANE => vector::bitunshuffle::<_, LANE>(simd, typesize, src, dst),
            scalar::bitunshuffle(typesize, src, dst)
        );
    }
}

fn check(typesize: usize, src: &[u8], dst: &[u8]) {
    assert!(typesize > 0, "the typesize is 0");
    assert_eq!(src.len(), dst.len(), "source and destination differ in length");
}
