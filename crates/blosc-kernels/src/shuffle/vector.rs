//! Which vector kernel shuffles which typesize, from 2 on.
//!
//! In line, so that what a kernel works on is not copied while it is still on its way to memory:
//! for chunks of a few kilobytes that counts.

use super::{Rows, RowsMut, columns, packed};
use crate::simd::Simd;

/// Shuffles at least `STEP` elements with the kernel for the typesize.
#[inline(always)]
pub(super) fn shuffle<S: Simd, const STEP: usize>(simd: S, typesize: usize, elements: &[u8], rows: RowsMut<'_>) {
    match typesize {
        2 => simd.run(packed::Shuffle::<2, 2, STEP> { elements, rows }),
        3 if S::PERMUTES => simd.run(packed::Shuffle::<3, 4, STEP> { elements, rows }),
        3 => simd.run(packed::Shuffle::<3, 16, STEP> { elements, rows }),
        4 => simd.run(packed::Shuffle::<4, 4, STEP> { elements, rows }),
        5 if S::PERMUTES => simd.run(packed::Shuffle::<5, 8, STEP> { elements, rows }),
        5 => simd.run(packed::Shuffle::<5, 16, STEP> { elements, rows }),
        6 if S::PERMUTES => simd.run(packed::Shuffle::<6, 8, STEP> { elements, rows }),
        6 => simd.run(packed::Shuffle::<6, 16, STEP> { elements, rows }),
        7 if S::PERMUTES => simd.run(packed::Shuffle::<7, 8, STEP> { elements, rows }),
        7 => simd.run(packed::Shuffle::<7, 16, STEP> { elements, rows }),
        8 => simd.run(packed::Shuffle::<8, 8, STEP> { elements, rows }),
        9 => simd.run(packed::Shuffle::<9, 16, STEP> { elements, rows }),
        10 => simd.run(packed::Shuffle::<10, 16, STEP> { elements, rows }),
        11 => simd.run(packed::Shuffle::<11, 16, STEP> { elements, rows }),
        12 => simd.run(packed::Shuffle::<12, 16, STEP> { elements, rows }),
        13 => simd.run(packed::Shuffle::<13, 16, STEP> { elements, rows }),
        14 => simd.run(packed::Shuffle::<14, 16, STEP> { elements, rows }),
        15 => simd.run(packed::Shuffle::<15, 16, STEP> { elements, rows }),
        16 => simd.run(packed::Shuffle::<16, 16, STEP> { elements, rows }),
        _ => simd.run(columns::Shuffle::<STEP> { typesize, elements, rows }),
    }
}

/// Unshuffles at least `STEP` elements with the kernel for the typesize.
#[inline(always)]
pub(super) fn unshuffle<S: Simd, const STEP: usize>(simd: S, typesize: usize, rows: Rows<'_>, elements: &mut [u8]) {
    match typesize {
        2 => simd.run(packed::Unshuffle::<2, 2, STEP> { rows, elements }),
        3 if S::PERMUTES => simd.run(packed::Unshuffle::<3, 4, STEP> { rows, elements }),
        3 => simd.run(packed::Unshuffle::<3, 16, STEP> { rows, elements }),
        4 => simd.run(packed::Unshuffle::<4, 4, STEP> { rows, elements }),
        5 if S::PERMUTES => simd.run(packed::Unshuffle::<5, 8, STEP> { rows, elements }),
        5 => simd.run(packed::Unshuffle::<5, 16, STEP> { rows, elements }),
        6 if S::PERMUTES => simd.run(packed::Unshuffle::<6, 8, STEP> { rows, elements }),
        6 => simd.run(packed::Unshuffle::<6, 16, STEP> { rows, elements }),
        7 if S::PERMUTES => simd.run(packed::Unshuffle::<7, 8, STEP> { rows, elements }),
        7 => simd.run(packed::Unshuffle::<7, 16, STEP> { rows, elements }),
        8 => simd.run(packed::Unshuffle::<8, 8, STEP> { rows, elements }),
        9 => simd.run(packed::Unshuffle::<9, 16, STEP> { rows, elements }),
        10 => simd.run(packed::Unshuffle::<10, 16, STEP> { rows, elements }),
        11 => simd.run(packed::Unshuffle::<11, 16, STEP> { rows, elements }),
        12 => simd.run(packed::Unshuffle::<12, 16, STEP> { rows, elements }),
        13 => simd.run(packed::Unshuffle::<13, 16, STEP> { rows, elements }),
        14 => simd.run(packed::Unshuffle::<14, 16, STEP> { rows, elements }),
        15 => simd.run(packed::Unshuffle::<15, 16, STEP> { rows, elements }),
        16 => simd.run(packed::Unshuffle::<16, 16, STEP> { rows, elements }),
        _ => simd.run(columns::Unshuffle::<STEP> { typesize, rows, elements }),
    }
}
