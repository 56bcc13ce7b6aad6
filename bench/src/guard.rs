//! Instruction counts of a dozen operations, which do not depend on how busy the machine is.
//!
//! Each operation runs in a process of its own under valgrind's callgrind, which counts only what
//! happens in [`measured`]. The counts are compared with the ones in `instructions.txt`.

use crate::data::{DataSet, formula};
use blosc_kernels::{bitshuffle, shuffle};
use blosc_oxide::{
    Chunk, Codec, Compressor, Decompressor, Frame, FrameEdit, FrameOptions, Options, Threads,
    storage::{Durability, MemoryStorage},
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// By how much a count may grow.
const TOLERANCE: f64 = 1.10;
const LEN: usize = 256 << 10;

type Operation = (&'static str, fn());

const OPERATIONS: [Operation; 14] = [
    ("shuffle-4", || filter(shuffle::shuffle, 4)),
    ("unshuffle-4", || filter(shuffle::unshuffle, 4)),
    ("shuffle-12", || filter(shuffle::shuffle, 12)),
    ("bitshuffle-4", || filter(bitshuffle::bitshuffle, 4)),
    ("bitunshuffle-4", || filter(bitshuffle::bitunshuffle, 4)),
    ("compress-blosclz", || compress(Codec::BloscLz)),
    ("decompress-blosclz", || decompress(Codec::BloscLz)),
    ("compress-lz4", || compress(Codec::Lz4)),
    ("decompress-lz4", || decompress(Codec::Lz4)),
    ("compress-lz4hc", || compress(Codec::Lz4Hc)),
    ("decompress-zlib", || decompress(Codec::Zlib)),
    ("item-lz4", item),
    ("frame-append", append),
    ("frame-open", open),
];

/// What is counted.
#[inline(never)]
fn measured(action: impl FnOnce()) {
    action();
    // What comes after it keeps the call from being the last thing, and so from becoming a jump.
    std::hint::black_box(());
}

fn walk() -> DataSet {
    formula::walk(LEN)
}

fn options(codec: Codec) -> Options {
    Options::new(4).with_codec(codec).with_threads(Threads::serial())
}

fn filter(run: fn(usize, &[u8], &mut [u8]), typesize: usize) {
    let (src, mut dst) = (walk().bytes, vec![0; LEN]);
    measured(|| run(typesize, &src, &mut dst));
}

fn chunk(codec: Codec) -> Vec<u8> {
    Compressor::new(options(codec)).and_then(|mut compressor| compressor.compress(&walk().bytes)).expect("good options")
}

fn compress(codec: Codec) {
    let (src, mut dst) = (walk().bytes, vec![0; LEN + 32]);
    let mut compressor = Compressor::new(options(codec)).expect("good options");
    compressor.compress_into(&src, &mut dst).expect("room enough");
    measured(|| {
        compressor.compress_into(&src, &mut dst).expect("room enough");
    });
}

fn decompress(codec: Codec) {
    let (src, mut dst) = (chunk(codec), vec![0; LEN]);
    let mut decompressor = Decompressor::new().with_threads(Threads::serial());
    decompressor.decompress_into(&src, &mut dst).expect("a good chunk");
    measured(|| {
        decompressor.decompress_into(&src, &mut dst).expect("a good chunk");
    });
}

fn item() {
    let (src, mut dst) = (chunk(Codec::Lz4), [0; 4]);
    let chunk = Chunk::parse(&src).expect("a good chunk");
    let mut decompressor = Decompressor::new().with_threads(Threads::serial());
    decompressor.items_into(&chunk, 7, &mut dst).expect("a good chunk");
    measured(|| decompressor.items_into(&chunk, 40_000, &mut dst).expect("a good chunk"));
}

fn frame() -> FrameEdit {
    let options = FrameOptions::new(options(Codec::Lz4)).with_durability(Durability::None);
    Frame::create(MemoryStorage::default(), options).expect("good options")
}

fn append() {
    let data = &walk().bytes[..4 << 10];
    let mut frame = frame();
    frame.append(data).expect("a good buffer");
    measured(|| {
        (0..100).for_each(|_| frame.append(data).expect("a good buffer"));
        frame.checkpoint().expect("room in memory");
    });
}

fn open() {
    let mut frame = frame();
    (0..1000).for_each(|_| frame.append(&[7; 4 << 10]).expect("a good buffer"));
    let bytes = frame.checkpoint().unwrap().to_bytes().expect("a good frame");
    measured(|| drop(Frame::open(bytes).expect("a good frame")));
}

/// Runs one operation: this is what valgrind looks at.
pub(crate) fn run(name: &str) -> Result<(), String> {
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name);
    operation.map(|(_, run)| run()).ok_or_else(|| format!("{name} is no operation"))
}

/// Counts all operations and compares; with `update`, writes the counts down instead.
pub(crate) fn check(update: bool) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    let expected = read(&path);
    let mut found = BTreeMap::new();
    let mut slower = Vec::new();
    for (name, _) in OPERATIONS {
        let count = count(name)?;
        let ratio = expected.get(name).map(|&expected| count as f64 / expected as f64);
        println!(
            "{name:20} {count:>12} instructions{}",
            ratio.map_or_else(String::new, |r| format!("  {r:.3} of what it was"))
        );
        if ratio.is_none_or(|ratio| ratio > TOLERANCE) {
            slower.push(name);
        }
        found.insert(name, count);
    }
    if update {
        let lines: String = found.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
        return std::fs::write(&path, lines).map_err(|problem| format!("{}: {problem}", path.display()));
    }
    if slower.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}: more than 10 % slower, or new; `bench guard --update` if that is as it should be",
        slower.join(", ")
    ))
}

fn read(path: &Path) -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

fn count(name: &str) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
    let out: PathBuf = std::env::temp_dir().join(format!("blosc-bench-{}.callgrind", std::process::id()));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*guard::measured*"]);
    command.arg(format!("--callgrind-out-file={}", out.display())).arg(program).args(["operation", name]);
    let output = command.output().map_err(|problem| format!("valgrind: {problem}"))?;
    let text = std::fs::read_to_string(&out).unwrap_or_default();
    // That it cannot be removed is no reason to stop.
    let _ = std::fs::remove_file(&out);
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    match total {
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => Err(format!("{name}: valgrind counts nothing: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
