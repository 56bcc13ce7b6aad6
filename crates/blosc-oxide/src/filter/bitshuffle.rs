//! Bit shuffle, in the two ways there are.
//!
//! Chunks of version 2 transpose a block only when its number of items is a multiple of eight; later ones transpose as
//! many items as make a multiple of eight and leave the rest.

use blosc_kernels::{bitshuffle, copy};

const ITEMS_PER_BYTE: usize = 8;

/// Whether a block of `len` bytes is left alone by the rule of version 2.
fn is_left_alone(typesize: usize, all_or_nothing: bool, len: usize) -> bool {
    all_or_nothing && !(len / typesize).is_multiple_of(ITEMS_PER_BYTE)
}

pub(super) fn forward(typesize: usize, all_or_nothing: bool, src: &[u8], dst: &mut [u8]) {
    if is_left_alone(typesize, all_or_nothing, src.len()) {
        copy::copy(src, dst);
    } else {
        bitshuffle::bitshuffle(typesize, src, dst);
    }
}

pub(super) fn backward(typesize: usize, all_or_nothing: bool, src: &[u8], dst: &mut [u8]) {
    if is_left_alone(typesize, all_or_nothing, src.len()) {
        copy::copy(src, dst);
    } else {
        bitshuffle::bitunshuffle(typesize, src, dst);
    }
}
