//! The settings that are tried.

use super::choice::{Goal, Wishes};
use blosc_oxide::{Codec, Filter, Options, Threads};

/// One choice of codec, level, filters and block size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) codec: Codec,
    pub(crate) level: u8,
    pub(crate) filters: Vec<Filter>,
    /// `None` if it is chosen automatically.
    pub(crate) blocksize: Option<usize>,
}

/// A fast codec and a strong one, to find out which filters help.
pub(super) const FILTER_PROBES: [(Codec, u8); 2] = [(Codec::Lz4, 5), (Codec::Zstd, 1)];
/// Block sizes that are tried with the best of the rest.
pub(super) const BLOCKSIZES: [usize; 4] = [32 << 10, 128 << 10, 512 << 10, 2 << 20];

/// The levels that each codec is tried with.
pub(super) fn levels() -> [(Codec, &'static [u8]); 5] {
    [
        (Codec::BloscLz, &[1, 5, 9]),
        (Codec::Lz4, &[1, 5, 9]),
        (Codec::Lz4Hc, &[3, 9]),
        (Codec::Zlib, &[1, 5]),
        (Codec::Zstd, &[1, 3, 5, 7, 9]),
    ]
}

/// The levels that each codec is tried with where little time is to be spent.
pub(super) fn quick_levels(wishes: &Wishes) -> Vec<(Codec, u8)> {
    const SMALL: [(Codec, &[u8]); 2] = [(Codec::Zstd, &[1, 3, 5, 7, 9]), (Codec::Zlib, &[9])];
    const FAST: [(Codec, &[u8]); 3] = [(Codec::BloscLz, &[1, 5]), (Codec::Lz4, &[1, 5, 9]), (Codec::Zstd, &[1])];
    const BALANCED: [(Codec, &[u8]); 2] = [(Codec::Lz4, &[1, 5, 9]), (Codec::Zstd, &[1, 2, 3, 4])];
    // What is within bounds may be anywhere.
    let lists: &[&[(Codec, &[u8])]] = match wishes.goal() {
        _ if wishes.have_bounds() => &[&FAST, &SMALL],
        Goal::Size => &[&SMALL],
        Goal::Speed => &[&FAST],
        Goal::Balance => &[&BALANCED],
    };
    let all = lists.iter().flat_map(|list| list.iter());
    all.flat_map(|(codec, levels)| levels.iter().map(move |level| (*codec, *level))).collect()
}

/// The filters that may help data of this typesize.
pub(super) fn filter_choices(typesize: usize) -> Vec<Vec<Filter>> {
    let mut choices = vec![Vec::new()];
    if typesize > 1 {
        choices.push(vec![Filter::Shuffle]);
        choices.push(vec![Filter::Shuffle, Filter::ByteDelta(0)]);
        choices.push(vec![Filter::Delta, Filter::Shuffle]);
    }
    choices.push(vec![Filter::BitShuffle]);
    if typesize > usize::from(u8::MAX) {
        choices.retain(|filters| !filters.contains(&Filter::ByteDelta(0)));
    }
    choices
}

impl Candidate {
    /// The settings that are used if nothing is said.
    pub(super) fn usual() -> Self {
        let codec = if Codec::Zstd.is_built_in() { Codec::Zstd } else { Codec::Lz4 };
        Self::new(codec, 3, &[Filter::Shuffle])
    }

    pub(super) fn new(codec: Codec, level: u8, filters: &[Filter]) -> Self {
        Self { codec, level, filters: filters.to_vec(), blocksize: None }
    }

    pub(super) fn with_blocksize(&self, blocksize: usize) -> Self {
        Self { blocksize: Some(blocksize), ..self.clone() }
    }

    pub(crate) fn options(&self, typesize: usize, threads: &Threads) -> Options {
        Options::new(typesize)
            .with_codec(self.codec)
            .with_level(self.level)
            .with_filters(self.filters.iter().copied())
            .with_blocksize(self.blocksize)
            .with_threads(threads.clone())
    }

    /// The filters in words.
    pub(crate) fn filter_names(&self) -> String {
        if self.filters.is_empty() {
            return "none".to_owned();
        }
        self.filters.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
    }
}
