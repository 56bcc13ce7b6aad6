//! Chunks on two threads while other programs compute: ours, C-Blosc2's, and ours on one thread.

use super::chunks::{ChunkLibrary, codec, filter};
use super::{Aligned, Row};
use crate::data::DataSet;
use crate::grid::Case;
use crate::measure::{Pair, Samples};
use crate::peer::Peer;
use blosc_oxide::{Compressor, Decompressor, Options, Threads};

/// How fast the slowest row is to be, as a part of C-Blosc2's speed.
pub(crate) const OF_THEIRS: f64 = 0.9;
/// And as a part of our own on one thread.
pub(crate) const OF_ONE_THREAD: f64 = 0.85;

/// How often each side is measured.
const SAMPLES: usize = 21;
/// How often in all if a row is behind after that: two of its three sides share processors with
/// others, which the median of so few runs does not always even out.
const MORE_SAMPLES: usize = 105;
/// Short chunks are different ones in turn, see `chunks`.
const ALL_BYTES: usize = 1 << 20;

/// Measures chunks of a data set both ways, each against both.
pub(crate) fn rows(peer: &Peer, data: &DataSet, case: Case, sample: std::time::Duration) -> Vec<Row> {
    let buffers: Vec<Aligned> =
        data.chunks(case.len, ALL_BYTES).into_iter().map(|buffer| Aligned::of(buffer, 64)).collect();
    let mut theirs = peer.contexts(case, data.typesize);
    let mut out = Aligned::new(data.chunk_len(case.len) + 32, 1088);
    let chunks: Vec<Aligned> = buffers
        .iter()
        .map(|buffer| {
            let len = theirs.compress(buffer.as_ref(), out.as_mut());
            Aligned::of(&out.as_ref()[..len], 128)
        })
        .collect();
    let compressed = compress(&mut theirs, data, case, &buffers, sample);
    let decompressed = decompress(&mut theirs, case, (&chunks, data.chunk_len(case.len)), sample);
    [("compress", compressed), ("decompress", decompressed)]
        .into_iter()
        .flat_map(|(way, samples)| pair_of_rows(data, case, way, &samples))
        .collect()
}

/// How many threads the three sides have: ours, theirs, ours.
const THREADS: [usize; 2] = [2, 1];

fn compress(
    theirs: &mut impl ChunkLibrary,
    data: &DataSet,
    case: Case,
    buffers: &[Aligned],
    sample: std::time::Duration,
) -> Samples<3> {
    let options = Options::new(data.typesize)
        .with_codec(codec(case.codec))
        .with_level(case.level)
        .with_filters(filter(case.filter));
    let [mut ours, mut alone] = THREADS.map(|threads| {
        let options = options.clone().with_threads(Threads::at_most(threads));
        let mut compressor = Compressor::new(options).expect("good options");
        let mut out = Aligned::new(data.chunk_len(case.len) + 32, 1088);
        move || {
            for buffer in buffers {
                compressor.compress_into(buffer.as_ref(), out.as_mut()).expect("room");
            }
        }
    });
    let mut out = Aligned::new(data.chunk_len(case.len) + 32, 1088);
    let mut theirs = || {
        for buffer in buffers {
            theirs.compress(buffer.as_ref(), out.as_mut());
        }
    };
    measure(sample, [&mut ours, &mut theirs, &mut alone])
}

/// All read what the other library wrote.
fn decompress(
    theirs: &mut impl ChunkLibrary,
    case: Case,
    (chunks, len): (&[Aligned], usize),
    sample: std::time::Duration,
) -> Samples<3> {
    debug_assert!(len <= case.len);
    let [mut ours, mut alone] = THREADS.map(|threads| {
        let mut decompressor = Decompressor::new().with_threads(Threads::at_most(threads));
        let mut out = Aligned::new(len, 1088);
        move || {
            for chunk in chunks {
                decompressor.decompress_into(chunk.as_ref(), out.as_mut()).expect("a good chunk");
            }
        }
    });
    let mut out = Aligned::new(len, 1088);
    let mut theirs = || {
        for chunk in chunks {
            theirs.decompress(chunk.as_ref(), out.as_mut());
        }
    };
    measure(sample, [&mut ours, &mut theirs, &mut alone])
}

fn measure(sample: std::time::Duration, mut sides: [&mut dyn FnMut(); 3]) -> Samples<3> {
    let mut samples = Samples::new(sample, &mut sides);
    samples.take(SAMPLES, &mut sides);
    if [(1, OF_THEIRS), (2, OF_ONE_THREAD)].iter().any(|&(side, goal)| samples.pair(0, side).ratio < goal) {
        samples.take(MORE_SAMPLES, &mut sides);
    }
    samples
}

fn pair_of_rows(data: &DataSet, case: Case, way: &str, samples: &Samples<3>) -> [Row; 2] {
    let Case { codec, level, filter, len, .. } = case;
    let kib = data.chunk_len(len).div_ceil(1024);
    let nbytes = data.chunks(len, ALL_BYTES).iter().map(|chunk| chunk.len()).sum();
    let row = |against: &str, pair: Pair| Row {
        area: "busy",
        name: format!("{way} {} {codec} {level} {filter} {kib} KiB 2T, against {against}", data.name),
        group: format!("{way} {codec}, against {against}"),
        nbytes,
        pair,
        size: None,
    };
    [row("C-Blosc2", samples.pair(0, 1)), row("one thread", samples.pair(0, 2))]
}
