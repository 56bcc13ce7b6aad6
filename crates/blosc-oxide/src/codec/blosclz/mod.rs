//! BloscLZ, from our own kernels.

use crate::error::{Error, Result, error};
use blosc_kernels::blosclz;
use blosc_kernels::lz::LzError;

pub(super) use blosclz::Encoder;
pub(crate) use blosclz::Variant;

pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    blosclz::decompress(src, dst).map_err(corrupt)
}

/// Stops when `dst` is full.
pub(super) fn decompress_prefix(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    blosclz::decompress_prefix(src, dst).map_err(corrupt)
}

fn corrupt(error: LzError) -> Error {
    error!(Corrupt, "blosclz: {error}")
}
