//! Transposes as networks of interleaves, 16 elements a lane.
//!
//! Number the bytes of some vectors in order, in binary. Interleaving the first half of the vectors with the second
//! moves the top bit of that number to the bottom, or to just above the bits that count within a granule. A few such
//! rotations turn "element, byte" into "byte, element" and back.
//!
//! A network works on the first `count` vectors of sixteen, `count` being a constant once it is inlined.

use super::{LANE, Simd};

/// Interleaves the first half of the vectors with the second, granule by granule.
#[inline(always)]
fn interleave_halves<S: Simd, const GRANULE: usize>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let mut y = [simd.zero(); LANE];
    for k in 0..count / 2 {
        y[2 * k] = simd.zip_low::<GRANULE>(x[k], x[k + count / 2]);
        y[2 * k + 1] = simd.zip_high::<GRANULE>(x[k], x[k + count / 2]);
    }
    y
}

/// Interleaves bytes as often as it takes to bring every bit of a vector's number down.
///
/// Vectors of equal bytes of 16 elements a lane become vectors that together hold the elements of `count` bytes.
/// Sixteen vectors of one element of 16 bytes a lane become vectors of equal bytes.
#[inline(always)]
pub(crate) fn transpose<S: Simd>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let mut x = x;
    for _ in 0..count.trailing_zeros() {
        x = interleave_halves::<S, 1>(simd, x, count);
    }
    x
}

/// One half of [`transpose`] of sixteen vectors: the first eight vectors of the result, or the last eight if `HIGH`.
///
/// In halves because all sixteen do not fit the registers of most processors.
#[inline(always)]
pub(crate) fn transpose_half<S: Simd, const HIGH: bool>(simd: S, x: [S::Vector; LANE]) -> [S::Vector; LANE] {
    let mut half = [simd.zero(); LANE];
    for k in 0..8 {
        half[k] = if HIGH { simd.zip_high::<1>(x[k], x[k + 8]) } else { simd.zip_low::<1>(x[k], x[k + 8]) };
    }
    transpose(simd, half, 8)
}

/// Vectors of 16 / `count` elements a lane, whose equal bytes are already together, to vectors of equal bytes.
#[inline(always)]
pub(crate) fn gather_rows<S: Simd>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let mut x = x;
    for _ in 0..count.trailing_zeros() {
        x = match count {
            2 => interleave_halves::<S, 8>(simd, x, count),
            4 => interleave_halves::<S, 4>(simd, x, count),
            8 => interleave_halves::<S, 2>(simd, x, count),
            _ => interleave_halves::<S, 1>(simd, x, count),
        };
    }
    x
}

/// Vectors that together hold 16 elements of `count` bytes a lane to vectors of equal bytes.
#[inline(always)]
pub(crate) fn split_elements<S: Simd>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let mut x = x;
    for _ in 0..LANE.trailing_zeros() {
        x = interleave_halves::<S, 1>(simd, x, count);
    }
    x
}
