//! Which vector kernel shuffles which typesize.

use super::{columns, packed};
use crate::simd::Simd;

/// Shuffles with the kernel for the typesize.
pub(super) fn shuffle<S: Simd>(simd: S, typesize: usize, src: &[u8], dst: &mut [u8]) {
    match typesize {
        1 => crate::copy::copy(src, dst),
        2 => simd.run(packed::Shuffle::<2, 2> { src, dst }),
        3 if S::PERMUTES => simd.run(packed::Shuffle::<3, 4> { src, dst }),
        3 => simd.run(packed::Shuffle::<3, 16> { src, dst }),
        4 => simd.run(packed::Shuffle::<4, 4> { src, dst }),
        5 if S::PERMUTES => simd.run(packed::Shuffle::<5, 8> { src, dst }),
        5 => simd.run(packed::Shuffle::<5, 16> { src, dst }),
        6 if S::PERMUTES => simd.run(packed::Shuffle::<6, 8> { src, dst }),
        6 => simd.run(packed::Shuffle::<6, 16> { src, dst }),
        7 if S::PERMUTES => simd.run(packed::Shuffle::<7, 8> { src, dst }),
        7 => simd.run(packed::Shuffle::<7, 16> { src, dst }),
        8 => simd.run(packed::Shuffle::<8, 8> { src, dst }),
        9 => simd.run(packed::Shuffle::<9, 16> { src, dst }),
        10 => simd.run(packed::Shuffle::<10, 16> { src, dst }),
        11 => simd.run(packed::Shuffle::<11, 16> { src, dst }),
        12 => simd.run(packed::Shuffle::<12, 16> { src, dst }),
        13 => simd.run(packed::Shuffle::<13, 16> { src, dst }),
        14 => simd.run(packed::Shuffle::<14, 16> { src, dst }),
        15 => simd.run(packed::Shuffle::<15, 16> { src, dst }),
        16 => simd.run(packed::Shuffle::<16, 16> { src, dst }),
        _ => simd.run(columns::Shuffle { typesize, src, dst }),
    }
}

/// Unshuffles with the kernel for the typesize.
pub(super) fn unshuffle<S: Simd>(simd: S, typesize: usize, src: &[u8], dst: &mut [u8]) {
    match typesize {
        1 => crate::copy::copy(src, dst),
        2 => simd.run(packed::Unshuffle::<2, 2> { src, dst }),
        3 if S::PERMUTES => simd.run(packed::Unshuffle::<3, 4> { src, dst }),
        3 => simd.run(packed::Unshuffle::<3, 16> { src, dst }),
        4 => simd.run(packed::Unshuffle::<4, 4> { src, dst }),
        5 if S::PERMUTES => simd.run(packed::Unshuffle::<5, 8> { src, dst }),
        5 => simd.run(packed::Unshuffle::<5, 16> { src, dst }),
        6 if S::PERMUTES => simd.run(packed::Unshuffle::<6, 8> { src, dst }),
        6 => simd.run(packed::Unshuffle::<6, 16> { src, dst }),
        7 if S::PERMUTES => simd.run(packed::Unshuffle::<7, 8> { src, dst }),
        7 => simd.run(packed::Unshuffle::<7, 16> { src, dst }),
        8 => simd.run(packed::Unshuffle::<8, 8> { src, dst }),
        9 => simd.run(packed::Unshuffle::<9, 16> { src, dst }),
        10 => simd.run(packed::Unshuffle::<10, 16> { src, dst }),
        11 => simd.run(packed::Unshuffle::<11, 16> { src, dst }),
        12 => simd.run(packed::Unshuffle::<12, 16> { src, dst }),
        13 => simd.run(packed::Unshuffle::<13, 16> { src, dst }),
        14 => simd.run(packed::Unshuffle::<14, 16> { src, dst }),
        15 => simd.run(packed::Unshuffle::<15, 16> { src, dst }),
        16 => simd.run(packed::Unshuffle::<16, 16> { src, dst }),
        _ => simd.run(columns::Unshuffle { typesize, src, dst }),
    }
}
