//! Which chunks are measured: codecs, levels, filters, lengths and threads, all in this place.

/// The codecs, by the names that all sides use.
pub(crate) const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
/// The filters.
pub(crate) const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];
/// The levels at which something is compressed.
pub(crate) const LEVELS: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// The level that is the default nearly everywhere.
const USUAL: u8 = 5;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// One configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    /// How long a chunk is, at most: data sets may be shorter, and have items that do not fill it.
    pub(crate) len: usize,
    pub(crate) codec: &'static str,
    pub(crate) level: u8,
    pub(crate) filter: &'static str,
    pub(crate) threads: u8,
}

/// The data sets that are measured in all cases, one for each of the most common typesizes. The
/// others are measured in those [for every set](Case::is_for_every_set): all of them in all cases
/// would take an hour.
pub(crate) const IN_DEPTH: [&str; 4] = ["source_code", "elevation_i16", "temperature_f32", "rain_f64"];

impl Case {
    /// Whether the data sets that are not measured in depth are measured in it.
    pub(crate) fn is_for_every_set(&self) -> bool {
        let is_long = self.len == 2 * MIB && self.threads == 1 && matches!(self.level, 1 | USUAL | 9);
        self.is_usual() && matches!(self.len / KIB, 4 | 64 | 2048) || is_long
    }

    /// Whether it is at the usual level, with shuffle.
    pub(crate) fn is_usual(&self) -> bool {
        self.level == USUAL && self.filter == "shuffle"
    }

    /// Whether data made by formula, on which a level makes no difference, is measured in it as
    /// well.
    pub(crate) fn is_for_formulas(&self) -> bool {
        self.level == USUAL
    }
}

/// Every combination of these for all codecs.
fn product(lens: &[usize], levels: &[u8], filters: &[&'static str], threads: &[u8]) -> Vec<Case> {
    let mut cases = Vec::new();
    for &len in lens {
        for codec in CODECS {
            for &level in levels {
                for &filter in filters {
                    cases.extend(threads.iter().map(|&threads| Case { len, codec, level, filter, threads }));
                }
            }
        }
    }
    cases
}

/// Chunks of Blosc2. Those below 64 KiB are not worth a second thread, and only their latency at
/// the usual level counts.
pub(crate) fn blosc2(is_quick: bool) -> Vec<Case> {
    let shuffle = &["shuffle"];
    if is_quick {
        return [
            product(&[4 * KIB], &[USUAL], shuffle, &[1]),
            product(&[256 * KIB], &[USUAL], &FILTERS, &[1]),
            product(&[256 * KIB], &[USUAL], shuffle, &[2]),
        ]
        .concat();
    }
    let unshuffled = &["none", "bitshuffle"];
    [
        product(&[4 * KIB], &[USUAL], &FILTERS, &[1]),
        product(&[16 * KIB], &[USUAL], shuffle, &[1]),
        product(&[64 * KIB], &[1, USUAL, 9], shuffle, &[1]),
        product(&[64 * KIB], &[USUAL], unshuffled, &[1]),
        product(&[2 * MIB], &LEVELS, shuffle, &[1]),
        product(&[2 * MIB], &[USUAL], unshuffled, &[1, 2]),
        product(&[2 * MIB], &[1, USUAL, 9], shuffle, &[2]),
        product(&[16 * MIB], &[1, USUAL], shuffle, &[1, 2]),
        product(&[16 * MIB], &[USUAL], &["none"], &[1]),
    ]
    .concat()
}

/// Chunks of Blosc1, against C-Blosc.
pub(crate) fn blosc1(is_quick: bool) -> Vec<Case> {
    if is_quick {
        return product(&[256 * KIB], &[USUAL], &["shuffle"], &[1]);
    }
    [
        product(&[4 * KIB], &[USUAL], &["shuffle"], &[1]),
        product(&[2 * MIB], &[1, USUAL, 9], &["shuffle"], &[1]),
        product(&[2 * MIB], &[USUAL], &["none", "bitshuffle"], &[1]),
        product(&[2 * MIB], &[USUAL], &["shuffle"], &[2]),
    ]
    .concat()
}

/// Chunks on two threads while other programs compute: of a length of which all codecs are
/// measured, and shorter and longer ones of the codecs that take least time for them.
pub(crate) fn busy(is_quick: bool) -> Vec<Case> {
    let (shuffle, two) = (&["shuffle"], &[2]);
    let mut cases = product(&[MIB], &[USUAL], shuffle, two);
    if !is_quick {
        let short = product(&[256 * KIB], &[USUAL], shuffle, two);
        cases.extend(short.into_iter().filter(|case| matches!(case.codec, "blosclz" | "lz4" | "zstd")));
        let long = product(&[4 * MIB], &[USUAL], shuffle, two);
        cases.extend(long.into_iter().filter(|case| matches!(case.codec, "blosclz" | "lz4")));
    }
    cases
}

/// Chunks that are measured with the build that a dependent crate gets, too.
pub(crate) fn dependent(is_quick: bool) -> Vec<Case> {
    let lens: &[usize] = if is_quick { &[256 * KIB] } else { &[4 * KIB, 2 * MIB] };
    product(lens, &[USUAL], &["shuffle"], &[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_of_every_codec_is_measured() {
        let cases = blosc2(false);
        for codec in CODECS {
            for level in 1..=9 {
                let is_measured = cases.iter().any(|case| case.codec == codec && case.level == level);
                assert!(is_measured, "{codec} {level}");
            }
        }
    }

    #[test]
    fn every_codec_is_measured_on_every_set_with_every_filter() {
        let cases: Vec<Case> = blosc2(false).into_iter().filter(Case::is_for_every_set).collect();
        for codec in CODECS {
            for filter in FILTERS {
                assert!(cases.iter().any(|case| case.codec == codec && case.filter == filter), "{codec} {filter}");
            }
        }
        assert!(IN_DEPTH.iter().all(|name| crate::data::real::names().any(|known| known == *name)));
    }

    #[test]
    fn no_case_is_measured_twice() {
        let grids = [blosc2, blosc1, dependent, busy];
        for cases in grids.iter().flat_map(|grid| [grid(false), grid(true)]) {
            for (at, case) in cases.iter().enumerate() {
                assert!(!cases[..at].contains(case), "{case:?}");
            }
        }
    }
}
