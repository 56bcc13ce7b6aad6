//! The lengths of chunks at all levels, against C-Blosc2, and against our own lower levels.

use super::chunks::{ChunkLibrary, codec, filter};
use crate::arguments::Arguments;
use crate::data::{DataSet, real};
use crate::grid::{CODECS, Case, FILTERS, LEVELS};
use crate::peer::Peer;
use blosc_oxide::{Compressor, Options, Threads};
use std::collections::BTreeMap;

const LENS: [usize; 2] = [64 << 10, 1 << 20];
/// How much of a set is compressed.
const TOTAL: usize = 4 << 20;
/// How much longer than theirs, and than what a lower level makes, chunks may be.
const LIMIT: f64 = 1.005;

/// The longest row of each codec, by each of the two measures.
type Longest = BTreeMap<(&'static str, &'static str), (f64, String)>;

/// Prints all lengths, and fails if some are above the limit.
pub(crate) fn run(arguments: &Arguments, peer: &Peer) -> Result<(), String> {
    let (mut longest, mut above) = (Longest::new(), 0);
    for name in real::names() {
        let set = real::load(name)?;
        for series in series(arguments, name) {
            let mut shortest = usize::MAX;
            for case in series {
                let (ours, theirs) = (our_len(case, &set), their_len(peer, case, &set));
                let row = format!("{name} {} {} {} {} KiB", case.codec, case.level, case.filter, case.len >> 10);
                let of_theirs = ours as f64 / theirs as f64;
                let of_lower = ours as f64 / shortest as f64;
                shortest = shortest.min(ours);
                println!("{row:60} {ours:10} {theirs:10} {of_theirs:7.3} {of_lower:7.3}");
                for (measure, ratio) in [("theirs", of_theirs), ("a lower level", of_lower)] {
                    above += usize::from(ratio > LIMIT);
                    let entry = longest.entry((case.codec, measure)).or_default();
                    if ratio > entry.0 {
                        *entry = (ratio, row.clone());
                    }
                }
            }
        }
    }
    for ((codec, measure), (ratio, row)) in &longest {
        println!("{codec:8} at the most {ratio:.3} of the length of {measure}: {row}");
    }
    if above == 0 { Ok(()) } else { Err(format!("{above} lengths are more than {LIMIT} of what they should be")) }
}

/// What is wanted, in ascending levels of otherwise equal cases.
fn series(arguments: &Arguments, set: &str) -> Vec<Vec<Case>> {
    let mut all = Vec::new();
    for codec in CODECS {
        for filter in FILTERS {
            for len in LENS {
                let is_wanted = |level: &u8| {
                    let (level, kib) = (level.to_string(), format!("{}KiB", len >> 10));
                    arguments.matches(&[set, codec, &level, filter, &kib])
                };
                let levels = LEVELS.into_iter().filter(is_wanted);
                all.push(levels.map(|level| Case { len, codec, level, filter, threads: 1 }).collect());
            }
        }
    }
    all
}

fn our_len(case: Case, set: &DataSet) -> usize {
    let options = Options::new(set.typesize)
        .with_codec(codec(case.codec))
        .with_level(case.level)
        .with_filters(filter(case.filter))
        .with_threads(Threads::serial());
    let mut compressor = Compressor::new(options).expect("good options");
    let compress = |src: &[u8], dst: &mut [u8]| compressor.compress_into(src, dst).expect("room");
    total_len(case, set, compress)
}

fn their_len(peer: &Peer, case: Case, set: &DataSet) -> usize {
    let mut contexts = peer.contexts(case, set.typesize);
    total_len(case, set, |src, dst| contexts.compress(src, dst))
}

fn total_len(case: Case, set: &DataSet, mut compress: impl FnMut(&[u8], &mut [u8]) -> usize) -> usize {
    let mut out = vec![0; set.chunk_len(case.len) + 32];
    set.chunks(case.len, TOTAL).into_iter().map(|chunk| compress(chunk, &mut out)).sum()
}
