//! LZ4 and LZ4HC, from our own kernels.

use crate::error::{Error, ErrorKind, Result};
use blosc_kernels::lz4;

pub(super) use lz4::{Encoder, HcEncoder};

/// The acceleration that a level stands for.
pub(super) fn acceleration(level: u8) -> u32 {
    10 - u32::from(level.clamp(1, 9))
}

pub(super) fn decompress(src: &[u8], dict: Option<&[u8]>, dst: &mut [u8]) -> Result<usize> {
    match dict {
        None => lz4::decompress(src, dst),
        Some(dict) => lz4::decompress_with_dict(src, dict, dst),
    }
    .map_err(|error| Error::new(ErrorKind::Corrupt, format!("lz4: {error}")))
}
