//! zlib: our own encoder and decoder, and the encoder of zlib-rs for the upper levels.

mod encoder;

use crate::error::{Result, bail, error};
use blosc_kernels::inflate::{Inflated, Inflater};
use simd_adler32::adler32;

pub(super) use encoder::{Encoder, Model};

/// What the header of a stream says: the method, the logarithm of the window less 8, and whether a
/// dictionary is needed.
const DEFLATE: u8 = 8;
const MAX_WINDOW: u8 = 7;
const HAS_DICT: u8 = 0x20;

/// A decoder of zlib streams.
pub(super) struct Decoder(Box<Inflater>);

impl Decoder {
    pub(super) fn new() -> Self {
        Self(Box::default())
    }

    pub(super) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize> {
        let stream = without_header(src)?;
        let Inflated { read, written } =
            self.0.decompress(stream, dst).map_err(|error| error!(Corrupt, "zlib: {error}"))?;
        let Some(&stored) = stream[read..].first_chunk() else {
            bail!(Corrupt, "zlib: the checksum of the stream of {} bytes is cut off", src.len());
        };
        let (stored, found) = (u32::from_be_bytes(stored), adler32(&&dst[..written]));
        if stored != found {
            bail!(Corrupt, "zlib: the checksum is {found:08x}, {stored:08x} is stored");
        }
        Ok(written)
    }
}

/// The deflate stream of a zlib stream, and what follows.
fn without_header(src: &[u8]) -> Result<&[u8]> {
    let Some((&[method, flags], stream)) = src.split_first_chunk() else {
        bail!(Corrupt, "zlib: a stream of {} bytes is too short", src.len());
    };
    let is_checked = u16::from_be_bytes([method, flags]).is_multiple_of(31);
    if !is_checked || method & 15 != DEFLATE || method >> 4 > MAX_WINDOW || flags & HAS_DICT != 0 {
        bail!(Corrupt, "zlib: no stream starts with {method:02x} {flags:02x}");
    }
    Ok(stream)
}

#[cfg(test)]
mod tests;
