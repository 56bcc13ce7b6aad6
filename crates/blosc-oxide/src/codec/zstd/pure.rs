//! Zstandard in Rust alone.

use super::native_level;
use crate::error::{Result, error};
use std::cell::RefCell;
use structured_zstd::decoding::{DictionaryHandle, FrameDecoder};
use structured_zstd::dictionary::{CoverOptions, FastCoverOptions, FinalizeOptions, train_fastcover_dict};
use structured_zstd::encoding::{CompressionLevel, EncoderDictionary, FrameCompressor};

/// A compressor, and the level it was made for.
struct Kept {
    level: u8,
    compressor: FrameCompressor,
}

thread_local! {
    /// The library's compressor cannot be handed from thread to thread, so that each thread keeps its own.
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

fn new_compressor(level: u8) -> FrameCompressor {
    let mut compressor = FrameCompressor::new(CompressionLevel::from_level(native_level(level)));
    compressor.set_content_checksum(false);
    compressor
}

/// The room that a compressed frame is made in, since the library does not write into slices.
pub(in crate::codec) struct Encoder {
    frame: Vec<u8>,
}

impl Encoder {
    pub(in crate::codec) fn new() -> Self {
        Self { frame: Vec::new() }
    }

    pub(in crate::codec) fn compress(
        &mut self,
        src: &[u8],
        dict: Option<&EncodeDict>,
        dst: &mut [u8],
        level: u8,
    ) -> Option<usize> {
        match dict {
            None => self.compress_plain(src, level),
            Some(dict) => {
                let mut compressor = new_compressor(level);
                compressor.set_encoder_dictionary(dict.0.clone()).ok()?;
                compressor.compress_independent_frame_into(src, &mut self.frame);
            }
        }
        dst.get_mut(..self.frame.len())?.copy_from_slice(&self.frame);
        Some(self.frame.len())
    }

    fn compress_plain(&mut self, src: &[u8], level: u8) {
        KEPT.with_borrow_mut(|kept| {
            if kept.as_ref().is_none_or(|kept| kept.level != level) {
                *kept = Some(Kept { level, compressor: new_compressor(level) });
            }
            if let Some(kept) = kept {
                kept.compressor.compress_independent_frame_into(src, &mut self.frame);
            }
        });
    }
}

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

/// A dictionary made ready for compression.
pub(in crate::codec) struct EncodeDict(EncoderDictionary);

impl EncodeDict {
    pub(in crate::codec) fn new(bytes: &[u8], _level: u8) -> Option<Self> {
        EncoderDictionary::from_serialized_or_raw_content(bytes).ok().map(Self)
    }
}

/// A dictionary made ready for decompression.
pub(in crate::codec) struct DecodeDict(DictionaryHandle);

impl DecodeDict {
    pub(in crate::codec) fn new(bytes: &[u8]) -> Option<Self> {
        DictionaryHandle::from_serialized_or_raw_content(bytes).ok().map(Self)
    }
}

/// A dictionary of at most `max_len` bytes from samples that stand one after the other; `None` if they are no use.
pub(in crate::codec) fn train(samples: &[u8], sizes: &[usize], max_len: usize) -> Option<Vec<u8>> {
    const SEGMENT: u32 = 200;
    const TABLE_BITS: u32 = 16;
    let defaults = FastCoverOptions::default();
    let options = FastCoverOptions { cover: CoverOptions { k: SEGMENT, ..defaults.cover }, f: TABLE_BITS, ..defaults };
    train_fastcover_dict(samples, sizes, max_len, &options, FinalizeOptions::default()).ok()
}
