//! Our libblosc.so.1 against C-Blosc's, called as C programs call it: `_ctx` functions, or with threads those with settings.

use crate::data::DataSet;
use crate::data::real;
use crate::measure::{Effort, Pair, compare, geomean};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

type Compress = unsafe extern "C" fn(
    c_int,
    c_int,
    usize,
    usize,
    *const c_void,
    *mut c_void,
    usize,
    *const c_char,
    usize,
    c_int,
) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int) -> c_int;

const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
const LENS: [usize; 2] = [64 << 10, 1 << 20];
/// The level and the filter.
const SETTINGS: [(c_int, c_int); 5] = [(1, 1), (5, 1), (9, 1), (5, 0), (5, 2)];
const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];
/// How much of a set is compressed in turn, so that a processor does not learn one chunk by heart.
const TOTAL: usize = 1 << 20;
const OVERHEAD: usize = 16;

/// What is compared, and how.
pub(crate) struct Abi {
    pub(crate) ours: PathBuf,
    pub(crate) theirs: PathBuf,
    pub(crate) effort: Effort,
    pub(crate) threads: c_int,
    pub(crate) only_sizes: bool,
    pub(crate) words: Vec<String>,
}

/// A library.
struct Side {
    compress: Compress,
    decompress: Decompress,
    _library: Library,
}

/// What a chunk is to be like.
#[derive(Clone, Copy)]
struct Setting<'n> {
    codec: &'n CString,
    level: c_int,
    filter: c_int,
    typesize: usize,
    threads: c_int,
}

impl Side {
    fn load(path: &Path) -> Result<Self, String> {
        let problem = |problem: libloading::Error| format!("{}: {problem}", path.display());
        // SAFETY: the file is a libblosc, which does nothing when it is loaded.
        let library = unsafe { Library::new(path) }.map_err(problem)?;
        // SAFETY: the type is the one that blosc.h declares for this name.
        let compress = *unsafe { library.get(b"blosc_compress_ctx") }.map_err(problem)?;
        // SAFETY: the type is the one that blosc.h declares for this name.
        let decompress = *unsafe { library.get(b"blosc_decompress_ctx") }.map_err(problem)?;
        Ok(Self { compress, decompress, _library: library })
    }

    fn compress(&self, setting: Setting<'_>, src: &[u8], dst: &mut [u8]) -> usize {
        let Setting { codec, level, filter, typesize, threads } = setting;
        let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
        // SAFETY: both buffers have the lengths that are given, and the name is a string.
        let len = unsafe {
            (self.compress)(level, filter, typesize, src.len(), from, to, dst.len(), codec.as_ptr(), 0, threads)
        };
        usize::try_from(len).ok().filter(|&len| len > 0).unwrap_or_else(|| panic!("not compressed: {len}"))
    }

    fn decompress(&self, threads: c_int, src: &[u8], dst: &mut [u8]) {
        // SAFETY: `src` is a chunk, and `dst` has the length that is given.
        let len = unsafe { (self.decompress)(src.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), threads) };
        assert_eq!(usize::try_from(len), Ok(dst.len()), "not decompressed");
    }
}

/// What was found for a codec one way.
#[derive(Default)]
struct Findings {
    ratios: Vec<(f64, String)>,
}

/// Compares, prints each row and what they come to.
pub(crate) fn run(abi: &Abi) -> Result<(), String> {
    let (ours, theirs) = (Side::load(&abi.ours)?, Side::load(&abi.theirs)?);
    if abi.only_sizes {
        return sizes(abi, &ours, &theirs);
    }
    let mut findings: BTreeMap<(&str, &str), Findings> = BTreeMap::new();
    for name in real::names() {
        let set = real::load(name)?;
        for codec in CODECS {
            for (level, filter) in SETTINGS {
                for len in LENS {
                    let row = row_name(name, codec, level, filter, len);
                    if !abi.words.iter().all(|word| row.split(' ').any(|part| part == word)) {
                        continue;
                    }
                    let name = CString::new(codec).expect("a name without zeros");
                    let setting = Setting { codec: &name, level, filter, typesize: set.typesize, threads: abi.threads };
                    let [packing, unpacking] = times(abi, &ours, &theirs, setting, &set.chunks(len, TOTAL));
                    for (way, pair) in [("compress", packing), ("decompress", unpacking)] {
                        println!("{way:10} {row:60} {:6.2} x", pair.ratio);
                        findings.entry((codec, way)).or_default().ratios.push((pair.ratio, row.clone()));
                    }
                }
            }
        }
    }
    println!();
    for ((codec, way), found) in &findings {
        let mean = geomean(found.ratios.iter().map(|(ratio, _)| *ratio));
        let below = found.ratios.iter().filter(|(ratio, _)| *ratio < 0.9).count();
        if let Some((slowest, row)) = found.ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
            let rows = found.ratios.len();
            println!("{codec:8} {way:10} mean {mean:5.2}  slowest {slowest:5.2} ({row})  below 0.9: {below} of {rows}");
        }
    }
    Ok(())
}

fn row_name(set: &str, codec: &str, level: c_int, filter: c_int, len: usize) -> String {
    let filter = usize::try_from(filter).map_or("", |filter| FILTERS[filter]);
    format!("{set} {codec} {level} {filter} {} KiB", len >> 10)
}

/// How long chunks take, both ways; both sides decode what C wrote.
fn times(abi: &Abi, ours: &Side, theirs: &Side, setting: Setting<'_>, chunks: &[&[u8]]) -> [Pair; 2] {
    let room = chunks[0].len() + OVERHEAD;
    let packed: Vec<Vec<u8>> = chunks
        .iter()
        .map(|chunk| {
            let mut out = vec![0; room];
            let len = theirs.compress(setting, chunk, &mut out);
            out.truncate(len);
            out
        })
        .collect();
    let effort = if setting.threads > 1 { abi.effort.with_rest() } else { abi.effort };
    let effort = if chunks.len() > 1 { effort.in_step() } else { effort };
    let (mut a, mut b) = (vec![0; room], vec![0; room]);
    let (mut next_a, mut next_b) = (chunks.iter().cycle(), chunks.iter().cycle());
    let packing = compare(
        effort,
        || {
            next_a.next().into_iter().for_each(|chunk| {
                ours.compress(setting, chunk, &mut a);
            });
        },
        || {
            next_b.next().into_iter().for_each(|chunk| {
                theirs.compress(setting, chunk, &mut b);
            });
        },
    );
    let len = chunks[0].len();
    let (mut next_a, mut next_b) = (packed.iter().cycle(), packed.iter().cycle());
    let unpacking = compare(
        effort,
        || next_a.next().into_iter().for_each(|chunk| ours.decompress(setting.threads, chunk, &mut a[..len])),
        || next_b.next().into_iter().for_each(|chunk| theirs.decompress(setting.threads, chunk, &mut b[..len])),
    );
    [packing, unpacking]
}

/// Compares the sizes of all levels and filters, over whole sets.
fn sizes(abi: &Abi, ours: &Side, theirs: &Side) -> Result<(), String> {
    let mut worst: BTreeMap<&str, (f64, String)> = BTreeMap::new();
    for name in real::names() {
        let set = real::load(name)?;
        for codec in CODECS {
            for (level, filter, len) in all_settings() {
                let row = row_name(name, codec, level, filter, len);
                if !abi.words.iter().all(|word| row.split(' ').any(|part| part == word)) {
                    continue;
                }
                let codec_name = CString::new(codec).expect("a name without zeros");
                let setting = Setting { codec: &codec_name, level, filter, typesize: set.typesize, threads: 1 };
                let [a, b] = [ours, theirs].map(|side| total_size(side, setting, &set, len));
                let ratio = a as f64 / b as f64;
                println!("{row:60} {a:10} {b:10} {ratio:7.3}");
                let entry = worst.entry(codec).or_default();
                if ratio > entry.0 {
                    *entry = (ratio, row);
                }
            }
        }
    }
    for (codec, (ratio, row)) in &worst {
        println!("{codec:8} at the most {ratio:.3} of the size of C's: {row}");
    }
    Ok(())
}

fn all_settings() -> impl Iterator<Item = (c_int, c_int, usize)> {
    (1..=9).flat_map(|level| (0..=2).flat_map(move |filter| LENS.map(|len| (level, filter, len))))
}

fn total_size(side: &Side, setting: Setting<'_>, set: &DataSet, len: usize) -> usize {
    let mut out = vec![0; len + OVERHEAD];
    let len = set.chunk_len(len);
    set.chunks(len, 4 << 20).iter().map(|chunk| side.compress(setting, chunk, &mut out)).sum()
}
