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

/// Short chunks are measured on so much data, one chunk after the other: the branches of a single one, done over and over, a
/// processor learns by heart, which no program but a benchmark lets it do.
const ALL_BYTES: usize = 1 << 20;

/// How many bytes of a data set chunks of `len` bytes are made from.
pub(crate) fn nbytes(len: usize) -> usize {
    len * (ALL_BYTES / len).max(1)
}

/// Measures chunks of `len` bytes of a data set in one configuration, both ways.
pub(crate) fn rows(peer: &Peer, effort: Effort, data: &DataSet, len: usize, case: Case) -> Vec<Row> {
    let effort = if case.threads > 1 { effort.with_rest() } else { effort }.in_step();
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
    let buffers: Vec<Aligned> = data.bytes.chunks(len).map(|buffer| Aligned::of(buffer, 64)).collect();
    let (mut ours, mut theirs) = (Aligned::new(len + 32, 1088), Aligned::new(len + 32, 1088));
    let mut compressor = Compressor::new(options.clone()).expect("good options");
    let mut context = peer.compressor(params);
    let (mut our_turn, mut their_turn) = (turns(buffers.len()), turns(buffers.len()));
    let pair = compare(
        effort,
        || {
            compressor.compress_into(buffers[our_turn()].as_ref(), ours.as_mut()).expect("room enough");
        },
        || {
            context.compress(buffers[their_turn()].as_ref(), theirs.as_mut());
        },
    );
    let label = label(case.codec);
    let name = format!("{} {label} {} {} {} KiB {}T", data.name, case.level, case.filter, len >> 10, case.threads);
    let group = format!("{label} {} {}T", case.filter, case.threads);
    let (mut our_len, mut chunks) = (0, Vec::new());
    for buffer in &buffers {
        our_len += compressor.compress_into(buffer.as_ref(), ours.as_mut()).expect("room enough");
        let their_len = context.compress(buffer.as_ref(), theirs.as_mut());
        // Both read what C wrote, each from a place of its own.
        chunks.push([(); 2].map(|()| Aligned::of(&theirs.as_ref()[..their_len], 128)));
    }
    let their_len: usize = chunks.iter().map(|[chunk, _]| chunk.as_ref().len()).sum();
    let size = Some(our_len as f64 / their_len as f64);
    let compress = Row { area: "compress", name: name.clone(), group: group.clone(), nbytes: len, pair, size };
    let (mut ours, mut theirs) = (Aligned::new(len, 1088), Aligned::new(len, 1088));
    let mut decompressor = Decompressor::new().with_threads(Threads::at_most(case.threads.into()));
    let mut context = peer.decompressor(case.threads.into());
    let pair = compare(
        effort,
        || {
            decompressor.decompress_into(chunks[our_turn()][0].as_ref(), ours.as_mut()).expect("a good chunk");
        },
        || {
            context.decompress(chunks[their_turn()][1].as_ref(), theirs.as_mut());
        },
    );
    for (buffer, [chunk, same]) in buffers.iter().zip(&chunks) {
        decompressor.decompress_into(chunk.as_ref(), ours.as_mut()).expect("a good chunk");
        context.decompress(same.as_ref(), theirs.as_mut());
        let is_back = ours.as_ref() == buffer.as_ref() && theirs.as_ref() == buffer.as_ref();
        assert!(is_back, "{name}: the data did not come back");
    }
    vec![compress, Row { area: "decompress", name, group, nbytes: len, pair, size: None }]
}

/// 0, 1 and so on up to `count`, over and over.
fn turns(count: usize) -> impl FnMut() -> usize {
    let mut next = 0;
    move || {
        next += 1;
        (next - 1) % count
    }
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
