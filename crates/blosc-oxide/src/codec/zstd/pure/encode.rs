//! From bytes to a frame.

use super::decode::DecodeDict;
use super::noise::is_noise;
use super::proof::{self, Proof};
use std::cell::RefCell;
use std::io::{Cursor, Read};
use structured_zstd::dictionary::{CoverOptions, FastCoverOptions, FinalizeOptions, train_fastcover_dict};
use structured_zstd::encoding::{
    CompressionLevel, CompressionParameters, EncoderDictionary, FrameCompressor, LevelParameters, Strategy,
};

thread_local! {
    /// The library's compressors cannot be sent to another thread, so that each thread keeps its
    /// own.
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// The compressors for a level.
///
/// The library stores a block as it is if the bytes in three places of it look random, and so loses
/// what compresses between them: up to two fifths of shuffled numbers. It never does where matches
/// may be further away than [`WIDE`], and so it is given such a window, except for bytes
/// that are random everywhere. At its fastest levels it would pay for that with half of its speed.
struct Kept {
    level: u8,
    hasty: Option<FrameCompressor>,
    thorough: Option<FrameCompressor<Cursor<Vec<u8>>>>,
}

/// The level of the library for a Blosc level.
///
/// On big-endian hosts structured-zstd 0.2.6 compares the wrong four of eight bytes in its search
/// of level 3, and writes matches where there are none. The next level of ours has another search.
fn native_level(level: u8) -> i32 {
    const WRONG_ON_BIG_ENDIAN: i32 = 3;
    let native = crate::codec::zstd::native_level(level);
    let is_wrong = cfg!(target_endian = "big") && native == WRONG_ON_BIG_ENDIAN;
    if is_wrong { crate::codec::zstd::native_level(level + 1) } else { native }
}

/// The logarithm of a window for which the library tries every block.
const WIDE: u32 = 24;

impl Kept {
    fn new(level: u8) -> Self {
        Self { level, hasty: None, thorough: None }
    }

    fn compress(&mut self, src: &[u8], frame: &mut Vec<u8>) {
        let tuned = LevelParameters::for_level(native_level(self.level), Some(src.len() as u64), 0);
        if tuned.strategy == Strategy::Fast || is_noise(src) {
            self.compress_hastily(src, frame);
        } else {
            self.compress_thoroughly(src, tuned, frame);
        }
    }

    fn compress_hastily(&mut self, src: &[u8], frame: &mut Vec<u8>) {
        let compressor = self.hasty.get_or_insert_with(|| new_compressor(self.level));
        compressor.compress_independent_frame_into(src, frame);
    }

    fn compress_thoroughly(&mut self, src: &[u8], tuned: LevelParameters, frame: &mut Vec<u8>) {
        let compressor = self.thorough.get_or_insert_with(|| new_compressor(self.level));
        compressor.set_parameters(&widened(self.level, tuned));
        // What it takes for the size of the source bounds the window; what it writes down is how
        // much it has read.
        compressor.set_source_size_hint((src.len() as u64).max(1 << WIDE));
        let mut source = compressor.take_source().unwrap_or_default().into_inner();
        source.clear();
        source.extend_from_slice(src);
        compressor.set_source(Cursor::new(source));
        frame.clear();
        compressor.set_drain(std::mem::take(frame));
        compressor.compress();
        *frame = compressor.take_drain().unwrap_or_default();
    }
}

fn new_compressor<R: Read>(level: u8) -> FrameCompressor<R> {
    let mut compressor = FrameCompressor::new(CompressionLevel::from_level(native_level(level)));
    compressor.set_content_checksum(false);
    compressor
}

/// The parameters of a level with a wide window, all others as `tuned` to the size of the source.
fn widened(level: u8, tuned: LevelParameters) -> CompressionParameters {
    let builder = CompressionParameters::builder(CompressionLevel::from_level(native_level(level)))
        .window_log(tuned.window_log.max(WIDE))
        .chain_log(tuned.chain_log)
        .hash_log(tuned.hash_log)
        .search_log(tuned.search_log)
        .min_match(tuned.min_match)
        .target_length(tuned.target_length)
        .strategy(tuned.strategy);
    builder.build().expect("the parameters of a level are within their bounds")
}

/// The memory that a compressed frame is made in, since the library does not write into slices, and
/// the decoder that proves it.
pub(in crate::codec) struct Encoder {
    frame: Vec<u8>,
    proof: Option<Proof>,
}

impl Encoder {
    pub(in crate::codec) fn new() -> Self {
        Self { frame: Vec::new(), proof: proof::IS_NEEDED.then(Proof::new) }
    }

    /// Compresses `src` into `dst`; `None` if it does not fit, or if what the library wrote is not
    /// `src`.
    pub(in crate::codec) fn compress(
        &mut self,
        src: &[u8],
        dict: Option<&EncodeDict>,
        dst: &mut [u8],
        level: u8,
    ) -> Option<usize> {
        self.compress_into_frame(src, dict, level)?;
        let dst = dst.get_mut(..self.frame.len())?;
        if let Some(proof) = &mut self.proof
            && !proof.holds(&self.frame, dict.and_then(|dict| dict.of_proof.as_ref()), src)
        {
            return None;
        }
        dst.copy_from_slice(&self.frame);
        Some(self.frame.len())
    }

    fn compress_into_frame(&mut self, src: &[u8], dict: Option<&EncodeDict>, level: u8) -> Option<()> {
        match dict {
            None => self.compress_plain(src, level),
            Some(dict) => {
                let mut compressor: FrameCompressor = new_compressor(level);
                compressor.set_encoder_dictionary(dict.of_encoder.clone()).ok()?;
                compressor.compress_independent_frame_into(src, &mut self.frame);
            }
        }
        Some(())
    }

    fn compress_plain(&mut self, src: &[u8], level: u8) {
        KEPT.with_borrow_mut(|kept| {
            if kept.as_ref().is_none_or(|kept| kept.level != level) {
                *kept = Some(Kept::new(level));
            }
            if let Some(kept) = kept {
                kept.compress(src, &mut self.frame);
            }
        });
    }
}

/// A dictionary made ready for compression.
pub(in crate::codec) struct EncodeDict {
    of_encoder: EncoderDictionary,
    /// Decodes streams to prove them.
    of_proof: Option<DecodeDict>,
}

impl EncodeDict {
    pub(in crate::codec) fn new(bytes: &[u8], _level: u8) -> Option<Self> {
        let of_encoder = EncoderDictionary::from_serialized_or_raw_content(bytes).ok()?;
        let of_proof = if proof::IS_NEEDED { Some(DecodeDict::new(bytes)?) } else { None };
        Some(Self { of_encoder, of_proof })
    }
}

/// A dictionary of at most `max_len` bytes from samples that follow one another; `None` if they
/// are of no use.
pub(in crate::codec) fn train(samples: &[u8], sizes: &[usize], max_len: usize) -> Option<Vec<u8>> {
    const SEGMENT: u32 = 200;
    const TABLE_BITS: u32 = 16;
    let defaults = FastCoverOptions::default();
    let options = FastCoverOptions { cover: CoverOptions { k: SEGMENT, ..defaults.cover }, f: TABLE_BITS, ..defaults };
    train_fastcover_dict(samples, sizes, max_len, &options, FinalizeOptions::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::decode::Decoder;
    use super::*;
    use structured_zstd::decoding::{FrameContentSize, read_frame_content_size};
    use testkit::formula::generate;
    use testkit::serde_json::json;

    fn noise(nbytes: usize) -> Vec<u8> {
        generate(&json!({"kind": "rand", "nbytes": nbytes, "seed": 1})).unwrap()
    }

    /// Noise at both ends and in the middle, and more than that of half as many bits.
    fn mixed(nbytes: usize) -> Vec<u8> {
        const LAST_NOISE: usize = 1500;
        let mut bytes = noise(nbytes);
        for half_noise in [nbytes / 16 * 3..nbytes / 16 * 7, nbytes / 16 * 9..nbytes.saturating_sub(LAST_NOISE)] {
            bytes.get_mut(half_noise).unwrap_or_default().iter_mut().for_each(|byte| *byte &= 0xf);
        }
        bytes
    }

    fn compressed(src: &[u8], level: u8) -> Vec<u8> {
        let mut dst = vec![0; src.len() + 1000];
        let len = Encoder::new().compress(src, None, &mut dst, level).unwrap();
        dst.truncate(len);
        dst
    }

    #[test]
    fn blocks_that_are_random_at_their_ends_are_searched() {
        for level in 2..=9 {
            let src = mixed(128 << 10);
            let len = compressed(&src, level).len();
            assert!(len < src.len() / 5 * 4, "level {level}: {len}");
        }
    }

    #[test]
    fn frames_say_how_long_their_content_is_whichever_compressor_made_them() {
        for nbytes in [0, 1, 100, 1000, 10_000, 100_000, 20 << 20] {
            for src in [noise(nbytes), mixed(nbytes)] {
                for level in [1, 3] {
                    let frame = compressed(&src, level);
                    let size = read_frame_content_size(&frame).unwrap();
                    assert_eq!(size, FrameContentSize::Known(src.len() as u64));
                    let mut out = vec![0; src.len()];
                    assert_eq!(Decoder::new().decompress(&frame, None, &mut out).unwrap(), src.len());
                    assert!(out == src, "{nbytes} bytes, level {level}");
                }
            }
        }
    }

    /// What level 3 of the library gets wrong on big-endian hosts: short repetitions at any
    /// distance, among other bytes.
    fn repetitive(nbytes: usize, seed: u64) -> Vec<u8> {
        let spec = json!({"kind": "rand", "nbytes": nbytes, "seed": seed});
        let mut bytes = generate(&spec).unwrap();
        for at in (64..nbytes.saturating_sub(64)).step_by(24) {
            let len = 4 + usize::from(bytes[at] % 12);
            let distance = 1 + usize::from(bytes[at + 1]) % at;
            (at..at + len).for_each(|to| bytes[to] = bytes[to - distance]);
        }
        bytes
    }

    fn assert_decodes(src: &[u8], level: u8, dict: Option<(&EncodeDict, &DecodeDict)>) {
        let mut frame = vec![0; src.len() + 1000];
        let encoded = Encoder::new().compress(src, dict.map(|dict| dict.0), &mut frame, level);
        let len = encoded.unwrap_or_else(|| panic!("level {level}: {} bytes were given up", src.len()));
        let mut out = vec![0; src.len()];
        let decoded = Decoder::new().decompress(&frame[..len], dict.map(|dict| dict.1), &mut out);
        assert_eq!(decoded.unwrap(), src.len(), "level {level}");
        assert!(out == src, "level {level}: {} bytes decode to others", src.len());
    }

    #[test]
    fn streams_decode_to_what_was_compressed_on_every_host() {
        for seed in 0..400 {
            let src = repetitive(700 + 37 * usize::try_from(seed).unwrap(), seed);
            assert_decodes(&src, 2, None);
            if seed % 20 == 0 {
                (1..=9).for_each(|level| assert_decodes(&src, level, None));
            }
        }
    }

    #[test]
    fn streams_with_a_dictionary_decode_to_what_was_compressed_on_every_host() {
        let samples = repetitive(200_000, 7);
        let dict = train(&samples, &[2000; 100], 8192).unwrap();
        let decode = DecodeDict::new(&dict).unwrap();
        for level in 1..=9 {
            let encode = EncodeDict::new(&dict, level).unwrap();
            for src in samples.chunks(2000).take(20) {
                assert_decodes(src, level, Some((&encode, &decode)));
            }
        }
    }

    #[test]
    fn what_was_compressed_before_leaves_no_trace() {
        let sources = [mixed(300_000), mixed(5000), noise(70_000)];
        for level in [1, 4, 9] {
            let alone: Vec<Vec<u8>> = sources
                .iter()
                .map(|src| std::thread::scope(|scope| scope.spawn(|| compressed(src, level)).join().unwrap()))
                .collect();
            for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
                for index in order {
                    assert!(compressed(&sources[index], level) == alone[index], "level {level}, source {index}");
                }
            }
        }
    }
}
