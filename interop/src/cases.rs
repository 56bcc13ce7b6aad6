//! The chunks that we write: every value of every option many times over, in ever new company.

use blosc_oxide::{Codec, Compressor, Filter, Format, Options, Special, SplitMode};
use testkit::Rng;
use testkit::formula::generate;
use testkit::serde_json::json;

const TYPESIZES: [usize; 21] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 255, 256, 1000];
const SMALL_SIZES: [usize; 14] = [0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 100, 127, 128, 129];
/// Most chunks are of these, because most small ones are stored as they are.
const LARGE_SIZES: [usize; 9] = [255, 1000, 1001, 4099, 10_000, 32_768, 40_001, 100_003, 262_147];
const BLOSC2_CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
const BLOSC1_CODECS: [Codec; 6] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd, Codec::Snappy];
const SPLIT_MODES: [SplitMode; 4] = [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat];
const BLOCKSIZES: [Option<usize>; 6] = [None, None, None, Some(500), Some(4096), Some(65_536)];

/// A chunk, and what it decodes to.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) format: &'static str,
    pub(crate) chunk: Vec<u8>,
    pub(crate) plain: Vec<u8>,
}

/// All chunks.
pub(crate) fn all() -> Vec<Case> {
    let mut rng = Rng::new(2);
    let mut cases: Vec<Case> = (0..3000).map(|_| blosc2(&mut rng)).collect();
    cases.extend((0..2000).map(|_| blosc1(&mut rng)));
    cases.extend((0..300).map(|_| vlblocks(&mut rng)));
    cases.extend(special());
    cases
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len())]
}

fn any_level(rng: &mut Rng) -> u8 {
    // Level 0 only stores: seldom is enough.
    if rng.below(30) == 0 { 0 } else { 1 + rng.byte() % 9 }
}

fn any_size(rng: &mut Rng) -> usize {
    if rng.below(4) == 0 { pick(rng, &SMALL_SIZES) } else { pick(rng, &LARGE_SIZES) }
}

/// Data from very compressible to not at all.
fn any_data(rng: &mut Rng, nbytes: usize, typesize: usize) -> Vec<u8> {
    let (seed, width) = (rng.next_u64() >> 1, typesize.min(8));
    let spec = match rng.below(9) {
        0 => json!({"kind": "rand", "nbytes": nbytes, "seed": seed}),
        1 => json!({"kind": "const", "a": rng.byte(), "nbytes": nbytes}),
        2 => json!({"kind": "zeros", "nbytes": nbytes}),
        3 => json!({"kind": "text", "nbytes": nbytes, "seed": seed}),
        4 => json!({"kind": "ramp", "nbytes": nbytes, "w": width, "b": 3}),
        5 => json!({"kind": "lowent", "nbytes": nbytes, "w": width, "seed": seed, "m": 5}),
        6 => json!({"kind": "walk", "nbytes": nbytes, "w": width, "seed": seed}),
        7 => json!({"kind": "record", "nbytes": nbytes, "w": typesize, "seed": seed % 1000}),
        _ => json!([{"kind": "walk", "nbytes": nbytes / 2, "w": width, "seed": seed},
                    {"kind": "rand", "nbytes": nbytes - nbytes / 2, "seed": seed}]),
    };
    generate(&spec).expect("a formula")
}

/// One or two filters; with three, C-Blosc2 is not to be trusted. Bytedelta names its planes,
/// because a chunk outside of a super-chunk has no other place to tell C-Blosc2 of them.
fn any_filters(rng: &mut Rng, typesize: usize) -> Vec<Filter> {
    let planes = u8::try_from(typesize).unwrap_or(4);
    let choices = [
        vec![],
        vec![Filter::Shuffle],
        vec![Filter::Shuffle],
        vec![Filter::BitShuffle],
        vec![Filter::BitShuffle],
        vec![Filter::Delta],
        vec![Filter::Delta, Filter::Shuffle],
        vec![Filter::Delta, Filter::BitShuffle],
        vec![Filter::Shuffle, Filter::ByteDelta(planes)],
        vec![Filter::BitShuffle, Filter::ByteDelta(planes)],
        vec![Filter::ByteDelta(planes)],
        vec![Filter::ShuffleGroups(4)],
        vec![Filter::Shuffle, Filter::BitShuffle],
        vec![Filter::IntTrunc(5), Filter::Shuffle],
        vec![Filter::TruncPrec(10), Filter::BitShuffle],
        vec![Filter::TruncPrec(-5), Filter::Shuffle],
    ];
    let filters = choices[rng.below(choices.len())].clone();
    let is_allowed = filters.iter().all(|filter| match filter {
        Filter::TruncPrec(_) => matches!(typesize, 4 | 8),
        Filter::IntTrunc(_) => matches!(typesize, 1 | 2 | 4 | 8),
        _ => true,
    });
    if is_allowed { filters } else { vec![Filter::Shuffle] }
}

fn blosc2(rng: &mut Rng) -> Case {
    let (typesize, nbytes) = (pick(rng, &TYPESIZES), any_size(rng));
    let (codec, filters) = (pick(rng, &BLOSC2_CODECS), any_filters(rng, typesize));
    let takes_dict = matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd);
    let is_lossy = matches!(filters[..], [Filter::TruncPrec(_) | Filter::IntTrunc(_), ..]);
    let options = Options::new(typesize)
        .with_codec(codec)
        .with_level(any_level(rng))
        .with_filters(filters)
        .with_split(pick(rng, &SPLIT_MODES))
        .with_blocksize(pick(rng, &BLOCKSIZES))
        .with_dict(takes_dict && rng.below(4) == 0);
    let mut case = case("blosc2", &options, &any_data(rng, nbytes, typesize));
    if is_lossy {
        case.plain = blosc_oxide::decompress(&case.chunk).expect("we read what we wrote");
    }
    case
}

fn blosc1(rng: &mut Rng) -> Case {
    let (typesize, nbytes) = (pick(rng, &TYPESIZES), any_size(rng));
    let filters = [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]];
    let options = Options::new(typesize)
        .with_format(Format::Blosc1)
        .with_codec(pick(rng, &BLOSC1_CODECS))
        .with_level(any_level(rng))
        .with_filters(filters[rng.below(3)].clone())
        .with_split(pick(rng, &SPLIT_MODES))
        .with_blocksize(pick(rng, &BLOCKSIZES));
    case("blosc1", &options, &any_data(rng, nbytes, typesize))
}

fn case(format: &'static str, options: &Options, data: &[u8]) -> Case {
    let name = format!("{format} {} bytes with {options:?}", data.len());
    let chunk = blosc_oxide::compress(data, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    Case { name, format, chunk, plain: data.to_vec() }
}

fn vlblocks(rng: &mut Rng) -> Case {
    let (typesize, codec) = (pick(rng, &TYPESIZES[..17]), pick(rng, &BLOSC2_CODECS));
    let takes_dict = matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd);
    let filters = [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]];
    let options = Options::new(typesize)
        .with_codec(codec)
        .with_level(1 + rng.byte() % 9)
        .with_filters(filters[rng.below(3)].clone())
        .with_dict(takes_dict && rng.below(2) == 0);
    let blocks: Vec<Vec<u8>> = (0..1 + rng.below(40))
        .map(|_| {
            let nbytes = 1 + rng.below(3000);
            any_data(rng, nbytes, typesize)
        })
        .collect();
    let name = format!("{} variable-length blocks with {options:?}", blocks.len());
    let slices: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    let chunk = Compressor::new(options).and_then(|mut compressor| compressor.compress_vlblocks(&slices));
    Case {
        chunk: chunk.unwrap_or_else(|error| panic!("{name}: {error}")),
        name,
        format: "blosc2",
        plain: blocks.concat(),
    }
}

fn special() -> Vec<Case> {
    let mut cases = Vec::new();
    for typesize in [1, 4, 8, 16, 255, 300] {
        let value: Vec<u8> = (0..typesize).map(|i: usize| (i as u64).to_le_bytes()[0] ^ 0x35).collect();
        for items in [1, 9, 10_000] {
            cases.push(special_case(Special::Zeros, &vec![0; typesize], items));
            cases.push(special_case(Special::Value, &value, items));
        }
    }
    for items in [1, 9, 10_000] {
        cases.push(special_case(Special::NaN, &0x7fc0_0000_u32.to_le_bytes(), items));
        cases.push(special_case(Special::NaN, &0x7ff8_0000_0000_0000_u64.to_le_bytes(), items));
    }
    cases
}

fn special_case(special: Special, item: &[u8], items: usize) -> Case {
    let (plain, options) = (item.repeat(items), Options::new(item.len()));
    let chunk = match special {
        Special::Value => blosc_oxide::fill_chunk(item, plain.len(), &options),
        _ => blosc_oxide::special_chunk(special, plain.len(), &options),
    };
    let name = format!("special {special:?}, typesize {}, {items} items", item.len());
    Case { chunk: chunk.unwrap_or_else(|error| panic!("{name}: {error}")), name, format: "blosc2", plain }
}
