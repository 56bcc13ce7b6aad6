//! From a frame to bytes: our own decoder.

use crate::error::{Result, error};
use blosc_kernels::zstd;

/// A decompressor.
pub(in crate::codec) struct Decoder(Box<zstd::Decoder>);

impl Decoder {
    pub(in crate::codec) fn new() -> Self {
        Self(Box::default())
    }

    pub(in crate::codec) fn decompress(
        &mut self,
        src: &[u8],
        dict: Option<&DecodeDict>,
        dst: &mut [u8],
    ) -> Result<usize> {
        let dict = dict.map(|dict| &dict.0);
        self.0.decompress(src, dict, dst).map_err(|cause| error!(Corrupt, "zstd: {cause}"))
    }
}

/// A dictionary made ready for decompression.
pub(in crate::codec) struct DecodeDict(zstd::Dictionary);

impl DecodeDict {
    pub(in crate::codec) fn new(bytes: &[u8]) -> Option<Self> {
        zstd::Dictionary::new(bytes).ok().map(Self)
    }
}
