//! Our libblosc2.so.9, called as C programs call it: its chunks against those of the Rust
//! interface, and super-chunks and arrays against C-Blosc2.

use crate::data::{DataSet, formula, real};
use crate::grid::{CODECS, Case};
use crate::measure::{Effort, compare, geomean};
use crate::peer::{Cut, Params, Peer};
use crate::rows::Aligned;
use crate::rows::chunks::{ChunkLibrary, codec, filter};
use blosc_oxide::{Compressor, Decompressor, Options, Threads};
use std::path::{Path, PathBuf};
use std::time::Instant;

const LENS: [usize; 2] = [64 << 10, 1 << 20];
const SETTINGS: [(u8, &str); 2] = [(5, "shuffle"), (1, "bitshuffle")];
const OVERHEAD: usize = 32;
/// How many chunks of `APPENDED` bytes a program appends to a frame on disk.
const APPENDS: usize = 5000;
const APPENDED: usize = 8 << 10;
const ROUNDS: usize = 5;
/// Means of speed: chunks as a part of that of the Rust interface, the others of C-Blosc2's.
const GOALS: [(&str, f64); 4] = [("chunk", 0.97), ("append", 5.0), ("get_slice", 1.1), ("array slice", 1.1)];

/// What is compared.
pub(crate) struct Abi2 {
    pub(crate) ours: PathBuf,
    pub(crate) theirs: PathBuf,
    pub(crate) effort: Effort,
}

/// The kind of a row, its name and how fast it is.
type Found = (&'static str, String, f64);

/// Compares, prints each row and the means; fails if a mean is behind its goal.
pub(crate) fn run(abi: &Abi2) -> Result<(), String> {
    let (ours, theirs) = (load(&abi.ours)?, load(&abi.theirs)?);
    let (our_path, their_path) = (abi.ours.display(), abi.theirs.display());
    println!("{our_path}, version {}, against {their_path}, version {}", ours.version(), theirs.version());
    let mut found = Vec::new();
    for name in real::names() {
        chunks(abi, &ours, &real::load(name)?, name, &mut found);
    }
    appends(&ours, &theirs, &mut found);
    slices(abi, &ours, &theirs, &mut found);
    array_slices(abi, &ours, &theirs, &mut found);
    found.iter().for_each(|(kind, name, ratio)| println!("{kind:12} {name:60} {ratio:6.2} x"));
    summarise(&found)
}

fn load(path: &Path) -> Result<Peer, String> {
    Peer::load(path).map_err(|problem| format!("{}: {problem}", path.display()))
}

fn summarise(found: &[Found]) -> Result<(), String> {
    println!();
    let mut behind = 0;
    for (kind, goal) in GOALS {
        let ratios = || found.iter().filter(|(of, ..)| *of == kind).map(|(.., ratio)| *ratio);
        let (mean, slowest) = (geomean(ratios()), ratios().fold(f64::INFINITY, f64::min));
        println!("{kind:12} mean {mean:6.3}  slowest {slowest:6.3}  goal of the mean {goal}");
        behind += usize::from(mean < goal);
    }
    if behind == 0 { Ok(()) } else { Err(format!("{behind} means are behind")) }
}

/// The Rust interface.
struct Rust {
    compressor: Compressor,
    decompressor: Decompressor,
}

impl Rust {
    fn new(case: Case, typesize: usize) -> Self {
        let options = Options::new(typesize)
            .with_codec(codec(case.codec))
            .with_level(case.level)
            .with_filters(filter(case.filter))
            .with_threads(Threads::serial());
        let compressor = Compressor::new(options).expect("good options");
        Self { compressor, decompressor: Decompressor::new().with_threads(Threads::serial()) }
    }
}

impl ChunkLibrary for Rust {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        self.compressor.compress_into(src, dst).expect("room for the chunk")
    }

    fn decompress(&mut self, src: &[u8], dst: &mut [u8]) {
        self.decompressor.decompress_into(src, dst).expect("a good chunk");
    }
}

/// One chunk after the other, both ways, through C and from Rust.
fn chunks(abi: &Abi2, ours: &Peer, set: &DataSet, name: &str, found: &mut Vec<Found>) {
    for (codec, (level, filter), len) in
        CODECS.into_iter().flat_map(|codec| SETTINGS.map(|setting| LENS.map(|len| (codec, setting, len))).concat())
    {
        let case = Case { len, codec, level, filter, threads: 1 };
        let (mut c, mut rust) = (ours.contexts(case, set.typesize), Rust::new(case, set.typesize));
        let Some(&plain) = set.chunks(len, len).first() else { continue };
        // Two of each, at the same places within a page.
        let plain = [(); 2].map(|()| Aligned::of(plain, 64));
        let mut packed = [(); 2].map(|()| Aligned::new(plain[0].as_ref().len() + OVERHEAD, 128));
        let name = format!("{name} {codec} {level} {filter} {} KiB", len >> 10);
        let [a, b] = &mut packed;
        let mut cbytes = 0;
        let pair = compare(
            abi.effort,
            || cbytes = c.compress(plain[0].as_ref(), a.as_mut()),
            || {
                let _ = rust.compress(plain[1].as_ref(), b.as_mut());
            },
        );
        found.push(("chunk", format!("compress {name}"), pair.ratio));
        let mut out = [(); 2].map(|()| Aligned::new(plain[0].as_ref().len(), 1088));
        let [x, y] = &mut out;
        let pair = compare(
            abi.effort,
            || c.decompress(&a.as_ref()[..cbytes], x.as_mut()),
            || rust.decompress(&b.as_ref()[..cbytes], y.as_mut()),
        );
        found.push(("chunk", format!("decompress {name}"), pair.ratio));
    }
}

const PARAMS: Params = Params { codec: 1, level: 5, filter: 1, typesize: 4, threads: 1 };

/// A program that appends to a frame in a file, where each call publishes what it has appended.
fn appends(ours: &Peer, theirs: &Peer, found: &mut Vec<Found>) {
    let data = formula::walk(APPENDED).bytes;
    let path = std::env::temp_dir().join(format!("blosc-bench-{}.b2frame", std::process::id()));
    let program = |peer: &Peer| {
        let start = Instant::now();
        let mut frame = peer.new_frame(PARAMS, &path);
        (0..APPENDS).for_each(|_| frame.append(&data));
        drop(frame);
        let took = start.elapsed().as_secs_f64();
        std::fs::remove_file(&path).expect("a file that was just written");
        took
    };
    for round in 0..ROUNDS {
        let (of_ours, of_theirs) = (program(ours), program(theirs));
        found.push(("append", format!("{APPENDS} chunks of {APPENDED} bytes, round {round}"), of_theirs / of_ours));
    }
}

/// Slices of a super-chunk in memory, of a few items to several chunks.
fn slices(abi: &Abi2, ours: &Peer, theirs: &Peer, found: &mut Vec<Found>) {
    const ITEMS: usize = 1 << 20;
    let data = formula::walk(4 * ITEMS).bytes;
    let mut frames = [ours, theirs].map(|peer| {
        let mut frame = peer.memory_frame(PARAMS);
        data.chunks(256 << 10).for_each(|chunk| frame.append(chunk));
        frame
    });
    for count in [1, 100, 5000, 70_000, 300_000] {
        let mut out = [(); 2].map(|()| vec![0; 4 * count]);
        let ([a, b], [x, y]) = (&mut frames, &mut out);
        let starts = || (0..).map(|turn: usize| turn * 99_991 % (ITEMS - count));
        let (mut of_a, mut of_b) = (starts(), starts());
        let pair = compare(
            abi.effort.in_step(),
            || of_a.next().into_iter().for_each(|start| a.slice(start, start + count, x)),
            || of_b.next().into_iter().for_each(|start| b.slice(start, start + count, y)),
        );
        found.push(("get_slice", format!("{count} items"), pair.ratio));
    }
}

/// Slices of an array in memory: planes along each axis, boxes, and single items.
fn array_slices(abi: &Abi2, ours: &Peer, theirs: &Peer, found: &mut Vec<Found>) {
    let cut = Cut { shape: [64, 256, 256], chunks: [16, 128, 128], blocks: [4, 32, 64] };
    let data = formula::field(4 * 64 * 256 * 256).bytes;
    let arrays = [ours, theirs].map(|peer| peer.array(PARAMS, cut, &data));
    for lens in [[1, 256, 256], [64, 1, 256], [64, 256, 1], [20, 100, 100], [5, 9, 33], [1, 1, 1]] {
        let nbytes = usize::try_from(4 * lens.iter().product::<u64>()).expect("memory for it");
        let mut out = [(); 2].map(|()| vec![0; nbytes]);
        let [x, y] = &mut out;
        let corners =
            || (0_u64..).map(move |turn| std::array::from_fn(|axis| turn * 7919 % (cut.shape[axis] - lens[axis] + 1)));
        let (mut of_a, mut of_b) = (corners(), corners());
        let end = |start: [u64; 3]| std::array::from_fn(|axis| start[axis] + lens[axis]);
        let pair = compare(
            abi.effort.in_step(),
            || of_a.next().into_iter().for_each(|start| arrays[0].slice(start, end(start), x)),
            || of_b.next().into_iter().for_each(|start| arrays[1].slice(start, end(start), y)),
        );
        found.push(("array slice", format!("{} x {} x {}", lens[0], lens[1], lens[2]), pair.ratio));
    }
}
