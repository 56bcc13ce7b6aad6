//! blosc-oxide and another crate for Blosc2 chunks, measured in turns. The feature of the build
//! says which crate.
//!
//! Chunks of 2 MiB at level 5 on one thread. Both compress; both read what blosc-oxide wrote, if
//! the other can. A line for each codec and filter: geometric means over the data sets of how many
//! times as fast blosc-oxide is, and of its compressed size as a part of the other's.

#[cfg(not(any(feature = "blosc2", feature = "blosc2-pure-rs", feature = "blusc")))]
compile_error!("a feature names the crate to compare with: blosc2, blosc2-pure-rs or blusc");
#[cfg(any(
    all(feature = "blosc2", feature = "blosc2-pure-rs"),
    all(feature = "blosc2", feature = "blusc"),
    all(feature = "blosc2-pure-rs", feature = "blusc")
))]
compile_error!("one crate at a time: they define functions of the same name");

#[allow(dead_code, reason = "shared with the other benchmark")]
#[path = "../../src/data/mod.rs"]
mod data;
#[allow(dead_code, reason = "shared with the other benchmark")]
#[path = "../../src/measure.rs"]
mod measure;

#[cfg_attr(feature = "blosc2", path = "blosc2_crate.rs")]
#[cfg_attr(feature = "blosc2-pure-rs", path = "blosc2_pure_rs_crate.rs")]
#[cfg_attr(feature = "blusc", path = "blusc_crate.rs")]
mod peer;

use blosc_oxide::{Codec, Compressor, Decompressor, Filter, Options, Threads};
use data::{DataSet, real};
use measure::{Effort, compare, geomean};
use peer::Peer;

/// What a chunk is compressed with.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) codec: Codec,
    pub(crate) filter: Option<Filter>,
    pub(crate) typesize: usize,
}

pub(crate) const LEVEL: u8 = 5;
const CHUNK: usize = 2 << 20;

/// What was measured on one data set.
struct Measured {
    compress: f64,
    /// `None` where the other crate does not give the data back.
    decompress: Option<f64>,
    size: f64,
}

fn main() -> Result<(), String> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let effort = if quick { Effort::QUICK } else { Effort::FULL };
    let sets: Vec<DataSet> =
        real::names().map(|name| Ok(real::load(name)?.middle(CHUNK))).collect::<Result<_, String>>()?;
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filter in [None, Some(Filter::Shuffle), Some(Filter::BitShuffle)] {
            print_line(effort, &sets, codec, filter);
        }
    }
    Ok(())
}

fn print_line(effort: Effort, sets: &[DataSet], codec: Codec, filter: Option<Filter>) {
    let case = |data: &DataSet| Case { codec, filter, typesize: data.typesize };
    let measured: Vec<Measured> = sets.iter().map(|data| measure(effort, data, case(data))).collect();
    let compress = geomean(measured.iter().map(|measured| measured.compress));
    let size = geomean(measured.iter().map(|measured| measured.size));
    let read = measured.iter().filter(|measured| measured.decompress.is_some()).count();
    let decompress = geomean(measured.iter().filter_map(|measured| measured.decompress));
    let filter = filter.map_or_else(|| "none".to_owned(), |filter| filter.to_string());
    let note = if read < sets.len() { format!("reads {read} of {}", sets.len()) } else { String::new() };
    println!("| {} | {codec} | {filter} | {compress:.2} | {decompress:.2} | {size:.3} | {note} |", peer::NAME);
}

fn measure(effort: Effort, data: &DataSet, case: Case) -> Measured {
    let options =
        Options::new(case.typesize).with_codec(case.codec).with_level(LEVEL).with_filters(case.filter).with_threads(Threads::serial());
    let mut compressor = Compressor::new(options).expect("good options");
    let mut decompressor = Decompressor::new().with_threads(Threads::serial());
    let mut peer = Peer::new(case);
    let (mut ours, mut theirs) = (vec![0; CHUNK + 32], vec![0; CHUNK + 4096]);
    let our_len = compressor.compress_into(&data.bytes, &mut ours).expect("room enough");
    let their_len = peer.compress(&data.bytes, &mut theirs);
    let compress = compare(
        effort,
        || {
            compressor.compress_into(&data.bytes, &mut ours).expect("room enough");
        },
        || {
            peer.compress(&data.bytes, &mut theirs);
        },
    );
    let chunk = &ours[..our_len];
    let mut out = vec![0; data.bytes.len()];
    let gives_it_back = peer.decompress(chunk, &mut out) && out == data.bytes;
    let decompress = gives_it_back.then(|| {
        let mut our_out = vec![0; data.bytes.len()];
        compare(
            effort,
            || {
                decompressor.decompress_into(chunk, &mut our_out).expect("a good chunk");
            },
            || {
                peer.decompress(chunk, &mut out);
            },
        )
    });
    Measured {
        compress: compress.ratio,
        decompress: decompress.map(|pair| pair.ratio),
        size: our_len as f64 / their_len as f64,
    }
}
