//! Our libblosc.so.1 against C-Blosc's, called as C programs call it: the `_ctx` functions on one
//! thread, those with settings on several.

use crate::busy::BusyLoops;
use crate::data::{DataSet, real};
use crate::grid::{CODECS, Case};
use crate::measure::{Effort, Pair, Samples, compare, geomean};
use crate::peer::Blosc1;
use crate::rows::Aligned;
use crate::rows::chunks::ChunkLibrary;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LENS: [usize; 2] = [64 << 10, 1 << 20];
const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];
/// The level and the filter.
const SETTINGS: [(u8, &str); 5] = [(1, "shuffle"), (5, "shuffle"), (9, "shuffle"), (5, "none"), (5, "bitshuffle")];
/// How much of a set is compressed in turn, so that a processor does not learn one chunk by heart.
const TOTAL: usize = 1 << 20;
/// How much of a set is compressed to compare lengths.
const TOTAL_OF_SIZES: usize = 4 << 20;
const OVERHEAD: usize = 16;
/// How fast the slowest row and the mean are to be, as a part of C-Blosc's speed.
const OF_THEIRS: (f64, f64) = (0.9, 1.0);
/// Beside busy loops: the slowest row as a part of our own speed on one thread.
const OF_ONE_THREAD: (f64, f64) = (0.85, 0.0);
/// How much longer a row is measured once more that is behind.
const MORE: u32 = 8;
/// How many samples of a row are taken beside busy loops; in all, if it is behind after these.
const BUSY_SAMPLES: [usize; 2] = [21, 105];

/// What is compared, and how.
pub(crate) struct Abi {
    pub(crate) ours: PathBuf,
    pub(crate) theirs: PathBuf,
    pub(crate) effort: Effort,
    pub(crate) threads: u8,
    /// Whether ours on `threads` threads is compared with ours on one, beside busy loops.
    pub(crate) is_busy: bool,
    pub(crate) only_sizes: bool,
    pub(crate) words: Vec<String>,
}

impl Abi {
    fn wants(&self, row: &str) -> bool {
        self.words.iter().all(|word| row.split(' ').any(|part| part == word))
    }
}

/// The ratios of each codec and way, with the names of their rows.
type Findings = BTreeMap<(&'static str, &'static str), Vec<(f64, String)>>;

/// Compares, prints each row and what they come to; fails if that is less than it has to be.
pub(crate) fn run(abi: &Abi) -> Result<(), String> {
    if abi.only_sizes {
        return sizes(abi);
    }
    let loops = abi.is_busy.then(BusyLoops::start).transpose()?;
    let (mut ours, mut theirs) = (load(&abi.ours)?, load(if abi.is_busy { &abi.ours } else { &abi.theirs })?);
    println!(
        "{}, version {}, against {}, version {}",
        abi.ours.display(),
        ours.version(),
        abi.theirs.display(),
        theirs.version()
    );
    let mut findings = Findings::new();
    for name in real::names() {
        let set = real::load(name)?;
        for case in cases(abi.threads) {
            let row = row_name(name, case);
            if !abi.wants(&row) {
                continue;
            }
            let pairs = if abi.is_busy {
                beside_loops(abi, (&mut ours, &theirs), case, &set)
            } else if abi.threads > 1 {
                let typesize = set.typesize;
                times(abi, &mut ours.configured(case, typesize), &mut theirs.configured(case, typesize), case, &set)
            } else {
                times(abi, &mut ours.context(case, set.typesize), &mut theirs.context(case, set.typesize), case, &set)
            };
            for (way, pair) in ["compress", "decompress"].into_iter().zip(pairs) {
                println!("{way:10} {row:60} {:6.2} x", pair.ratio);
                findings.entry((case.codec, way)).or_default().push((pair.ratio, row.clone()));
            }
        }
    }
    drop(loops);
    summarise(&findings, if abi.is_busy { OF_ONE_THREAD } else { OF_THEIRS })
}

fn load(path: &Path) -> Result<Blosc1, String> {
    Blosc1::load(path).map_err(|problem| format!("{}: {problem}", path.display()))
}

fn cases(threads: u8) -> impl Iterator<Item = Case> {
    CODECS.into_iter().flat_map(move |codec| {
        SETTINGS
            .into_iter()
            .flat_map(move |(level, filter)| LENS.map(|len| Case { len, codec, level, filter, threads }))
    })
}

fn row_name(set: &str, case: Case) -> String {
    let Case { len, codec, level, filter, threads } = case;
    format!("{set} {codec} {level} {filter} {} KiB {threads}T", len >> 10)
}

/// Prints the mean and the slowest row of each codec both ways.
fn summarise(findings: &Findings, (least, least_mean): (f64, f64)) -> Result<(), String> {
    println!();
    let mut behind = 0;
    for ((codec, way), ratios) in findings {
        let mean = geomean(ratios.iter().map(|(ratio, _)| *ratio));
        let below = ratios.iter().filter(|(ratio, _)| *ratio < least).count();
        behind += below + usize::from(mean < least_mean);
        if let Some((slowest, row)) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
            let rows = ratios.len();
            println!(
                "{codec:8} {way:10} mean {mean:5.2}  slowest {slowest:5.2} ({row})  below {least}: {below} of {rows}"
            );
        }
    }
    if behind == 0 { Ok(()) } else { Err(format!("{behind} rows or means are behind")) }
}

/// What each side works on: the data, and what the other library has made of it, at the same places
/// for both.
struct Buffers {
    plain: Vec<Aligned>,
    packed: Vec<Aligned>,
    out: Aligned,
    len: usize,
}

impl Buffers {
    fn new(case: Case, set: &DataSet, packed: &[Vec<u8>]) -> Self {
        Self {
            plain: set.chunks(case.len, TOTAL).into_iter().map(|chunk| Aligned::of(chunk, 64)).collect(),
            packed: packed.iter().map(|chunk| Aligned::of(chunk, 128)).collect(),
            out: Aligned::new(set.chunk_len(case.len) + OVERHEAD, 1088),
            len: set.chunk_len(case.len),
        }
    }

    fn compress(&mut self, library: &mut impl ChunkLibrary, turn: usize) {
        let chunk = &self.plain[turn % self.plain.len()];
        library.compress(chunk.as_ref(), self.out.as_mut());
    }

    fn decompress(&mut self, library: &mut impl ChunkLibrary, turn: usize) {
        let chunk = &self.packed[turn % self.packed.len()];
        library.decompress(chunk.as_ref(), &mut self.out.as_mut()[..self.len]);
    }
}

/// The chunks of a set as a library writes them.
fn pack(library: &mut impl ChunkLibrary, case: Case, set: &DataSet, total: usize) -> Vec<Vec<u8>> {
    let mut out = vec![0; set.chunk_len(case.len) + OVERHEAD];
    let chunks = set.chunks(case.len, total).into_iter();
    chunks
        .map(|chunk| {
            let len = library.compress(chunk, &mut out);
            out[..len].to_vec()
        })
        .collect()
}

/// How long chunks take, both ways; both sides decode what C wrote.
fn times(
    abi: &Abi,
    ours: &mut impl ChunkLibrary,
    theirs: &mut impl ChunkLibrary,
    case: Case,
    set: &DataSet,
) -> [Pair; 2] {
    let packed = pack(theirs, case, set, TOTAL);
    let mut buffers = [(); 2].map(|()| Buffers::new(case, set, &packed));
    let effort = if case.threads > 1 { abi.effort.with_rest() } else { abi.effort };
    let effort = if packed.len() > 1 { effort.in_step() } else { effort };
    let mut measure = |way: Way| {
        let mut once = |effort| {
            let [a, b] = &mut buffers;
            let (mut next_a, mut next_b) = (0.., 0..);
            compare(
                effort,
                || way.run(a, ours, next_a.next().unwrap_or_default()),
                || way.run(b, theirs, next_b.next().unwrap_or_default()),
            )
        };
        let pair = once(effort);
        if pair.ratio < OF_THEIRS.0 { once(effort.with_more(MORE)) } else { pair }
    };
    [measure(Way::Compress), measure(Way::Decompress)]
}

#[derive(Clone, Copy)]
enum Way {
    Compress,
    Decompress,
}

impl Way {
    fn run(self, buffers: &mut Buffers, library: &mut impl ChunkLibrary, turn: usize) {
        match self {
            Self::Compress => buffers.compress(library, turn),
            Self::Decompress => buffers.decompress(library, turn),
        }
    }
}

/// How fast ours is on several threads, as a part of ours on one.
fn beside_loops(abi: &Abi, (shared, alone): (&mut Blosc1, &Blosc1), case: Case, set: &DataSet) -> [Pair; 2] {
    let mut shared = shared.configured(case, set.typesize);
    let mut alone = alone.context(Case { threads: 1, ..case }, set.typesize);
    let packed = pack(&mut alone, case, set, TOTAL);
    let mut buffers = [(); 2].map(|()| Buffers::new(case, set, &packed));
    [Way::Compress, Way::Decompress].map(|way| {
        let [a, b] = &mut buffers;
        let count = packed.len();
        let mut of_shared = || (0..count).for_each(|turn| way.run(a, &mut shared, turn));
        let mut of_alone = || (0..count).for_each(|turn| way.run(b, &mut alone, turn));
        let mut sides: [&mut dyn FnMut(); 2] = [&mut of_shared, &mut of_alone];
        let mut samples = Samples::new(abi.effort.of_busy(), &mut sides);
        for count in BUSY_SAMPLES {
            samples.take(count, &mut sides);
            if samples.pair(0, 1).ratio >= OF_ONE_THREAD.0 {
                break;
            }
        }
        samples.pair(0, 1)
    })
}

/// Compares the lengths at all levels and filters, over whole sets.
fn sizes(abi: &Abi) -> Result<(), String> {
    let (ours, theirs) = (load(&abi.ours)?, load(&abi.theirs)?);
    let mut longest: BTreeMap<&str, (f64, String)> = BTreeMap::new();
    for name in real::names() {
        let set = real::load(name)?;
        for case in all_cases() {
            let row = row_name(name, case);
            if !abi.wants(&row) {
                continue;
            }
            let [a, b] = [&ours, &theirs].map(|library| {
                let packed = pack(&mut library.context(case, set.typesize), case, &set, TOTAL_OF_SIZES);
                packed.iter().map(Vec::len).sum::<usize>()
            });
            let ratio = a as f64 / b as f64;
            println!("{row:60} {a:10} {b:10} {ratio:7.3}");
            let entry = longest.entry(case.codec).or_default();
            if ratio > entry.0 {
                *entry = (ratio, row);
            }
        }
    }
    for (codec, (ratio, row)) in &longest {
        println!("{codec:8} at the most {ratio:.3} of the length of C's: {row}");
    }
    Ok(())
}

fn all_cases() -> impl Iterator<Item = Case> {
    let settings = (1..=9).flat_map(|level| FILTERS.map(|filter| (level, filter)));
    CODECS.into_iter().flat_map(move |codec| {
        settings.clone().flat_map(move |(level, filter)| LENS.map(|len| Case { len, codec, level, filter, threads: 1 }))
    })
}
