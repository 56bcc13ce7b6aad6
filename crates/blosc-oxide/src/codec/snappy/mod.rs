//! Snappy, through the `snap` crate.

use crate::error::{Result, bail, error};

pub(super) use snap::raw::{Decoder, Encoder};

/// Compresses through `buffer`, since the encoder needs space for the worst case whatever the
/// result will be.
pub(super) fn compress(encoder: &mut Encoder, buffer: &mut Vec<u8>, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let worst = snap::raw::max_compress_len(src.len());
    if buffer.len() < worst {
        buffer.resize(worst, 0);
    }
    let len = encoder.compress(src, buffer).ok()?;
    dst.get_mut(..len)?.copy_from_slice(&buffer[..len]);
    Some(len)
}

pub(super) fn decompress(decoder: &mut Decoder, src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let len = snap::raw::decompress_len(src).map_err(|error| error!(Corrupt, "snappy: {error}"))?;
    if len > dst.len() {
        bail!(Corrupt, "snappy: the stream holds {len} bytes, {} were expected", dst.len());
    }
    decoder.decompress(src, dst).map_err(|error| error!(Corrupt, "snappy: {error}"))
}
