//! What a commit after each chunk costs, against C-Blosc2, which writes all of its index on every
//! call.

use super::operations::{chunk_options, chunks};
use super::{counts, seconds};
use crate::data::{DataSet, real};
use crate::peer::Peer;
use crate::report::replace;
use blosc_oxide::{Frame, FrameEdit, FrameOptions, storage::Durability};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is to be measured.
pub(crate) struct Commits {
    /// The most chunks of the curve.
    pub(crate) max: usize,
    /// Where the frames are written.
    pub(crate) directory: PathBuf,
    /// C-Blosc2.
    pub(crate) peer: PathBuf,
    /// A file with a marked place for the tables.
    pub(crate) markdown: Option<PathBuf>,
}

/// Commits of ours for each of C: one of its takes as long as many of ours.
const OURS: usize = 32;
/// How many of C's commits are timed.
const ROUNDS: usize = 31;
/// A program that appends and commits, from the first chunk on.
const PROGRAM_CHUNKS: usize = 20_000;
const PROGRAM_CHUNK_LEN: usize = 8 << 10;
const PROGRAM_ROUNDS: usize = 5;
/// After so many commits the file is compared with what `compact` leaves.
const SIZE_CHUNKS: usize = 100_000;
/// What the chunks of the program are taken from.
const DATA: &str = "seismogram_i32";

/// Seconds of one commit: ours with checksums, ours without, C.
type Times = [f64; 3];

/// Measures and reports.
pub(crate) fn run(commits: &Commits, peer: &Peer) -> Result<(), String> {
    let scratch = commits.directory.join(format!("blosc-commits-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(|problem| format!("{}: {problem}", scratch.display()))?;
    let result = tables(commits, peer, &scratch);
    // What cannot be removed is in the directory for temporary files.
    let _ = std::fs::remove_dir_all(&scratch);
    let markdown = result?;
    println!("\n{markdown}");
    match &commits.markdown {
        Some(path) => crate::rewrite(path, |text| replace(text, "commits", &markdown)),
        None => Ok(()),
    }
}

fn tables(commits: &Commits, peer: &Peer, scratch: &Path) -> Result<String, String> {
    let data = real::load(DATA)?;
    let mut text = program(peer, &data, scratch);
    text.push_str(&sizes(&data, scratch));
    text.push_str("\n| chunks | with checksums | without | C | times C, with | without |\n|---|---|---|---|---|---|\n");
    for nchunks in counts(commits.max) {
        let [with, without, theirs] = curve(peer, nchunks, scratch);
        let line = format!(
            "| {nchunks} | {} | {} | {} | {:.1} | {:.1} |\n",
            seconds(with),
            seconds(without),
            seconds(theirs),
            theirs / with,
            theirs / without
        );
        print!("{line}");
        text.push_str(&line);
    }
    Ok(text)
}

fn options(checksums: bool) -> FrameOptions {
    FrameOptions::new(chunk_options()).with_durability(Durability::None).with_checksums(checksums)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn timed(count: usize, mut action: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..count).for_each(|_| action());
    start.elapsed().as_secs_f64() / count as f64
}

/// A frame of `nchunks` chunks with one commit.
fn write(path: &Path, nchunks: usize, checksums: bool) {
    let mut frame = Frame::create(path, options(checksums)).expect("a new frame");
    chunks().take(nchunks).for_each(|chunk| frame.append_chunk(&chunk).expect("a good chunk"));
    frame.commit().expect("room on the disk");
}

/// One more chunk of 256 bytes and its commit, for each of the three, in turns.
fn curve(peer: &Peer, nchunks: usize, scratch: &Path) -> Times {
    let paths = ["with", "without", "theirs"].map(|name| scratch.join(name));
    for (path, checksums) in paths.iter().zip([true, false, false]) {
        write(path, nchunks, checksums);
    }
    let data = crate::data::formula::walk(256).bytes;
    let mut ours = [true, false].map(|checksums| {
        Frame::open_with(&paths[usize::from(!checksums)], &options(checksums).opening())
            .and_then(|frame| frame.edit())
            .expect("a good frame")
    });
    let mut theirs = peer.open_frame(&paths[2]);
    let mut times = [const { Vec::new() }; 3];
    // The first commits of a handle make the places that the others change.
    ours.iter_mut().for_each(|frame| (0..OURS).for_each(|_| commit(frame, &data)));
    for _ in 0..ROUNDS {
        for (frame, times) in ours.iter_mut().zip(&mut times) {
            times.push(timed(OURS, || commit(frame, &data)));
        }
        times[2].push(timed(1, || theirs.append(&data)));
    }
    drop(theirs);
    paths.iter().for_each(|path| std::fs::remove_file(path).expect("a file that was just written"));
    times.map(median)
}

fn commit(frame: &mut FrameEdit, data: &[u8]) {
    frame.append(data).expect("room on the disk");
    frame.checkpoint().expect("room on the disk");
}

/// The seconds that a program takes that appends and commits chunk by chunk.
fn from_empty(path: &Path, checksums: bool, chunks: &[&[u8]], nchunks: usize) -> (FrameEdit, f64) {
    let mut frame = Frame::create(path, options(checksums)).expect("a new frame");
    let mut chunks = chunks.iter().cycle();
    let took = timed(nchunks, || commit(&mut frame, chunks.next().expect("it goes on for ever")));
    (frame, took)
}

fn from_empty_by_peer(peer: &Peer, path: &Path, chunks: &[&[u8]]) -> f64 {
    Frame::create(path, options(false)).and_then(FrameEdit::commit).expect("a new frame");
    let mut frame = peer.open_frame(path);
    let mut chunks = chunks.iter().cycle();
    timed(PROGRAM_CHUNKS, || frame.append(chunks.next().expect("it goes on for ever")))
}

/// How many times as fast a program is that commits after each of its chunks.
fn program(peer: &Peer, data: &DataSet, scratch: &Path) -> String {
    let chunks = data.chunks(PROGRAM_CHUNK_LEN, usize::MAX);
    let path = scratch.join("program");
    let mut ratios = [const { Vec::new() }; 2];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..PROGRAM_ROUNDS {
        let ours = [true, false].map(|checksums| {
            let (_, took) = from_empty(&path, checksums, &chunks, PROGRAM_CHUNKS);
            std::fs::remove_file(&path).expect("a file that was just written");
            took
        });
        let theirs = from_empty_by_peer(peer, &path, &chunks);
        std::fs::remove_file(&path).expect("a file that was just written");
        for (took, ratios) in ours.iter().zip(&mut ratios) {
            ratios.push(theirs / took);
        }
        [ours[0], ours[1], theirs].iter().zip(&mut times).for_each(|(&took, times)| times.push(took));
    }
    let [with, without] = ratios.map(median);
    let [ours, plain, theirs] = times.map(median).map(seconds);
    format!(
        "{PROGRAM_CHUNKS} chunks of {} KiB ({}, lz4), a commit after each: {with:.1} times C's speed with checksums, {without:.1} without; \
         {ours}, {plain} and {theirs} a chunk.\n\n",
        PROGRAM_CHUNK_LEN >> 10,
        data.name
    )
}

/// What a frame takes that was committed after each chunk, as a multiple of what is left of it when
/// it is compacted.
fn sizes(data: &DataSet, scratch: &Path) -> String {
    let chunks = data.chunks(PROGRAM_CHUNK_LEN, usize::MAX);
    let path = scratch.join("sizes");
    let [with, without] = [true, false].map(|checksums| {
        let (mut frame, _) = from_empty(&path, checksums, &chunks, SIZE_CHUNKS);
        let len = || std::fs::metadata(&path).expect("a file").len() as f64;
        let before = len();
        frame.compact().expect("room on the disk");
        let times = before / len();
        drop(frame);
        std::fs::remove_file(&path).expect("a file that was just written");
        times
    });
    format!(
        "After {SIZE_CHUNKS} such commits the file has {with:.3} and {without:.3} times the bytes that `compact` leaves.\n"
    )
}
