//! zlib, through zlib-rs.

use crate::error::{Result, bail};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

const WINDOW_BITS: u8 = 15;
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

/// An inflate stream.
pub(super) struct Decoder(Inflate);

impl Decoder {
    pub(super) fn new() -> Self {
        Self(Inflate::new(true, WINDOW_BITS))
    }

    pub(super) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize> {
        self.0.reset(true);
        match self.0.decompress(src, dst, InflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(usize::try_from(self.0.total_out()).unwrap_or(usize::MAX)),
            Ok(_) => bail!(
                Corrupt,
                "zlib: the stream of {} bytes does not end within {} bytes of output",
                src.len(),
                dst.len()
            ),
            Err(error) => bail!(Corrupt, "zlib: {}", error.as_str()),
        }
    }
}
