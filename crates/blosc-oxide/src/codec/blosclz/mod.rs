//! BloscLZ, from our own kernels.

use crate::error::{Error, ErrorKind, Result};
use blosc_kernels::blosclz;

pub(super) use blosclz::Encoder;

pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    blosclz::decompress(src, dst).map_err(|error| Error::new(ErrorKind::Corrupt, format!("blosclz: {error}")))
}
