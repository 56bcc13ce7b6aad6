//! What is done to frames of different numbers of chunks. Each operation runs in a process of its
//! own, so that the most memory that process had is what the operation took.

use crate::data::formula;
use blosc_oxide::{Codec, Compressor, Frame, FrameEdit, FrameOptions, Options, Threads, storage::Durability};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Short chunks: ten million of them are 2 GB. What grows is what there is for each chunk, whatever
/// it holds.
const CHUNK_LEN: usize = 256;
/// How many different chunks there are.
const KINDS: usize = 251;
const TYPESIZE: usize = 4;
/// How many items a slice has: some chunks.
const SLICE: u64 = 1000;
/// An operation is repeated for so long, and the fastest run counts: nothing but the machine makes
/// one slower.
const BUDGET: Duration = Duration::from_millis(300);
const MAX_RUNS: usize = 101;
/// What is cut off the end of a frame, so that `repair` has to look for its chunks: the trailer.
const CUT: u64 = 20;

/// What an operation took.
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    /// For how long a processor was busy with it, which others on the machine do not change. `None`
    /// where the system does not tell.
    pub(crate) busy: Option<f64>,
    /// The most memory that the process had, above what it had before. `None` where the system does
    /// not tell.
    pub(crate) memory: Option<u64>,
}

type Operation = (&'static str, fn(&Path, usize) -> Cost);

/// All operations in the order in which they can be done to one file: the first writes it, the last
/// damages it.
pub(crate) const OPERATIONS: [Operation; 7] = [
    ("write", write),
    ("open", open),
    ("slice", slice),
    ("verify", verify),
    ("append", append),
    ("commit", commit),
    ("repair", repair),
];

pub(super) fn chunk_options() -> Options {
    Options::new(TYPESIZE).with_codec(Codec::Lz4).with_threads(Threads::serial())
}

fn options() -> FrameOptions {
    FrameOptions::new(chunk_options()).with_durability(Durability::None)
}

/// Chunks of different lengths, over and over: an index of chunks that are all alike would compress
/// to nothing.
pub(super) fn chunks() -> impl Iterator<Item = Vec<u8>> + Clone {
    let mut compressor = Compressor::new(chunk_options()).expect("good options");
    let walk = formula::walk(KINDS * CHUNK_LEN).bytes;
    let kinds = walk.chunks(CHUNK_LEN).enumerate().map(|(number, data)| {
        let mut data = data.to_vec();
        data[number * 97 % CHUNK_LEN..].fill(0);
        compressor.compress(&data).expect("a short buffer")
    });
    kinds.collect::<Vec<_>>().into_iter().cycle()
}

fn readable(path: &Path) -> Frame {
    Frame::open_with(path, &options().opening()).expect("a good frame")
}

fn writable(path: &Path) -> FrameEdit {
    Frame::open_with(path, &options().opening()).and_then(|frame| frame.edit()).expect("a good frame")
}

/// How long one run took, and for how much of that a processor was busy with it.
type Times = (Duration, Option<Duration>);

/// Runs `action`, which times what counts of it, over and over.
fn repeated(mut action: impl FnMut() -> Times) -> Cost {
    // Linux then counts the most memory from here on; elsewhere nothing is told of memory.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS");
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.is_empty() || (start.elapsed() < BUDGET && times.len() < MAX_RUNS) {
        times.push(action());
    }
    let memory = memory("VmHWM").zip(before).map(|(most, before)| most.saturating_sub(before));
    let elapsed = times.iter().map(|times| times.0).min().unwrap_or_default();
    // The mean: Linux brings its figure up to date a few hundred times a second only.
    let busy: Option<Duration> = times.iter().map(|times| times.1).sum();
    let busy = busy.map(|busy| busy.as_secs_f64() / times.len() as f64);
    Cost { seconds: elapsed.as_secs_f64(), busy, memory }
}

fn timed<T>(action: impl FnOnce() -> T) -> Times {
    let busy_before = busy();
    let start = Instant::now();
    let result = action();
    let elapsed = start.elapsed();
    let busy = busy().zip(busy_before).map(|(after, before)| after.saturating_sub(before));
    drop(result);
    (elapsed, busy)
}

/// For how long processors have been busy with this thread, the only one here, as Linux tells.
fn busy() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    statistics.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// A figure of this process that Linux tells, in bytes.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok().map(|kib: u64| kib << 10)
}

/// All chunks and one commit.
fn write(path: &Path, nchunks: usize) -> Cost {
    let chunks = chunks();
    repeated(|| {
        if path.exists() {
            std::fs::remove_file(path).expect("an old file that can be removed");
        }
        timed(|| {
            let mut frame = Frame::create(path, options()).expect("a new frame");
            chunks.clone().take(nchunks).for_each(|chunk| frame.append_chunk(&chunk).expect("a good chunk"));
            frame.commit().expect("room on the disk");
        })
    })
}

fn open(path: &Path, _: usize) -> Cost {
    repeated(|| timed(|| readable(path)))
}

/// Some items from the middle, of a frame that is opened for that.
fn slice(path: &Path, nchunks: usize) -> Cost {
    let nitems = (nchunks * (CHUNK_LEN / TYPESIZE)) as u64;
    let start = nitems.saturating_sub(SLICE) / 2;
    let range = start..(start + SLICE).min(nitems);
    repeated(|| timed(|| readable(path).items(range.clone()).expect("a good frame")))
}

fn verify(path: &Path, _: usize) -> Cost {
    let frame = readable(path);
    repeated(|| timed(|| assert!(frame.verify().expect("a good frame").is_good())))
}

/// What a program takes that opens the frame, adds one chunk, commits and ends.
fn append(path: &Path, _: usize) -> Cost {
    let mut chunks = chunks();
    repeated(|| {
        let chunk = chunks.next().expect("it goes on for ever");
        timed(|| {
            let mut frame = writable(path);
            frame.append_chunk(&chunk).expect("a good chunk");
            frame.commit().expect("room on the disk");
        })
    })
}

/// The commit of one more chunk, in a program that has done so before.
fn commit(path: &Path, _: usize) -> Cost {
    let (mut frame, mut chunks) = (writable(path), chunks());
    let mut committed = || {
        frame.append_chunk(&chunks.next().expect("it goes on for ever")).expect("a good chunk");
        timed(|| frame.checkpoint().expect("room on the disk"))
    };
    // A packed index, and then two slots that are written as a whole.
    (0..3).for_each(|_| _ = committed());
    repeated(committed)
}

/// A frame that has lost its end: its chunks are looked for, and written to a new frame.
fn repair(path: &Path, nchunks: usize) -> Cost {
    let file = File::options().write(true).open(path).expect("a frame");
    let len = file.metadata().expect("a file").len();
    file.set_len(len - CUT).expect("a file that can be cut");
    let repaired = path.with_extension("repaired");
    let cost = repeated(|| {
        if repaired.exists() {
            std::fs::remove_file(&repaired).expect("an old file that can be removed");
        }
        timed(|| {
            let repair = Frame::repair_path(path, options()).expect("a file that can be read");
            let mut edit = Frame::create(&repaired, repair.frame_options()).expect("a new frame");
            repair.write_to(&mut edit).and_then(|()| edit.commit()).expect("room on the disk")
        })
    });
    assert!(readable(&repaired).nchunks() >= nchunks, "chunks are lost");
    std::fs::remove_file(repaired).expect("a file that was just written");
    cost
}

/// Runs one operation; the frame is in `directory`.
pub(crate) fn run(name: &str, nchunks: usize, directory: &Path) -> Result<Cost, String> {
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name);
    let (_, operation) = operation.ok_or_else(|| format!("{name} is no operation"))?;
    Ok(operation(&path(directory), nchunks))
}

/// Where the frame is.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join("growth.b2frame")
}
