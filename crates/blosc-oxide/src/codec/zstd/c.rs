//! Zstandard through the C library, with contexts that are kept.

use super::native_level;
use crate::error::{Result, error};
use zstd_safe::{CCtx, CDict, DCtx, DDict};

/// A compression context.
pub(in crate::codec) struct Encoder(CCtx<'static>);

impl Encoder {
    pub(in crate::codec) fn new() -> Self {
        Self(CCtx::create())
    }

    pub(in crate::codec) fn compress(
        &mut self,
        src: &[u8],
        dict: Option<&EncodeDict>,
        dst: &mut [u8],
        level: u8,
    ) -> Option<usize> {
        match dict {
            None => self.0.compress(dst, src, native_level(level)),
            Some(dict) => self.0.compress_using_cdict(dst, src, &dict.0),
        }
        .ok()
    }
}

/// A decompression context.
pub(in crate::codec) struct Decoder(DCtx<'static>);

impl Decoder {
    pub(in crate::codec) fn new() -> Self {
        Self(DCtx::create())
    }

    pub(in crate::codec) fn decompress(
        &mut self,
        src: &[u8],
        dict: Option<&DecodeDict>,
        dst: &mut [u8],
    ) -> Result<usize> {
        match dict {
            None => self.0.decompress(dst, src),
            Some(dict) => self.0.decompress_using_ddict(dst, src, &dict.0),
        }
        .map_err(|code| error!(Corrupt, "zstd: {}", zstd_safe::get_error_name(code)))
    }
}

/// A dictionary made ready for compression.
pub(in crate::codec) struct EncodeDict(CDict<'static>);

impl EncodeDict {
    pub(in crate::codec) fn new(bytes: &[u8], level: u8) -> Option<Self> {
        CDict::try_create(bytes, native_level(level)).map(Self)
    }
}

/// A dictionary made ready for decompression.
pub(in crate::codec) struct DecodeDict(DDict<'static>);

impl DecodeDict {
    pub(in crate::codec) fn new(bytes: &[u8]) -> Option<Self> {
        DDict::try_create(bytes).map(Self)
    }
}

/// A dictionary of at most `max_len` bytes from samples that follow one another; `None` if they
/// are of no use.
pub(in crate::codec) fn train(samples: &[u8], sizes: &[usize], max_len: usize) -> Option<Vec<u8>> {
    let mut dict = vec![0; max_len];
    let len = zstd_safe::train_from_buffer(&mut dict[..], samples, sizes).ok()?;
    dict.truncate(len);
    Some(dict)
}
