//! One process writes and four read, without locks: the readers see committed states only, in
//! order.
#![allow(clippy::print_stdout, reason = "how much was checked is worth knowing")]

use crate::common::child::{self, Scratch};
use crate::common::content::noise;
use blosc_oxide::{Frame, FrameEdit, FrameLayout, FrameOptions, Options, Result, Threads, storage::Durability};
use std::path::Path;
use std::process::{Child, Output};
use std::time::{Duration, Instant};
use testkit::Rng;

const READERS: usize = 4;
const CHUNK: usize = 64;
/// How many chunks a frame gets before its chunks are replaced instead.
const MAX_CHUNKS: u64 = 48;

/// What is different between the frames that are written.
#[derive(Debug, Clone, Copy)]
struct Case {
    name: &'static str,
    layout: FrameLayout,
    checksums: bool,
    /// Whether chunks are replaced, and not only added.
    replaces: bool,
    pause: Duration,
}

const CASES: [Case; 4] = [
    Case {
        name: "file",
        layout: FrameLayout::Contiguous,
        checksums: true,
        replaces: true,
        pause: Duration::from_micros(20),
    },
    Case {
        name: "file-without-checksums",
        layout: FrameLayout::Contiguous,
        checksums: false,
        replaces: true,
        pause: Duration::from_micros(20),
    },
    Case {
        name: "directory",
        layout: FrameLayout::Sparse,
        checksums: true,
        replaces: true,
        pause: Duration::from_millis(4),
    },
    Case {
        name: "directory-without-checksums",
        layout: FrameLayout::Sparse,
        checksums: false,
        replaces: true,
        pause: Duration::from_millis(4),
    },
];

impl Case {
    fn named(name: &str) -> Self {
        *CASES.iter().find(|case| case.name == name).unwrap()
    }

    fn options(self) -> FrameOptions {
        FrameOptions::new(Options::new(4).with_threads(Threads::serial()))
            .with_layout(self.layout)
            .with_checksums(self.checksums)
            .with_durability(Durability::None)
            .with_metalayer("version", 0_u64.to_le_bytes())
    }

    /// How many chunks version `version` has.
    fn nchunks(self, version: u64) -> u64 {
        if self.replaces { version.min(MAX_CHUNKS) } else { version }
    }

    /// The version that has written the chunk `index` as version `version` has it.
    fn written_by(self, index: u64, version: u64) -> u64 {
        let later = version.saturating_sub(index + 1) / MAX_CHUNKS * MAX_CHUNKS;
        index + 1 + if self.replaces { later } else { 0 }
    }

    /// Makes the next version.
    fn write(self, frame: &mut FrameEdit, version: u64) -> Result<()> {
        let data = noise(version, CHUNK);
        if self.nchunks(version) > frame.nchunks() as u64 {
            frame.append(&data)?;
        } else {
            frame.update(usize::try_from((version - 1) % MAX_CHUNKS).unwrap(), &data)?;
        }
        frame.vlmetalayers_mut().update("version", &version.to_le_bytes())?;
        if version.is_multiple_of(4) {
            frame.metalayers_mut().update("version", version.to_le_bytes())?;
        }
        frame.checkpoint().map(drop)
    }

    /// Checks that a frame is one of the versions, and which.
    fn check(self, frame: &Frame, rng: &mut Rng) -> u64 {
        let version = frame.vlmetalayers().get("version").unwrap().unwrap();
        let version = u64::from_le_bytes(version.try_into().unwrap());
        let noted = u64::from_le_bytes(frame.metalayers().get("version").unwrap().try_into().unwrap());
        assert_eq!(noted, version / 4 * 4, "metalayer of version {version}");
        let nchunks = self.nchunks(version);
        assert_eq!(frame.nchunks() as u64, nchunks, "chunks of version {version}");
        for _ in 0..nchunks.min(6) {
            let index = rng.below(usize::try_from(nchunks).unwrap());
            let expected = noise(self.written_by(index as u64, version), CHUNK);
            assert_eq!(frame.decompress(index).unwrap(), expected, "chunk {index} of version {version}");
        }
        version
    }
}

fn is_done(frame: &Frame) -> bool {
    frame.vlmetalayers().names().any(|name| name == "done")
}

/// What the processes do that are started for it.
#[test]
fn process() {
    let Some(job) = child::job() else { return };
    let (case, path) = (Case::named(&job[1]), Path::new(&job[2]));
    let seconds: u64 = job[3].parse().unwrap();
    match job[0].as_str() {
        "write" => write(case, path, Duration::from_secs(seconds)),
        seed => read(case, path, Duration::from_secs(seconds + 120), seed.parse().unwrap()),
    }
}

fn write(case: Case, path: &Path, time: Duration) {
    let mut frame = Frame::open_with(path, &case.options().opening()).unwrap().edit().unwrap();
    let start = Instant::now();
    let mut version = 0;
    while start.elapsed() < time {
        version += 1;
        case.write(&mut frame, version).unwrap();
        std::thread::sleep(case.pause);
    }
    frame.vlmetalayers_mut().add("done", b"").unwrap();
    frame.checkpoint().unwrap();
    child::report(usize::try_from(version).unwrap());
}

fn read(case: Case, path: &Path, most: Duration, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut frame = Frame::open(path).unwrap();
    let start = Instant::now();
    let (mut last, mut seen) = (case.check(&frame, &mut rng), 0);
    while !is_done(&frame) {
        assert!(start.elapsed() < most, "the writer does not come to an end");
        let is_new = if rng.below(50) == 0 {
            frame = Frame::open(path).unwrap();
            true
        } else {
            frame.refresh().unwrap()
        };
        let version = case.check(&frame, &mut rng);
        assert!(version >= last, "version {version} after {last}");
        assert!(is_new || version == last, "version {version} has not been announced");
        seen += usize::from(version > last);
        last = version;
    }
    child::report(seen);
}

fn result(name: &str, child: Child) -> usize {
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&stdout);
    assert!(status.success(), "{name}: {text}");
    text.lines().rev().find_map(child::reported).expect("a report")
}

fn one_writer_and_four_readers(case: Case) {
    let scratch = Scratch::new(&format!("swmr-{}", case.name));
    let path = scratch.path().join("frame");
    let mut frame = Frame::create(&path, case.options()).unwrap();
    frame.vlmetalayers_mut().add("version", &0_u64.to_le_bytes()).unwrap();
    frame.commit().unwrap();
    let seconds = if child::is_long() { "20" } else { "2" };
    let job = |role: &str| child::start("one_writer::process", &[role, case.name, path.to_str().unwrap(), seconds]);
    let readers: Vec<Child> = (0..READERS).map(|seed| job(&seed.to_string())).collect();
    let writer = job("write");
    let versions = result("the writer", writer);
    let seen: Vec<usize> = readers.into_iter().map(|reader| result("a reader", reader)).collect();
    println!("{}: {versions} versions, of which readers have seen {seen:?}", case.name);
    assert!(seen.iter().all(|&seen| seen > 10), "{seen:?}");
}

#[test]
fn readers_of_a_file_see_what_was_committed() {
    one_writer_and_four_readers(CASES[0]);
}

#[test]
fn readers_of_a_file_without_checksums_see_what_was_committed() {
    one_writer_and_four_readers(CASES[1]);
}

#[test]
fn readers_of_a_directory_see_what_was_committed() {
    one_writer_and_four_readers(CASES[2]);
}

#[test]
fn readers_of_a_directory_without_checksums_see_what_was_committed() {
    one_writer_and_four_readers(CASES[3]);
}
