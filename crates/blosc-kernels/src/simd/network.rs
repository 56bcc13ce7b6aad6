//! Transposes as networks of interleaves, 16 elements a lane.
//!
//! Number the bytes of some vectors in order, in binary: the number of the vector, then that of the
//! byte in its lane. Interleaving vectors whose numbers differ in one bit moves that bit down into
//! the number of the byte, above those bits that count within a granule, and the top bit of that
//! number takes its place. A few such exchanges turn "element, byte" into "byte, element" and back,
//! but for the order of the bits in the vectors' numbers, which costs nothing to undo.
//!
//! Granules are as wide as they can be: processors interleave pieces of four and eight bytes faster
//! than single bytes.
//!
//! A network works on the first `count` vectors of sixteen, `count` being a constant once it is
//! inlined.

use super::{LANE, Simd};

/// Interleaves each vector with the one whose number has `BIT` set besides; that one gets the upper
/// half. Nothing is done if none of the `count` numbers has the bit.
#[inline(always)]
fn exchange<S: Simd, const GRANULE: usize, const BIT: usize>(
    simd: S,
    x: [S::Vector; LANE],
    count: usize,
) -> [S::Vector; LANE] {
    let mut y = x;
    if BIT < count {
        for k in 0..count / 2 {
            let without = k / BIT * 2 * BIT + k % BIT;
            let (a, b) = (x[without], x[without + BIT]);
            y[without] = simd.zip_low::<GRANULE>(a, b);
            y[without + BIT] = simd.zip_high::<GRANULE>(a, b);
        }
    }
    y
}

/// Puts the vectors into the order of their numbers read backwards. Written out, so that it is
/// nothing but names for registers.
#[inline(always)]
fn in_reverse_of_bits<S: Simd>(x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = x;
    match count {
        2 => x,
        4 => [a, c, b, d, e, f, g, h, i, j, k, l, m, n, o, p],
        8 => [a, e, c, g, b, f, d, h, i, j, k, l, m, n, o, p],
        _ => [a, i, e, m, c, k, g, o, b, j, f, n, d, l, h, p],
    }
}

/// Vectors of equal bytes of 16 elements a lane become vectors that together hold the elements of
/// `count` bytes. Sixteen vectors of one element of 16 bytes a lane become vectors of equal bytes.
#[inline(always)]
pub(crate) fn transpose<S: Simd>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let x = exchange::<S, 1, 1>(simd, x, count);
    let x = exchange::<S, 2, 2>(simd, x, count);
    let x = exchange::<S, 4, 4>(simd, x, count);
    let x = exchange::<S, 8, 8>(simd, x, count);
    in_reverse_of_bits::<S>(x, count)
}

/// One half of [`transpose`] of sixteen vectors: the first eight vectors of the result, or the last
/// eight if `HIGH`.
///
/// In halves because all sixteen do not fit the registers of most processors.
#[inline(always)]
pub(crate) fn transpose_half<S: Simd, const HIGH: bool>(simd: S, x: [S::Vector; LANE]) -> [S::Vector; LANE] {
    let mut half = [simd.zero(); LANE];
    for k in 0..8 {
        let (a, b) = (x[2 * k], x[2 * k + 1]);
        half[k] = if HIGH { simd.zip_high::<1>(a, b) } else { simd.zip_low::<1>(a, b) };
    }
    gather_rows(simd, half, 8)
}

/// Vectors of 16 / `count` elements a lane, whose equal bytes are already together, to vectors of
/// equal bytes.
#[inline(always)]
pub(crate) fn gather_rows<S: Simd>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    let x = match count {
        2 => exchange::<S, 8, 1>(simd, x, 2),
        4 => {
            let x = exchange::<S, 4, 1>(simd, x, 4);
            exchange::<S, 8, 2>(simd, x, 4)
        }
        _ => {
            let x = exchange::<S, 2, 1>(simd, x, 8);
            let x = exchange::<S, 4, 2>(simd, x, 8);
            exchange::<S, 8, 4>(simd, x, 8)
        }
    };
    in_reverse_of_bits::<S>(x, count)
}

/// Keeps the compiler from putting what was done to the vectors and what will be together: it makes
/// several times as many instructions of it where bytes can only be moved by interleaving.
#[inline(always)]
fn opaque<S: Simd>(simd: S, mut x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    for vector in x.iter_mut().take(count) {
        *vector = simd.opaque(*vector);
    }
    x
}

/// Vectors that together hold 16 elements of `count` bytes a lane to vectors of equal bytes;
/// `count` is below 16.
#[inline(always)]
pub(crate) fn split_elements<S: Simd>(simd: S, x: [S::Vector; LANE], count: usize) -> [S::Vector; LANE] {
    // The lowest bit goes down first, and then the bits that tell the elements of a vector apart,
    // which have come to its place.
    let x = match count {
        2 => {
            let x = exchange::<S, 1, 1>(simd, x, 2);
            let x = exchange::<S, 1, 1>(simd, x, 2);
            let x = exchange::<S, 1, 1>(simd, x, 2);
            exchange::<S, 1, 1>(simd, x, 2)
        }
        4 => {
            let x = opaque(simd, exchange::<S, 1, 1>(simd, x, 4), 4);
            let x = opaque(simd, exchange::<S, 1, 1>(simd, x, 4), 4);
            let x = opaque(simd, exchange::<S, 1, 1>(simd, x, 4), 4);
            exchange::<S, 8, 2>(simd, x, 4)
        }
        _ => {
            let x = opaque(simd, exchange::<S, 1, 1>(simd, x, 8), 8);
            let x = opaque(simd, exchange::<S, 1, 1>(simd, x, 8), 8);
            let x = exchange::<S, 4, 2>(simd, x, 8);
            exchange::<S, 8, 4>(simd, x, 8)
        }
    };
    in_reverse_of_bits::<S>(x, count)
}
