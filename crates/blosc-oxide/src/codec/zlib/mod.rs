//! zlib: the encoder of zlib-rs, and our own decoder.

use crate::error::{Result, bail, error};
use blosc_kernels::inflate::{Inflated, Inflater};
use simd_adler32::adler32;
use zlib_rs::{Deflate, DeflateFlush, Status};

const WINDOW_BITS: u8 = 15;
/// What the header of a stream says: the method, the logarithm of the window less 8, and whether a dictionary is needed.
const DEFLATE: u8 = 8;
const MAX_WINDOW: u8 = 7;
const HAS_DICT: u8 = 0x20;
/// How much of an abandoned stream is thrown away at a time.
const DRAIN_LEN: usize = 4096;

/// A deflate stream, kept for the level it was made for.
pub(super) struct Encoder {
    level: u8,
    stream: Deflate,
}

impl Encoder {
    pub(super) fn new(level: u8) -> Self {
        Self { level, stream: Deflate::new(i32::from(level), true, WINDOW_BITS) }
    }

    pub(super) fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        if level == self.level {
            self.stream.reset();
        } else {
            *self = Self::new(level);
        }
        match self.stream.compress(src, dst, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => usize::try_from(self.stream.total_out()).ok(),
            _ => {
                self.abandon();
                None
            }
        }
    }

    /// Ends a stream that did not fit. The library's reset does not forget a block that was left open: the next stream
    /// would go on in the middle of it.
    fn abandon(&mut self) {
        let mut rest = [0; DRAIN_LEN];
        while let Ok(status) = self.stream.compress(&[], &mut rest, DeflateFlush::Finish) {
            if status == Status::StreamEnd {
                return;
            }
        }
        *self = Self::new(self.level);
    }
}

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
