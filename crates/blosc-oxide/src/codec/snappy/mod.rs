//! Snappy, through the `snap` crate.

use crate::error::{Result, bail, error};

pub(super) use snap::raw::{Decoder, Encoder};

/// Compresses through `room`, since the encoder wants space for the worst case whatever the result
/// will be.
pub(super) fn compress(encoder: &mut Encoder, room: &mut Vec<u8>, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let worst = snap::raw::max_compress_len(src.len());
    if room.len() < worst {
        room.resize(worst, 0);
    }
    let len = encoder.compress(src, room).ok()?;
    dst.get_mut(..len)?.copy_from_slice(&room[..len]);
    Some(len)
}

pub(super) fn decompress(decoder: &mut Decoder, src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let len = snap::raw::decompress_len(src).map_err(|error| error!(Corrupt, "snappy: {error}"))?;
    if len > dst.len() {
        bail!(Corrupt, "snappy: the stream holds {len} bytes, {} were expected", dst.len());
    }
    decoder.decompress(src, dst).map_err(|error| error!(Corrupt, "snappy: {error}"))
}
