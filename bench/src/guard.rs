//! Instruction counts of some operations, which do not depend on how busy the machine is.
//!
//! Each operation runs in a process of its own under valgrind's callgrind, which counts only what
//! happens in [`measured`]. The counts are compared with the ones in `instructions.txt`. The large
//! frame is made before that, without valgrind, under which it would take minutes.

use crate::data::{DataSet, formula};
use blosc_kernels::{bitshuffle, shuffle};
use blosc_oxide::{
    ArrayOptions, AxisSelection, Chunk, Codec, Compressor, Decompressor, Frame, FrameEdit, FrameOptions, NdArray,
    OpenOptions, Options, Threads,
    storage::{Durability, MemoryStorage},
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// By how much a count may grow.
const TOLERANCE: f64 = 1.03;
const LEN: usize = 256 << 10;
/// The chunks of the large frame.
const MANY: u64 = 100_000;

type Operation = (&'static str, fn(&Path));

const OPERATIONS: [Operation; 18] = [
    ("shuffle-4", |_| filter(shuffle::shuffle, 4)),
    ("unshuffle-4", |_| filter(shuffle::unshuffle, 4)),
    ("shuffle-12", |_| filter(shuffle::shuffle, 12)),
    ("bitshuffle-4", |_| filter(bitshuffle::bitshuffle, 4)),
    ("bitunshuffle-4", |_| filter(bitshuffle::bitunshuffle, 4)),
    ("compress-blosclz", |_| compress(Codec::BloscLz)),
    ("decompress-blosclz", |_| decompress(Codec::BloscLz)),
    ("compress-lz4", |_| compress(Codec::Lz4)),
    ("decompress-lz4", |_| decompress(Codec::Lz4)),
    ("compress-lz4hc", |_| compress(Codec::Lz4Hc)),
    ("decompress-zlib", |_| decompress(Codec::Zlib)),
    ("item-lz4", |_| item()),
    ("frame-append", |_| append()),
    ("frame-open", |_| open()),
    ("open-100000", open_large),
    ("edit-append-commit-100000", edit_append_commit),
    ("slice-100000", slice_large),
    ("slice-array", |_| slice_array()),
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

/// The bytes of a frame of [`MANY`] chunks with checksums.
fn large() -> Vec<u8> {
    let mut frame = frame();
    for number in 0..MANY {
        // No two are the same.
        let data: Vec<u8> =
            (number..).take(8).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
        frame.append(&data).expect("a good buffer");
    }
    frame.commit().and_then(|frame| frame.to_bytes()).expect("a good frame")
}

/// The large frame in memory, for one thread and without syncing.
fn open_in_memory(path: &Path) -> impl FnOnce() -> Frame {
    let bytes = std::fs::read(path).expect("the large frame");
    let options = OpenOptions::new().with_threads(Threads::serial()).with_durability(Durability::None);
    move || Frame::open_with(bytes, &options).expect("a good frame")
}

fn open_large(path: &Path) {
    let open = open_in_memory(path);
    measured(|| assert_eq!(open().nchunks() as u64, MANY));
}

fn add_one(frame: &Frame) -> Frame {
    let mut edit = frame.edit().expect("nobody else edits it");
    edit.append(&[7; 64]).expect("a good buffer");
    edit.commit().expect("room in memory")
}

fn edit_append_commit(path: &Path) {
    // The first commits read the index and the hashes, and make both slots: later ones are
    // measured.
    let frame = (0..3).fold(open_in_memory(path)(), |frame, _| add_one(&frame));
    measured(|| assert_eq!(add_one(&frame).nchunks() as u64, MANY + 4));
}

fn slice_large(path: &Path) {
    let frame = open_in_memory(path)();
    let items = |first: u64| frame.items(first..first + 100).expect("a good frame").len();
    items(7);
    measured(|| assert_eq!(items(800_005), 400));
}

fn slice_array() {
    let options = ArrayOptions::new(&[256, 256], options(Codec::Lz4)).with_chunks(&[64, 64]).with_blocks(&[16, 64]);
    let array = NdArray::from_data(&options, &walk().bytes).expect("good options");
    let slice = |first: u64| {
        let selection: [AxisSelection; 2] = [(first..first + 100).into(), (30..70).into()];
        array.slice(&selection).expect("a good array").len()
    };
    slice(0);
    measured(|| assert_eq!(slice(77), 100 * 40 * 4));
}

/// Runs one operation: this is what valgrind looks at.
pub(crate) fn run(name: &str, large: &Path) -> Result<(), String> {
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name);
    operation.map(|(_, run)| run(large)).ok_or_else(|| format!("{name} is no operation"))
}

/// Counts all operations and compares; with `update`, writes the counts down instead.
pub(crate) fn check(update: bool) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    let expected = read(&path);
    let frame = temporary("b2frame");
    std::fs::write(&frame, large()).map_err(|problem| format!("{}: {problem}", frame.display()))?;
    let counted: Result<_, String> = OPERATIONS.iter().map(|&(name, _)| Ok((name, count(name, &frame)?))).collect();
    // That it cannot be removed is no reason to stop.
    let _ = std::fs::remove_file(&frame);
    let counted: Vec<(&str, u64)> = counted?;
    let mut found = BTreeMap::new();
    let mut slower = Vec::new();
    for (name, count) in counted {
        let ratio = expected.get(name).map(|&expected| count as f64 / expected as f64);
        println!(
            "{name:26} {count:>12} instructions{}",
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
        "{}: more than 3 % slower, or new; `bench guard --update` if that is as it should be",
        slower.join(", ")
    ))
}

fn read(path: &Path) -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

fn temporary(extension: &str) -> PathBuf {
    std::env::temp_dir().join(format!("blosc-bench-{}.{extension}", std::process::id()))
}

fn count(name: &str, large: &Path) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
    let out = temporary("callgrind");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*guard::measured*"]);
    command.arg(format!("--callgrind-out-file={}", out.display())).arg(program).args(["operation", name]).arg(large);
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
