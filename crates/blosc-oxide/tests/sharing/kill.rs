//! Processes that write and are killed: nothing that they have reported as committed is lost.
#![allow(clippy::print_stdout, reason = "how much was checked is worth knowing")]

use crate::common::child;
use crate::common::content::noise;
use blosc_oxide::{Frame, FrameEdit, FrameLayout, FrameOptions, Options, Result, Threads, storage::Durability};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use testkit::Rng;

/// How many processes are killed on each of two frames.
const KILLS: usize = 100;
/// How many of them work on the same frame, one after the other.
const KILLS_PER_FRAME: usize = 8;
/// How long a process goes on after its first report, at the most.
const MAX_LIFE: Duration = Duration::from_millis(30);
const CHUNK: usize = 64;

fn options(layout: FrameLayout) -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial()))
        .with_layout(layout)
        .with_durability(Durability::None)
        .with_metalayer("count", 0_u64.to_le_bytes())
}

fn data(index: usize) -> Vec<u8> {
    noise(index as u64, CHUNK)
}

/// What the process does that is going to be killed.
#[test]
fn writer_process() {
    let Some(job) = child::job() else { return };
    let layout = if job[0] == "sparse" { FrameLayout::Sparse } else { FrameLayout::Contiguous };
    let path = Path::new(&job[1]);
    let mut frame = match path.exists() {
        true => Frame::open_with(path, &options(layout).opening()).unwrap().edit().unwrap(),
        false => Frame::create(path, options(layout)).unwrap(),
    };
    loop {
        write_more(&mut frame).unwrap();
        child::report(frame.nchunks());
    }
}

/// One commit: some chunks, their number in metalayers of both kinds, and now and then more.
fn write_more(frame: &mut FrameEdit) -> Result<()> {
    let start = frame.nchunks();
    for index in start..start + 1 + start % 3 {
        frame.append(&data(index))?;
    }
    let count = frame.nchunks() as u64;
    if start == 0 {
        frame.vlmetalayers_mut().add("count", &count.to_le_bytes())?;
    }
    frame.vlmetalayers_mut().update("count", &count.to_le_bytes())?;
    if start.is_multiple_of(5) {
        // Of another length now and then, so that the header grows and shrinks.
        let len = if start.is_multiple_of(2) { 8 } else { 8 + start % 900 };
        let mut content = count.to_le_bytes().to_vec();
        content.resize(len, 7);
        frame.metalayers_mut().update("count", content)?;
    }
    frame.checkpoint()?;
    if start % 40 == 17 { frame.compact().map(drop) } else { Ok(()) }
}

/// Starts a process and kills it at some moment; the last number that it has reported.
fn kill_one(layout: &str, path: &Path, rng: &mut Rng) -> usize {
    let mut child = child::start("kill::writer_process", &[layout, path.to_str().unwrap()]);
    let reports = reports(BufReader::new(child.stdout.take().unwrap()));
    let mut last = 0;
    // Some are killed while they open the frame, or make it.
    if rng.below(8) > 0 {
        last = reports.recv_timeout(Duration::from_secs(60)).expect("a process that writes");
    }
    std::thread::sleep(MAX_LIFE.mul_f64(rng.below(1000) as f64 / 1000.0));
    child.kill().unwrap();
    child.wait().unwrap();
    reports.iter().last().unwrap_or(last)
}

/// What a process reports, read by a thread, so that the process never waits.
fn reports(out: impl BufRead + Send + 'static) -> Receiver<usize> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // The last line may be cut off anywhere, so that only lines with an end count.
        let mut lines = out.split(b'\n').map_while(|line| line.ok()).peekable();
        while let Some(line) = lines.next() {
            let number = std::str::from_utf8(&line).ok().and_then(child::reported);
            if let (Some(number), true) = (number, lines.peek().is_some()) {
                let _ = sender.send(number);
            }
        }
    });
    receiver
}

/// Checks that the frame holds at least `reported` chunks, all of them right, and nothing that was
/// not committed.
fn check(path: &Path, reported: usize) -> usize {
    // A process that is killed before its first commit leaves nothing here.
    let frame = Frame::open(path).unwrap();
    let nchunks = frame.nchunks();
    assert!(nchunks >= reported, "{reported} chunks were committed, {nchunks} are there");
    assert!(frame.verify().unwrap().is_good());
    for index in 0..nchunks {
        assert_eq!(frame.decompress(index).unwrap(), data(index), "chunk {index} of {nchunks}");
    }
    if nchunks > 0 {
        assert_eq!(frame.vlmetalayers().get("count").unwrap().unwrap(), (nchunks as u64).to_le_bytes());
        let noted = frame.metalayers().get("count").unwrap().first_chunk().copied().map(u64::from_le_bytes).unwrap();
        assert!(noted <= nchunks as u64, "{noted} in a metalayer of {nchunks} chunks");
    }
    nchunks
}

fn remove(path: &Path) {
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

fn kill_many(layout: &str, seed: u64) {
    let scratch = child::Scratch::new(&format!("kill-{layout}"));
    let path = scratch.path().join("frame");
    let mut rng = Rng::new(seed);
    let (mut reported, mut chunks) = (0, 0);
    for kill in 0..KILLS {
        if kill % KILLS_PER_FRAME == 0 && path.exists() {
            remove(&path);
            reported = 0;
        }
        reported = kill_one(layout, &path, &mut rng).max(reported);
        let there = if path.exists() { check(&path, reported) } else { 0 };
        chunks = chunks.max(there);
        reported = there;
    }
    println!("{KILLS} processes killed on a {layout} frame, which had {chunks} chunks at the most, 0 lost");
    assert!(chunks > 0, "no process has come to write anything");
}

#[test]
fn processes_that_append_to_a_file_are_killed() {
    kill_many("contiguous", 1);
}

#[test]
fn processes_that_append_to_a_directory_are_killed() {
    kill_many("sparse", 2);
}
