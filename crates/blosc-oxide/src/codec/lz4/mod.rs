//! LZ4 and LZ4HC, from our own kernels.

use crate::error::{Error, Result, error};
use blosc_kernels::lz::LzError;
use blosc_kernels::lz4;

pub(super) use lz4::{Encoder, HcEncoder};

/// The acceleration for a level.
pub(super) fn acceleration(level: u8) -> u32 {
    10 - u32::from(level.clamp(1, 9))
}

pub(super) fn decompress(src: &[u8], dict: Option<&[u8]>, dst: &mut [u8]) -> Result<usize> {
    match dict {
        None => lz4::decompress(src, dst),
        Some(dict) => lz4::decompress_with_dict(src, dict, dst),
    }
    .map_err(corrupt)
}

/// Stops when `dst` is full.
pub(super) fn decompress_prefix(src: &[u8], dict: Option<&[u8]>, dst: &mut [u8]) -> Result<usize> {
    match dict {
        None => lz4::decompress_prefix(src, dst),
        Some(dict) => lz4::decompress_prefix_with_dict(src, dict, dst),
    }
    .map_err(corrupt)
}

fn corrupt(error: LzError) -> Error {
    error!(Corrupt, "lz4: {error}")
}
