//! From a frame to bytes.

use crate::error::{Result, error};
use structured_zstd::decoding::{DictionaryHandle, FrameDecoder};

/// A decompressor.
pub(in crate::codec) struct Decoder(FrameDecoder);

impl Decoder {
    pub(in crate::codec) fn new() -> Self {
        Self(FrameDecoder::new())
    }

    pub(in crate::codec) fn decompress(
        &mut self,
        src: &[u8],
        dict: Option<&DecodeDict>,
        dst: &mut [u8],
    ) -> Result<usize> {
        match dict {
            None => self.0.decode_all(src, dst),
            Some(dict) => self.0.decode_all_with_dict_handle(src, dst, &dict.0),
        }
        .map_err(|cause| error!(Corrupt, "zstd: {cause}"))
    }
}

/// A dictionary made ready for decompression.
pub(in crate::codec) struct DecodeDict(DictionaryHandle);

impl DecodeDict {
    pub(in crate::codec) fn new(bytes: &[u8]) -> Option<Self> {
        DictionaryHandle::from_serialized_or_raw_content(bytes).ok().map(Self)
    }
}
