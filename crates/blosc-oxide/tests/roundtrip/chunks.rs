//! Whatever the data and the options, what was compressed comes back.

use blosc_oxide::{Chunk, Codec, Compressor, Decompressor, Filter, Format, Options, SplitMode};
use proptest::prelude::*;
use proptest::sample::select;
use testkit::Rng;

const BUILT_IN: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
const SPLIT_MODES: [SplitMode; 4] = [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat];

/// Data from very compressible to not at all, of any length.
fn any_data() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![4 => 0..300_usize, 4 => 300..20_000_usize, 1 => 100_000..300_000_usize];
    (len, 0..7_u8, any::<u64>(), 1..20_usize).prop_map(|(len, kind, seed, period)| {
        let mut rng = Rng::new(seed);
        let mut walk = 0_u8;
        (0..len)
            .map(|i| match kind {
                0 => rng.byte(),
                1 => seed.to_le_bytes()[0],
                2 => u8::try_from(i % period).unwrap(),
                3 => rng.byte() % 3,
                4 => (i as u64 / period as u64).to_le_bytes()[i % period.min(8)],
                5 if i % (period * 512) < period * 256 => rng.byte(),
                5 => 0,
                _ => {
                    walk = walk.wrapping_add(rng.byte() % 3).wrapping_sub(1);
                    walk
                }
            })
            .collect()
    })
}

fn any_typesize() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1..=33_usize, 2 => 1..=255_usize, 2 => select(vec![255, 256, 257, 300, 1000, 70_000])]
}

/// Filters that lose nothing. Delta only comes first, since it can be undone nowhere else.
fn lossless_filters() -> impl Strategy<Value = Vec<Filter>> {
    let filter = prop_oneof![
        Just(Filter::Shuffle),
        Just(Filter::BitShuffle),
        (1..=255_u8).prop_map(Filter::ShuffleGroups),
        any::<u8>().prop_map(Filter::ByteDelta),
    ];
    (any::<bool>(), prop::collection::vec(filter, 0..=5)).prop_map(|(delta, mut filters)| {
        if delta {
            filters.insert(0, Filter::Delta);
        }
        filters
    })
}

fn any_blocksize() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![3 => Just(None), 1 => (1..100_usize).prop_map(Some), 2 => (100..70_000_usize).prop_map(Some)]
}

fn blosc2_options() -> impl Strategy<Value = Options> {
    let first = (any_typesize(), select(BUILT_IN.to_vec()), 0..=9_u8, lossless_filters());
    let second = (select(SPLIT_MODES.to_vec()), any_blocksize(), any::<bool>());
    (first, second).prop_map(|((typesize, codec, level, mut filters), (split, blocksize, dict))| {
        if typesize > 255 {
            // No header can say how many planes those would be.
            filters.retain(|filter| *filter != Filter::ByteDelta(0));
        }
        let takes_dict = matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd);
        Options::new(typesize)
            .with_codec(codec)
            .with_level(level)
            .with_filters(filters)
            .with_split(split)
            .with_blocksize(blocksize)
            .with_dict(dict && takes_dict)
    })
}

fn blosc1_options() -> impl Strategy<Value = Options> {
    let codecs = [&BUILT_IN[..], &[Codec::Snappy]].concat();
    let filters = select(vec![vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]]);
    let first = (any_typesize(), select(codecs), 0..=9_u8, filters);
    (first, select(SPLIT_MODES.to_vec()), any_blocksize()).prop_map(
        |((typesize, codec, level, filters), split, blocksize)| {
            Options::new(typesize)
                .with_format(Format::Blosc1)
                .with_codec(codec)
                .with_level(level)
                .with_filters(filters)
                .with_split(split)
                .with_blocksize(blocksize)
        },
    )
}

/// The chunk comes back whole, and any part of it comes back alone.
fn check(data: &[u8], options: &Options, cut: (f64, f64)) -> Result<(), TestCaseError> {
    let bytes = blosc_oxide::compress(data, options).unwrap();
    prop_assert!(blosc_oxide::decompress(&bytes).unwrap() == data, "other bytes");
    let chunk = Chunk::parse(&bytes).unwrap();
    prop_assert_eq!(chunk.header().cbytes(), bytes.len());
    prop_assert_eq!(chunk.header().nbytes(), data.len());
    let (from, to) = (part_of(data.len(), cut.0), part_of(data.len(), cut.1));
    let range = from.min(to)..from.max(to);
    prop_assert!(chunk.bytes(range.clone()).unwrap() == data[range], "other bytes in a part");
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "any place")]
fn part_of(len: usize, fraction: f64) -> usize {
    ((len as f64 * fraction) as usize).min(len)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn blosc2_chunks_come_back(data in any_data(), options in blosc2_options(), cut in (0.0..=1.0, 0.0..=1.0)) {
        check(&data, &options, cut)?;
    }

    #[test]
    fn blosc1_chunks_come_back(data in any_data(), options in blosc1_options(), cut in (0.0..=1.0, 0.0..=1.0)) {
        check(&data, &options, cut)?;
    }

    #[test]
    fn one_compressor_does_for_buffers_of_any_size(
        buffers in prop::collection::vec(any_data(), 1..5),
        options in blosc2_options(),
    ) {
        let mut compressor = Compressor::new(options).unwrap();
        let mut decompressor = Decompressor::new();
        for data in &buffers {
            let chunk = compressor.compress(data).unwrap();
            prop_assert!(&decompressor.decompress(&chunk).unwrap() == data, "other bytes");
        }
    }

    #[test]
    fn lossy_filters_lose_only_once(
        data in any_data(),
        (typesize, filter) in prop_oneof![
            (select(vec![4_usize, 8]), (1..=20_i8).prop_map(Filter::TruncPrec)),
            (select(vec![4_usize, 8]), (-20..=-1_i8).prop_map(Filter::TruncPrec)),
            (select(vec![1_usize, 2, 4, 8]), (1..=7_i8).prop_map(Filter::IntTrunc)),
            (select(vec![1_usize, 2, 4, 8]), (-7..=-1_i8).prop_map(Filter::IntTrunc)),
        ],
        codec in select(BUILT_IN.to_vec()),
    ) {
        let options = Options::new(typesize).with_codec(codec).with_filters([filter, Filter::Shuffle]);
        let once = blosc_oxide::decompress(&blosc_oxide::compress(&data, &options).unwrap()).unwrap();
        let twice = blosc_oxide::decompress(&blosc_oxide::compress(&once, &options).unwrap()).unwrap();
        prop_assert_eq!(once.len(), data.len());
        let whole = data.len() / typesize * typesize;
        prop_assert_eq!(&once[whole..], &data[whole..], "what is no whole item is not touched");
        prop_assert!(once == twice, "the second time changed something");
    }
}

#[test]
fn every_codec_level_and_filter_comes_back_at_every_awkward_size() {
    let filters = [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle], vec![Filter::Delta, Filter::Shuffle]];
    let mut rng = Rng::new(1);
    for size in [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 127, 128, 129, 1001, 4099] {
        let data: Vec<u8> = (0..size).map(|i: usize| (i as u64 / 7).to_le_bytes()[0] ^ (rng.byte() & 1)).collect();
        for codec in BUILT_IN {
            for level in [0, 1, 5, 9] {
                for (filters, typesize) in filters.iter().zip([1, 4, 3, 8]).chain(filters.iter().zip([7, 17, 8, 5])) {
                    let options =
                        Options::new(typesize).with_codec(codec).with_level(level).with_filters(filters.clone());
                    let chunk = blosc_oxide::compress(&data, &options).unwrap();
                    let back = blosc_oxide::decompress(&chunk).unwrap();
                    assert_eq!(back, data, "{codec} {level} {filters:?} typesize {typesize} size {size}");
                }
            }
        }
    }
}
