//! What is to be reached, and what has been.

use crate::measure::geomean;
use crate::rows::Row;
use crate::rows::busy::{OF_ONE_THREAD, OF_THEIRS};

/// A group of rows and how fast they are to be, as times of C-Blosc2's speed.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) mean: f64,
    pub(crate) worst: f64,
    is_of: fn(&Row) -> bool,
}

/// What the rows of a goal have reached.
pub(crate) struct Reached {
    pub(crate) mean: f64,
    pub(crate) worst: f64,
    /// The name of the slowest row.
    pub(crate) slowest: String,
    pub(crate) rows: usize,
}

impl Goal {
    /// What its rows have reached; `None` if none was measured.
    pub(crate) fn reached(&self, rows: &[Row]) -> Option<Reached> {
        let of = || rows.iter().filter(|row| (self.is_of)(row));
        let slowest = of().min_by(|a, b| a.pair.ratio.total_cmp(&b.pair.ratio))?;
        Some(Reached {
            mean: geomean(of().map(|row| row.pair.ratio)),
            worst: slowest.pair.ratio,
            slowest: slowest.name.clone(),
            rows: of().count(),
        })
    }

    /// Its rows that are slower than any should be, the slowest first.
    pub(crate) fn behind<'r>(&self, rows: &'r [Row]) -> Vec<&'r Row> {
        let is_behind = |row: &&Row| (self.is_of)(row) && row.pair.ratio < self.worst - 0.005;
        let mut behind: Vec<&Row> = rows.iter().filter(is_behind).collect();
        behind.sort_by(|a, b| a.pair.ratio.total_cmp(&b.pair.ratio));
        behind
    }

    pub(crate) fn is_reached(&self, reached: &Reached) -> bool {
        // Two digits are what is shown.
        reached.mean >= self.mean - 0.005 && reached.worst >= self.worst - 0.005
    }
}

fn has(row: &Row, word: &str) -> bool {
    row.name.split([' ', ',']).any(|part| part == word)
}

fn any(row: &Row, words: &[&str]) -> bool {
    words.iter().any(|word| has(row, word))
}

/// Stored and special chunks, which only data made by formula has for sure.
fn is_formula(row: &Row) -> bool {
    any(row, &["random", "zeros"])
}

/// How many KiB a chunk has; it is a few bytes shorter if items do not fill it.
fn kib(row: &Row) -> usize {
    row.nbytes.div_ceil(1024)
}

/// Whole chunks of 64 KiB and more on one thread.
fn serial(row: &Row, area: &str, codec: &str) -> bool {
    row.area == area && !is_formula(row) && has(row, codec) && has(row, "1T") && kib(row) >= 64
}

/// Whole chunks of 256 KiB and more on two threads.
fn two_threads(row: &Row, area: &str) -> bool {
    row.area == area && !is_formula(row) && has(row, "2T") && kib(row) >= 256
}

/// Rows of the build that a dependent crate gets.
fn dependent(row: &Row, way: &str, against: &str) -> bool {
    row.area == "dependent" && has(row, way) && has(row, against)
}

fn unfiltered_or_shuffled(row: &Row, codec: &str) -> bool {
    serial(row, "decompress", codec) && has(row, "shuffle")
}

fn small(row: &Row, area: &str) -> bool {
    row.area == area && !is_formula(row) && has(row, "1T") && kib(row) == 4
}

fn filter(row: &Row, name: &str, typesizes: &[&str]) -> bool {
    row.area == "filter" && has(row, name) && row.name.split(' ').nth(1).is_some_and(|size| typesizes.contains(&size))
}

/// A filter on one instruction set.
fn on(row: &Row, isa: &str, name: &str) -> bool {
    row.area == "instructions" && has(row, isa) && has(row, name)
}

const COMMON: [&str; 4] = ["2", "4", "8", "16"];
const ODD: [&str; 3] = ["1", "3", "12"];
const UP_TO_16: [&str; 7] = ["1", "2", "3", "4", "8", "12", "16"];

/// The same for all rows beside busy loops, where there is no goal for the mean but that of the
/// slowest.
const fn busy(what: &'static str, worst: f64, is_of: fn(&Row) -> bool) -> Goal {
    Goal { what, mean: worst, worst, is_of }
}

fn busy_row(row: &Row, way: &str, against: &str) -> bool {
    row.area == "busy" && has(row, way) && has(row, against)
}

/// All goals.
pub(crate) const GOALS: &[Goal] = &[
    Goal {
        what: "compress, 1 thread: blosclz",
        mean: 1.3,
        worst: 0.9,
        is_of: |row| serial(row, "compress", "blosclz"),
    },
    Goal { what: "compress, 1 thread: lz4", mean: 1.1, worst: 0.9, is_of: |row| serial(row, "compress", "lz4") },
    Goal { what: "compress, 1 thread: lz4hc", mean: 1.1, worst: 0.9, is_of: |row| serial(row, "compress", "lz4hc") },
    Goal { what: "compress, 1 thread: zlib", mean: 1.0, worst: 0.9, is_of: |row| serial(row, "compress", "zlib") },
    Goal { what: "compress, 1 thread: zstd", mean: 1.0, worst: 0.9, is_of: |row| serial(row, "compress", "zstd") },
    Goal {
        what: "compress, 1 thread: zstd-pure",
        mean: 0.75,
        worst: 0.65,
        is_of: |row| serial(row, "compress", "zstd-pure"),
    },
    Goal {
        what: "decompress with shuffle, 1 thread: blosclz",
        mean: 1.5,
        worst: 0.9,
        is_of: |row| unfiltered_or_shuffled(row, "blosclz"),
    },
    Goal {
        what: "decompress with shuffle, 1 thread: lz4",
        mean: 1.3,
        worst: 0.9,
        is_of: |row| unfiltered_or_shuffled(row, "lz4"),
    },
    Goal {
        what: "decompress with shuffle, 1 thread: lz4hc",
        mean: 1.2,
        worst: 0.9,
        is_of: |row| unfiltered_or_shuffled(row, "lz4hc"),
    },
    Goal {
        what: "decompress with shuffle, 1 thread: zlib",
        mean: 0.95,
        worst: 0.9,
        is_of: |row| unfiltered_or_shuffled(row, "zlib"),
    },
    Goal {
        what: "decompress with shuffle, 1 thread: zstd",
        mean: 1.05,
        worst: 0.9,
        is_of: |row| unfiltered_or_shuffled(row, "zstd"),
    },
    Goal {
        what: "decompress, 1 thread: zstd-pure",
        mean: 0.92,
        worst: 0.85,
        is_of: |row| serial(row, "decompress", "zstd-pure"),
    },
    Goal {
        what: "decompress with bitshuffle, 1 thread: blosclz, lz4",
        mean: 1.6,
        worst: 1.2,
        is_of: |row| {
            has(row, "bitshuffle") && (serial(row, "decompress", "blosclz") || serial(row, "decompress", "lz4"))
        },
    },
    Goal {
        what: "compress, 2 threads, chunks of 256 KiB and more",
        mean: 1.4,
        worst: 0.95,
        is_of: |row| two_threads(row, "compress"),
    },
    Goal {
        what: "decompress, 2 threads, chunks of 256 KiB and more",
        mean: 1.6,
        worst: 0.95,
        is_of: |row| two_threads(row, "decompress"),
    },
    Goal {
        what: "stored and special chunks: random bytes, zeros",
        mean: 1.0,
        worst: 0.9,
        is_of: |row| matches!(row.area, "compress" | "decompress") && is_formula(row),
    },
    Goal { what: "Blosc1, compress", mean: 1.0, worst: 0.9, is_of: |row| row.area == "blosc1 compress" },
    Goal { what: "Blosc1, decompress", mean: 1.0, worst: 0.9, is_of: |row| row.area == "blosc1 decompress" },
    Goal {
        what: "built as a dependent, compress, against C-Blosc2",
        mean: 1.0,
        worst: 0.9,
        is_of: |row| dependent(row, "compress", "C-Blosc2"),
    },
    Goal {
        what: "built as a dependent, decompress, against C-Blosc2",
        mean: 1.0,
        worst: 0.9,
        is_of: |row| dependent(row, "decompress", "C-Blosc2"),
    },
    Goal {
        what: "built as a dependent, compress, against our profile",
        mean: 0.95,
        worst: 0.9,
        is_of: |row| dependent(row, "compress", "profile"),
    },
    Goal {
        what: "built as a dependent, decompress, against our profile",
        mean: 0.95,
        worst: 0.9,
        is_of: |row| dependent(row, "decompress", "profile"),
    },
    Goal {
        what: "shuffle, typesizes 2, 4, 8, 16",
        mean: 1.2,
        worst: 0.95,
        is_of: |row| filter(row, "shuffle", &COMMON),
    },
    Goal {
        what: "inverse shuffle, typesizes 2, 4, 8, 16",
        mean: 1.2,
        worst: 0.95,
        is_of: |row| filter(row, "unshuffle", &COMMON),
    },
    Goal {
        what: "shuffle and inverse, typesizes 1, 3, 12",
        mean: 12.0,
        worst: 8.0,
        is_of: |row| filter(row, "shuffle", &ODD) || filter(row, "unshuffle", &ODD),
    },
    Goal {
        what: "bitshuffle, typesizes 1 to 16",
        mean: 1.4,
        worst: 1.0,
        is_of: |row| filter(row, "bitshuffle", &UP_TO_16),
    },
    Goal {
        what: "inverse bitshuffle, typesizes 1 to 16",
        mean: 1.8,
        worst: 1.0,
        is_of: |row| filter(row, "bitunshuffle", &UP_TO_16),
    },
    Goal { what: "shuffle, SSE2 on both sides", mean: 1.0, worst: 0.9, is_of: |row| on(row, "sse2", "shuffle") },
    Goal {
        what: "inverse shuffle, SSE2 on both sides",
        mean: 1.0,
        worst: 0.9,
        is_of: |row| on(row, "sse2", "unshuffle"),
    },
    Goal { what: "shuffle, AVX2 on both sides", mean: 1.0, worst: 0.9, is_of: |row| on(row, "avx2", "shuffle") },
    Goal {
        what: "inverse shuffle, AVX2 on both sides",
        mean: 1.0,
        worst: 0.9,
        is_of: |row| on(row, "avx2", "unshuffle"),
    },
    Goal {
        what: "buffers of 4 KiB, compress: blosclz",
        mean: 1.6,
        worst: 0.95,
        is_of: |row| small(row, "compress") && has(row, "blosclz"),
    },
    Goal {
        what: "buffers of 4 KiB, compress: lz4",
        mean: 1.2,
        worst: 0.95,
        is_of: |row| small(row, "compress") && has(row, "lz4"),
    },
    Goal {
        what: "buffers of 4 KiB, decompress",
        mean: 1.1,
        worst: 0.95,
        is_of: |row| small(row, "decompress") && any(row, &["blosclz", "lz4"]),
    },
    Goal {
        what: "1 to 1,024 items of a 2 MiB chunk: lz4, blosclz",
        mean: 2.0,
        worst: 1.0,
        is_of: |row| row.area == "items" && any(row, &["blosclz", "lz4"]),
    },
    Goal {
        what: "1 to 1,024 items of a 2 MiB chunk: zstd",
        mean: 1.0,
        worst: 1.0,
        is_of: |row| row.area == "items" && has(row, "zstd"),
    },
    Goal {
        what: "append and update on disk, 10,000 chunks",
        mean: 50.0,
        worst: 20.0,
        is_of: |row| {
            row.area == "frames" && has(row, "10000") && any(row, &["append", "update"]) && !has(row, "committed")
        },
    },
    Goal {
        what: "open 100,000 chunks, random chunk and item, vlmetalayer",
        mean: 2.0,
        worst: 1.0,
        is_of: |row| row.area == "frames" && any(row, &["open", "random", "vlmetalayer"]),
    },
    Goal {
        what: "a frame of 100,000 chunks to a file",
        mean: 100.0,
        worst: 100.0,
        is_of: |row| row.area == "frames" && has(row, "file"),
    },
    busy("busy machine, compress, against C-Blosc2", OF_THEIRS, |row| busy_row(row, "compress", "C-Blosc2")),
    busy("busy machine, decompress, against C-Blosc2", OF_THEIRS, |row| busy_row(row, "decompress", "C-Blosc2")),
    busy("busy machine, compress, against our one thread", OF_ONE_THREAD, |row| busy_row(row, "compress", "thread")),
    busy("busy machine, decompress, against our one thread", OF_ONE_THREAD, |row| {
        busy_row(row, "decompress", "thread")
    }),
    Goal { what: "array slices", mean: 1.3, worst: 1.0, is_of: |row| row.area == "arrays" },
];
