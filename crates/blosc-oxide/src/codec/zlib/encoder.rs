//! Zlib streams, written by our own encoder up to level 5, and by zlib-rs or both above it.

use blosc_kernels::deflate::Deflater;
use simd_adler32::adler32;
use zlib_rs::{Deflate, DeflateFlush, Status};

/// The last level of our own encoder.
const LAST_OWN: u8 = 5;
/// The last level.
const LAST: u8 = 9;
const WINDOW_BITS: u8 = 15;
/// What a stream starts with: deflate with a window of 32 KiB, no dictionary, and how hard it was
/// tried.
const FASTEST: [u8; 2] = [0x78, 0x01];
const FAST: [u8; 2] = [0x78, 0x5E];
const CHECKSUM_LEN: usize = 4;
/// How much of an abandoned stream is thrown away at a time.
const DRAIN_LEN: usize = 4096;

/// The library whose streams ours are no longer than, at the same level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// That of C-Blosc.
    Zlib,
    /// That of C-Blosc2, which is faster, and compresses less at some levels.
    ZlibNg,
}

/// The tables of both encoders, made when they are needed.
#[derive(Default)]
pub(in crate::codec) struct Encoder {
    own: Option<Box<Deflater>>,
    thorough: Option<Thorough>,
    /// What one of them makes, while the other may make something shorter.
    other: Vec<u8>,
}

impl Encoder {
    pub(in crate::codec) fn new() -> Self {
        Self::default()
    }

    /// Compresses `src` into `dst`; `None` when the result is longer than `dst`.
    pub(in crate::codec) fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8, model: Model) -> Option<usize> {
        match model {
            Model::Zlib => self.compress_as_zlib(src, dst, level),
            Model::ZlibNg if level > LAST_OWN => self.thorough(level).compress(src, dst, level),
            Model::ZlibNg => {
                let own = self.own.get_or_insert_default();
                with_header_and_checksum(src, dst, level, |rest| own.compress(src, rest, level))
            }
        }
    }

    /// zlib has matches of three bytes, which zlib-rs looks for at the last level only. Where these
    /// do not count, either encoder may be the one with the shorter stream.
    fn compress_as_zlib(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        let own = self.own.get_or_insert_default();
        let is_short = own.wants_short(src);
        if level <= LAST_OWN || is_short && level < LAST {
            return with_header_and_checksum(src, dst, level, |rest| own.compress_as_zlib(src, rest, level, is_short));
        }
        if !is_short {
            self.other.resize(dst.len(), 0);
            let own_len = with_header_and_checksum(src, &mut self.other, level, |rest| {
                own.compress_as_zlib(src, rest, level, false)
            });
            // What is longer than this is not needed.
            let room = own_len.map_or(dst.len(), |len| len - 1);
            let level = level.max(7);
            let len = self.thorough(level).compress(src, &mut dst[..room], level);
            return len.or_else(|| {
                let len = own_len?;
                dst[..len].copy_from_slice(&self.other[..len]);
                Some(len)
            });
        }
        self.thorough(level).compress(src, dst, level)
    }

    fn thorough(&mut self, level: u8) -> &mut Thorough {
        self.thorough.get_or_insert_with(|| Thorough::new(level))
    }
}

/// A zlib stream of `src`, with what `deflate` makes at the start of the place for it.
fn with_header_and_checksum(
    src: &[u8],
    dst: &mut [u8],
    level: u8,
    deflate: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> Option<usize> {
    let header = if level <= 1 { FASTEST } else { FAST };
    let (start, rest) = dst.split_first_chunk_mut()?;
    *start = header;
    let len = deflate(rest)?;
    let end = rest.get_mut(len..)?.first_chunk_mut::<CHECKSUM_LEN>()?;
    *end = adler32(&src).to_be_bytes();
    Some(header.len() + len + CHECKSUM_LEN)
}

/// A stream of zlib-rs, kept for the level it was made for.
struct Thorough {
    level: u8,
    stream: Deflate,
}

impl Thorough {
    fn new(level: u8) -> Self {
        Self { level, stream: Deflate::new(i32::from(level), true, WINDOW_BITS) }
    }

    fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
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

    /// Ends a stream that did not fit. The library's reset does not forget a block that was left
    /// open: the next stream would go on in the middle of it.
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
