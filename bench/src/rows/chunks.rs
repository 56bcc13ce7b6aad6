//! Whole chunks, compressed and decompressed.

use super::{Aligned, Row};
use crate::data::DataSet;
use crate::grid::Case;
use crate::measure::{Effort, Pair, compare};
use blosc_oxide::{Codec, Compressor, Decompressor, Filter, Format, Options, Threads};

/// Short chunks are measured on so much data, one chunk after the other: the branches of a single
/// one, done over and over, a processor learns by heart, which no program but a benchmark lets it
/// do.
const ALL_BYTES: usize = 1 << 20;

/// A library to compare with, set up for one configuration.
pub(crate) trait ChunkLibrary {
    /// Compresses `src` into `dst` and returns the length.
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize;
    /// Decompresses `src` into `dst`.
    fn decompress(&mut self, src: &[u8], dst: &mut [u8]);
}

/// What one configuration is measured on.
struct Contest<'d> {
    data: &'d DataSet,
    case: Case,
    format: Format,
    effort: Effort,
    len: usize,
    buffers: Vec<Aligned>,
}

/// What both have made of the buffers.
struct Compressed {
    pair: Pair,
    our_len: usize,
    /// What the other library wrote: twice, so that each side reads from a place of its own.
    chunks: Vec<[Aligned; 2]>,
}

/// Measures chunks of a data set in one configuration, both ways.
pub(crate) fn rows(
    effort: Effort,
    data: &DataSet,
    case: Case,
    format: Format,
    library: &mut impl ChunkLibrary,
) -> [Row; 2] {
    let effort = if case.threads > 1 { effort.with_rest() } else { effort }.in_step();
    let chunks = data.chunks(case.len, ALL_BYTES);
    let buffers = chunks.iter().map(|buffer| Aligned::of(buffer, 64)).collect();
    let contest = Contest { data, case, format, effort, len: data.chunk_len(case.len), buffers };
    let compressed = contest.compress(library);
    let decompressed = contest.decompress(library, &compressed.chunks);
    let their_len: usize = compressed.chunks.iter().map(|[chunk, _]| chunk.as_ref().len()).sum();
    let [compress, decompress] = areas(format);
    [
        contest.row(compress, compressed.pair, Some(compressed.our_len as f64 / their_len as f64)),
        contest.row(decompress, decompressed, None),
    ]
}

fn areas(format: Format) -> [&'static str; 2] {
    match format {
        Format::Blosc1 => ["blosc1 compress", "blosc1 decompress"],
        _ => ["compress", "decompress"],
    }
}

impl Contest<'_> {
    fn options(&self) -> Options {
        Options::new(self.data.typesize)
            .with_codec(codec(self.case.codec))
            .with_level(self.case.level)
            .with_filters(filter(self.case.filter))
            .with_format(self.format)
            .with_threads(self.threads())
    }

    fn threads(&self) -> Threads {
        Threads::at_most(self.case.threads.into())
    }

    fn compress(&self, library: &mut impl ChunkLibrary) -> Compressed {
        let mut compressor = Compressor::new(self.options()).expect("good options");
        let (mut ours, mut theirs) = (Aligned::new(self.len + 32, 1088), Aligned::new(self.len + 32, 1088));
        let (mut our_turn, mut their_turn) = (turns(self.buffers.len()), turns(self.buffers.len()));
        let (mut our_len, mut their_len) = (0, 0);
        let pair = compare(
            self.effort,
            || our_len = compressor.compress_into(self.buffers[our_turn()].as_ref(), ours.as_mut()).expect("room"),
            || their_len = library.compress(self.buffers[their_turn()].as_ref(), theirs.as_mut()),
        );
        let twice = |chunk: &[u8]| [(); 2].map(|()| Aligned::of(chunk, 128));
        if self.buffers.len() == 1 {
            // Both have it already, and some levels take seconds.
            return Compressed { pair, our_len, chunks: vec![twice(&theirs.as_ref()[..their_len])] };
        }
        let (mut our_len, mut chunks) = (0, Vec::new());
        for buffer in &self.buffers {
            our_len += compressor.compress_into(buffer.as_ref(), ours.as_mut()).expect("room");
            let their_len = library.compress(buffer.as_ref(), theirs.as_mut());
            chunks.push(twice(&theirs.as_ref()[..their_len]));
        }
        Compressed { pair, our_len, chunks }
    }

    /// Both read what the other library wrote.
    fn decompress(&self, library: &mut impl ChunkLibrary, chunks: &[[Aligned; 2]]) -> Pair {
        let (mut ours, mut theirs) = (Aligned::new(self.len, 1088), Aligned::new(self.len, 1088));
        let mut decompressor = Decompressor::new().with_threads(self.threads());
        let (mut our_turn, mut their_turn) = (turns(chunks.len()), turns(chunks.len()));
        let pair = compare(
            self.effort,
            || {
                decompressor.decompress_into(chunks[our_turn()][0].as_ref(), ours.as_mut()).expect("a good chunk");
            },
            || library.decompress(chunks[their_turn()][1].as_ref(), theirs.as_mut()),
        );
        for (buffer, [chunk, same]) in self.buffers.iter().zip(chunks) {
            decompressor.decompress_into(chunk.as_ref(), ours.as_mut()).expect("a good chunk");
            library.decompress(same.as_ref(), theirs.as_mut());
            let is_back = ours.as_ref() == buffer.as_ref() && theirs.as_ref() == buffer.as_ref();
            assert!(is_back, "{}: the data did not come back", self.name());
        }
        pair
    }

    fn name(&self) -> String {
        let Case { codec, level, filter, threads, .. } = self.case;
        format!("{} {} {level} {filter} {} KiB {threads}T", self.data.name, label(codec), self.len.div_ceil(1024))
    }

    fn row(&self, area: &'static str, pair: Pair, size: Option<f64>) -> Row {
        let Case { codec, filter, threads, .. } = self.case;
        let group = format!("{} {filter} {threads}T", label(codec));
        Row { area, name: self.name(), group, nbytes: self.len, pair, size }
    }
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

/// The codec with this name.
pub(crate) fn codec(name: &str) -> Codec {
    Codec::from_name(name).expect("a codec that is built in")
}

/// The filter with this name.
pub(crate) fn filter(name: &str) -> Option<Filter> {
    match name {
        "shuffle" => Some(Filter::Shuffle),
        "bitshuffle" => Some(Filter::BitShuffle),
        _ => None,
    }
}
