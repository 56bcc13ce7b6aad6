//! zfp: blocks of floats as small arrays of 1 to 4 dimensions, with a loss that the meta byte
//! bounds. `zfp-rs` does the work; here are the parameters, the shape of the block, and the order
//! of bytes, which is the same on every machine.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::{Codec, CodecContext};
use crate::error::{Result, bail, error};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zfp_rs::{
    ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpConfig, ZfpDimensionality, ZfpField, ZfpFieldMut, ZfpScalar, ZfpScalarType,
    ZfpStreamAlignment,
};

/// The most dimensions that zfp knows.
const MAX_DIMS: usize = 4;
/// zfp cuts blocks into cells of so many items along each axis. C-Blosc2 writes no smaller blocks.
const CELL: usize = 4;
const FLOAT: usize = size_of::<f32>();
const DOUBLE: usize = size_of::<f64>();
const WORD: usize = size_of::<u64>();

/// What a worker keeps between streams.
#[derive(Default)]
pub(super) struct Room {
    words: Vec<u64>,
    floats: Vec<f32>,
    doubles: Vec<f64>,
}

/// A block as zfp sees it.
struct Block {
    /// The lengths along the axes, the last of them first, and zeros behind them.
    lens: [usize; MAX_DIMS],
    scalar: ZfpScalarType,
    config: ZfpConfig,
}

impl Block {
    /// The block of `nbytes` bytes that a stream stands for.
    fn new(codec: Codec, context: CodecContext<'_>, nbytes: usize) -> Result<Self> {
        let typesize = context.typesize;
        let Some(shape) = context.block_shape else {
            bail!(InvalidArgument, "{codec}: the shape of blocks is not known, which arrays have, and no other frames");
        };
        let (dims, guard_bits) = match shape.len() {
            1 => (ZfpDimensionality::D1, 5),
            2 => (ZfpDimensionality::D2, 7),
            3 => (ZfpDimensionality::D3, 9),
            4 => (ZfpDimensionality::D4, 11),
            ndim => bail!(InvalidArgument, "{codec}: blocks of {ndim} dimensions, there can be 1 to {MAX_DIMS}"),
        };
        let scalar = match typesize {
            FLOAT => ZfpScalarType::F32,
            DOUBLE => ZfpScalarType::F64,
            other => bail!(InvalidArgument, "{codec}: items of {other} bytes, it is for floats of 4 or 8"),
        };
        let expected = shape.iter().try_fold(typesize, |nbytes, &len| nbytes.checked_mul(len));
        if expected != Some(nbytes) || nbytes == 0 {
            bail!(
                InvalidArgument,
                "{codec}: {nbytes} bytes are no block of {shape:?} items of {typesize}, or are a part of it"
            );
        }
        let mut lens = [0; MAX_DIMS];
        lens.iter_mut().zip(shape.iter().rev()).for_each(|(to, &len)| *to = len);
        let config = match codec {
            Codec::ZFP_ACCURACY => ZfpConfig::fixed_accuracy(10_f64.powi(context.meta.cast_signed().into())),
            Codec::ZFP_PRECISION => ZfpConfig::fixed_precision(u32::from(context.meta).saturating_add(guard_bits)),
            _ => {
                let bits = f64::from(context.meta) / 100.0 * if scalar == ZfpScalarType::F32 { 32.0 } else { 64.0 };
                ZfpConfig::fixed_rate(bits, scalar, dims, ZfpStreamAlignment::Unaligned)
                    .map_err(|cause| error!(InvalidArgument, "{codec}: {} %: {cause}", context.meta))?
            }
        };
        Ok(Self { lens, scalar, config })
    }

    fn encode<T: ZfpScalar>(&self, words: &mut Vec<u64>, items: &[T]) -> Result<usize> {
        let room = self.config.maximum_size(self.scalar, self.lens);
        let room = room.ok_or_else(|| error!(LimitExceeded, "zfp: no room for a block of {:?}", self.lens))?;
        words.clear();
        words.resize(room.div_ceil(WORD), 0);
        let field = ZfpField::new(items, self.lens).map_err(|cause| error!(InvalidArgument, "zfp: {cause}"))?;
        let written = ZfpBitStreamRefMut::from_words(words).compress(&self.config, &field);
        written.map_err(|cause| error!(InvalidArgument, "zfp: {cause}"))
    }

    fn decode<T: ZfpScalar>(&self, words: &[u64], items: &mut [T]) -> Result<()> {
        let mut field = ZfpFieldMut::new(items, self.lens).map_err(|cause| error!(Corrupt, "zfp: {cause}"))?;
        let read = ZfpBitStreamRef::from_words(words).decompress(&self.config, &mut field);
        read.map(drop).map_err(|cause| error!(Corrupt, "zfp: {cause}"))
    }
}

/// Compresses the block `src` into `dst`; `None` when the result is longer than `dst`, or no
/// shorter than `src`.
pub(super) fn compress(
    room: &mut Room,
    codec: Codec,
    src: &[u8],
    dst: &mut [u8],
    context: CodecContext<'_>,
) -> Result<Option<usize>> {
    let block = Block::new(codec, context, src.len())?;
    if let Some(len) = block.lens.iter().copied().find(|len| (1..CELL).contains(len)) {
        bail!(InvalidArgument, "{codec}: a block has {len} items along one axis, it takes {CELL} or more");
    }
    let Room { words, floats, doubles } = room;
    let len = caught(|| match block.scalar {
        ZfpScalarType::F32 => {
            floats.clear();
            floats.extend(src.as_chunks().0.iter().copied().map(f32::from_le_bytes));
            block.encode(words, floats)
        }
        _ => {
            doubles.clear();
            doubles.extend(src.as_chunks().0.iter().copied().map(f64::from_le_bytes));
            block.encode(words, doubles)
        }
    })?;
    let Some(out) = dst.get_mut(..len).filter(|_| len < src.len()) else { return Ok(None) };
    for (to, word) in out.chunks_mut(WORD).zip(words) {
        to.copy_from_slice(word.to_le_bytes().get(..to.len()).unwrap_or_default());
    }
    Ok(Some(len))
}

/// Decompresses `src` into the block `dst`, and returns how long that is.
pub(super) fn decompress(
    room: &mut Room,
    codec: Codec,
    src: &[u8],
    dst: &mut [u8],
    context: CodecContext<'_>,
) -> Result<usize> {
    if context.block_shape.is_none() {
        bail!(Unsupported, "{codec}: the shape of blocks is not known, which arrays have, and no other frames");
    }
    // What the caller of an encoder has chosen is what a decoder finds in a chunk.
    let block = Block::new(codec, context, dst.len()).map_err(|cause| error!(Corrupt, "{cause}"))?;
    let Room { words, floats, doubles } = room;
    let (whole, rest) = src.as_chunks();
    words.clear();
    words.extend(whole.iter().copied().map(u64::from_le_bytes));
    if !rest.is_empty() {
        let mut last = [0; WORD];
        last.iter_mut().zip(rest).for_each(|(to, &byte)| *to = byte);
        words.push(u64::from_le_bytes(last));
    }
    caught(|| match block.scalar {
        ZfpScalarType::F32 => {
            floats.clear();
            floats.resize(dst.len().div_euclid(FLOAT), 0.0);
            block.decode(words, floats)?;
            dst.as_chunks_mut().0.iter_mut().zip(floats).for_each(|(to, item)| *to = item.to_le_bytes());
            Ok(dst.len())
        }
        _ => {
            doubles.clear();
            doubles.resize(dst.len().div_euclid(DOUBLE), 0.0);
            block.decode(words, doubles)?;
            dst.as_chunks_mut().0.iter_mut().zip(doubles).for_each(|(to, item)| *to = item.to_le_bytes());
            Ok(dst.len())
        }
    })
}

/// `zfp-rs` promises not to panic. Should it do so all the same, one stream has failed, and not the
/// program.
fn caught<T>(action: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = catch_unwind(AssertUnwindSafe(action));
    result.unwrap_or_else(|_| Err(error!(Corrupt, "zfp: the codec has panicked")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn context(meta: u8, typesize: usize, shape: &[usize]) -> CodecContext<'_> {
        CodecContext { meta, level: 5, typesize, block_shape: Some(shape) }
    }

    fn floats(shape: &[usize]) -> Vec<f32> {
        (0..shape.iter().product::<usize>()).map(|i| (i as f32 / 50.0).sin() * 100.0).collect()
    }

    #[test]
    fn blocks_of_one_to_four_dimensions_come_back_within_the_tolerance() {
        for shape in [&[1000][..], &[40, 24], &[12, 8, 12], &[8, 8, 8, 8]] {
            let items = floats(shape);
            let src: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
            for (codec, meta, tolerance) in
                [(Codec::ZFP_ACCURACY, 254_u8, 0.01), (Codec::ZFP_PRECISION, 12, 0.5), (Codec::ZFP_RATE, 60, 1.0)]
            {
                let (mut packed, mut back) = (vec![0; src.len()], vec![0; src.len()]);
                let context = context(meta, 4, shape);
                let len = compress(&mut Room::default(), codec, &src, &mut packed, context).unwrap().unwrap();
                assert!(len < src.len(), "{codec} {shape:?}");
                let room = &mut Room::default();
                assert_eq!(decompress(room, codec, &packed[..len], &mut back, context).unwrap(), src.len());
                let found = back.as_chunks().0.iter().copied().map(f32::from_le_bytes);
                let worst = found.zip(&items).map(|(found, item)| (found - item).abs()).fold(0.0, f32::max);
                assert!(worst <= tolerance, "{codec} {shape:?}: {worst}");
            }
        }
    }

    #[test]
    fn what_zfp_cannot_hold_is_an_error() {
        let refused = |context: CodecContext<'_>, nbytes: usize| {
            let (src, mut dst) = (vec![0; nbytes], vec![0; nbytes]);
            let error = compress(&mut Room::default(), Codec::ZFP_RATE, &src, &mut dst, context).unwrap_err();
            (error.kind(), error.to_string())
        };
        let (kind, text) = refused(context(50, 2, &[8, 8]), 128);
        assert_eq!(
            (kind, &*text),
            (ErrorKind::InvalidArgument, "zfp_rate: items of 2 bytes, it is for floats of 4 or 8")
        );
        assert_eq!(refused(context(50, 4, &[8; 5]), 4 * 8_usize.pow(5)).0, ErrorKind::InvalidArgument);
        assert_eq!(refused(context(50, 4, &[8, 3]), 96).0, ErrorKind::InvalidArgument);
        assert_eq!(refused(context(50, 4, &[8, 8]), 128).0, ErrorKind::InvalidArgument);
        assert_eq!(
            refused(CodecContext { block_shape: None, ..context(50, 4, &[]) }, 256).0,
            ErrorKind::InvalidArgument
        );
    }

    #[test]
    fn a_chunk_of_what_zfp_cannot_hold_is_corrupt() {
        for (context, nbytes) in [
            (context(50, 2, &[8, 8]), 128),
            (context(50, 4, &[8; 5]), 4 * 8_usize.pow(5)),
            (context(50, 4, &[8, 8]), 128),
        ] {
            let mut dst = vec![0; nbytes];
            match decompress(&mut Room::default(), Codec::ZFP_RATE, &[0; 8], &mut dst, context) {
                Ok(_) => panic!("{:?} of {} bytes", context.block_shape, context.typesize),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
            }
        }
    }

    #[test]
    fn any_stream_decodes_or_is_corrupt() {
        let mut rng = testkit::Rng::new(1);
        let (mut good, mut bad, room) = (0, 0, &mut Room::default());
        for round in 0..30_000 {
            let shape: Vec<usize> = (0..=rng.below(4)).map(|_| 1 + rng.below(9)).collect();
            let (typesize, meta) = ([4, 8][round % 2], rng.byte());
            let codec = [Codec::ZFP_ACCURACY, Codec::ZFP_PRECISION, Codec::ZFP_RATE][round % 3];
            let mut dst = vec![0; shape.iter().product::<usize>() * typesize];
            let mask = [0xff, 0x11, 0][rng.below(3)];
            let src: Vec<u8> = (0..rng.below(dst.len() + 9)).map(|_| rng.byte() & mask).collect();
            match decompress(room, codec, &src, &mut dst, context(meta, typesize, &shape)) {
                Ok(_) => good += 1,
                Err(error) => {
                    bad += 1;
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    assert!(!error.to_string().contains("panicked"), "{codec}:{meta} {shape:?} {typesize} {src:?}");
                }
            }
        }
        assert!(good > 1000 && bad > 1000, "{good} {bad}");
    }

    #[test]
    fn a_cut_stream_is_an_error() {
        let (shape, meta) = (&[16, 16][..], 253);
        let src: Vec<u8> = floats(shape).iter().flat_map(|item| item.to_le_bytes()).collect();
        let mut packed = vec![0; src.len()];
        let room = &mut Room::default();
        let len = compress(room, Codec::ZFP_ACCURACY, &src, &mut packed, context(meta, 4, shape)).unwrap().unwrap();
        for cut in [0, 8, len / 2, len - 8] {
            let mut back = vec![0; src.len()];
            let error = decompress(room, Codec::ZFP_ACCURACY, &packed[..cut], &mut back, context(meta, 4, shape));
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{cut} of {len}");
        }
    }
}
