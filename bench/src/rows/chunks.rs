//! Whole chunks, compressed and decompressed.

use super::{Aligned, Row};
use crate::data::DataSet;
use crate::measure::{Effort, compare};
use crate::peer::{Params, Peer};
use blosc_oxide::{Codec, Compressor, Decompressor, Filter, Options, Threads};

/// The codecs, by the names that both sides use.
pub(crate) const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
/// The filters.
pub(crate) const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];

/// One configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) codec: &'static str,
    pub(crate) level: u8,
    pub(crate) filter: &'static str,
    pub(crate) threads: u8,
}

/// Measures one configuration on one data set, both ways.
pub(crate) fn rows(peer: &Peer, effort: Effort, data: &DataSet, case: Case) -> Vec<Row> {
    let codec = Codec::from_name(case.codec).expect("a codec that is built in");
    let options = Options::new(data.typesize)
        .codec(codec)
        .level(case.level)
        .filters(filter(case.filter))
        .threads(Threads::at_most(case.threads.into()));
    let params = Params {
        codec: codec.code(),
        level: case.level,
        filter: filter(case.filter).map_or(0, Filter::id),
        typesize: data.typesize,
        threads: case.threads.into(),
    };
    let src = Aligned::of(&data.bytes, 64);
    let len = data.bytes.len();
    let (mut ours, mut theirs) = (Aligned::new(len + 32, 1088), Aligned::new(len + 32, 1088));
    let mut compressor = Compressor::new(options.clone()).expect("good options");
    let mut context = peer.compressor(params);
    let (mut our_len, mut their_len) = (0, 0);
    let pair = compare(
        effort,
        || our_len = compressor.compress_into(src.as_ref(), ours.as_mut()).expect("room enough"),
        || their_len = context.compress(src.as_ref(), theirs.as_mut()),
    );
    let label = label(case.codec);
    let name = format!("{} {label} {} {} {} KiB {}T", data.name, case.level, case.filter, len >> 10, case.threads);
    let group = format!("{label} {} {}T", case.filter, case.threads);
    let size = Some(our_len as f64 / their_len as f64);
    let compress = Row { area: "compress", name: name.clone(), group: group.clone(), nbytes: len, pair, size };
    // Both read what C wrote, each from a place of its own.
    let (chunk, same) =
        (Aligned::of(&theirs.as_ref()[..their_len], 128), Aligned::of(&theirs.as_ref()[..their_len], 128));
    let (mut ours, mut theirs) = (Aligned::new(len, 1088), Aligned::new(len, 1088));
    let mut decompressor = Decompressor::new().with_threads(Threads::at_most(case.threads.into()));
    let mut context = peer.decompressor(case.threads.into());
    let pair = compare(
        effort,
        || {
            decompressor.decompress_into(chunk.as_ref(), ours.as_mut()).expect("a good chunk");
        },
        || {
            context.decompress(same.as_ref(), theirs.as_mut());
        },
    );
    assert!(ours.as_ref() == data.bytes && theirs.as_ref() == data.bytes, "{name}: the data did not come back");
    vec![compress, Row { area: "decompress", name, group, nbytes: len, pair, size: None }]
}

/// The codec as the tables name it, which of the two libraries for zstd included.
fn label(codec: &'static str) -> &'static str {
    if codec == "zstd" && cfg!(feature = "zstd-pure") { "zstd-pure" } else { codec }
}

fn filter(name: &str) -> Option<Filter> {
    match name {
        "shuffle" => Some(Filter::Shuffle),
        "bitshuffle" => Some(Filter::BitShuffle),
        _ => None,
    }
}
