//! A commit costs what has changed, and not the number of chunks; many of them leave a file that is
//! not much longer than it has to be.

use crate::common::child::Scratch;
use crate::common::content::{Content, noise};
use crate::common::disk::{self, FILE};
use crate::common::edits::CHUNK;
use blosc_oxide::{
    ArrayOptions, AxisSelection, Fill, Frame, FrameEdit, FrameLayout, FrameOptions, NdArray, Options, Threads,
    storage::{Durability, MemoryStorage, ReadAt, Storage},
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use testkit::Rng;
use testkit::storage::Disk;

/// Bytes in memory, and how many of them were read and written.
#[derive(Default)]
struct Counted {
    inner: MemoryStorage,
    moved: Arc<AtomicUsize>,
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.moved.fetch_add(buffer.len(), Ordering::Relaxed);
        self.inner.read_at(position, buffer)
    }
}

impl Storage for Counted {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.moved.fetch_add(bytes.len(), Ordering::Relaxed);
        self.inner.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn options(checksums: bool) -> FrameOptions {
    disk::options().with_checksums(checksums).with_durability(Durability::None)
}

/// A frame of chunks of `len` bytes, committed after each, and how many bytes are moved.
fn committed_one_by_one(checksums: bool, nchunks: u64, len: usize) -> (FrameEdit, Arc<AtomicUsize>) {
    let storage = Counted::default();
    let moved = Arc::clone(&storage.moved);
    let mut frame = Frame::create(storage, options(checksums).with_metalayer("unit", "kelvin")).unwrap();
    for seed in 0..nchunks {
        frame.append(&noise(seed, len)).unwrap();
        frame.checkpoint().unwrap();
    }
    (frame, moved)
}

/// How many bytes are moved by most of some changes.
fn usual_cost(frame: &mut FrameEdit, moved: &AtomicUsize, change: Change) -> usize {
    let cost = |seed| {
        let before = moved.load(Ordering::Relaxed);
        change(frame, seed);
        frame.checkpoint().unwrap();
        moved.load(Ordering::Relaxed) - before
    };
    let mut costs: Vec<usize> = (10_000..10_015).map(cost).collect();
    costs.sort_unstable();
    costs[costs.len() / 2]
}

type Change = fn(&mut FrameEdit, usize);

/// Changes of a frame of at least 300 chunks that touch one of them, or none.
const CHANGES: [(&str, Change); 4] = [
    ("append", |frame, seed| frame.append(&noise(seed as u64, CHUNK)).unwrap()),
    ("update", |frame, seed| frame.update(seed % 300, &noise(seed as u64, CHUNK)).unwrap()),
    ("metalayer", |frame, seed| frame.metalayers_mut().update("unit", noise(seed as u64, 6)).unwrap()),
    ("vlmetalayer", |frame, seed| {
        let layers = frame.vlmetalayers_mut();
        let content = noise(seed as u64, 30 + seed % 5);
        if layers.update("note", &content).is_err() {
            layers.add("note", &content).unwrap();
        }
    }),
];

#[test]
fn a_commit_moves_no_more_bytes_in_a_frame_of_many_chunks() {
    for checksums in [true, false] {
        let costs = [400, 4000].map(|nchunks| {
            let (mut frame, moved) = committed_one_by_one(checksums, nchunks, CHUNK);
            CHANGES.map(|(_, change)| usual_cost(&mut frame, &moved, change))
        });
        for (at, (name, _)) in CHANGES.iter().enumerate() {
            let [few, many] = costs.map(|costs| costs[at]);
            assert!(many < few + 200 && many < 5000, "{name}: {few} and {many} bytes, checksums {checksums}");
        }
    }
}

#[test]
fn all_commits_together_move_a_few_times_what_the_chunks_are() {
    for checksums in [true, false] {
        let (frame, moved) = committed_one_by_one(checksums, 6000, 1000);
        let moved = moved.load(Ordering::Relaxed) as u64;
        assert!(moved < 4 * frame.cbytes(), "{moved} bytes for {}, checksums {checksums}", frame.cbytes());
    }
}

#[test]
fn a_frame_is_little_longer_than_what_compacting_leaves() {
    for checksums in [true, false] {
        for (nchunks, len) in [(3000, 2000), (10_000, 500)] {
            let (mut frame, _) = committed_one_by_one(checksums, nchunks, len);
            let before = frame.dead_bytes().unwrap() as f64;
            let len_before = frame.checkpoint().unwrap().to_bytes().unwrap().len() as f64;
            assert!(frame.verify().unwrap().is_good());
            frame.compact().unwrap();
            let after = frame.checkpoint().unwrap().to_bytes().unwrap().len() as f64;
            let ratio = (len_before.max(after + before)) / after;
            assert!(ratio < 1.2, "{nchunks} chunks of {len}, checksums {checksums}: {ratio}");
        }
    }
}

#[test]
fn a_frame_that_is_committed_once_has_a_packed_index() {
    for checksums in [true, false] {
        let mut once = Frame::create(MemoryStorage::default(), options(checksums)).unwrap();
        (0..2000).for_each(|seed| once.append(&noise(seed, 100)).unwrap());
        let once = once.checkpoint().unwrap().to_bytes().unwrap();
        let (mut often, _) = committed_one_by_one(checksums, 2000, 100);
        often.metalayers_mut().remove("unit").unwrap();
        often.compact().unwrap();
        assert_eq!(often.dead_bytes().unwrap(), 0);
        let compacted = often.checkpoint().unwrap().to_bytes().unwrap();
        for bytes in [&once, &compacted] {
            // The type of the fingerprint.
            assert_eq!(bytes[bytes.len() - 17], if checksums { 3 } else { 0 });
        }
        // The trailer of the empty frame that was there first.
        assert!(once.len() < compacted.len() + 200, "{} and {} bytes", once.len(), compacted.len());
    }
}

#[test]
fn every_kind_of_change_in_slots_is_what_a_reader_finds() {
    for (seed, checksums) in [(1, true), (2, false), (3, true), (4, false)] {
        let disk = disk::empty(FrameLayout::Contiguous);
        let options = options(checksums).with_metalayer("unit", noise(0, 6));
        let mut frame = disk::create(&disk, FrameLayout::Contiguous, options).unwrap();
        frame.vlmetalayers_mut().add("note", b"").unwrap();
        (0..300).for_each(|seed| frame.append(&noise(seed, 40)).unwrap());
        frame.checkpoint().unwrap();
        let mut rng = Rng::new(seed);
        for step in 0..300 {
            let (nchunks, data) = (frame.nchunks(), noise(1000 + step, 40));
            match rng.below(14) {
                0..=3 => frame.append(&data).unwrap(),
                4 => (0..5).for_each(|_| frame.update(rng.below(nchunks), &data).unwrap()),
                5 => frame.delete(rng.below(nchunks)).unwrap(),
                6 => frame.delete(nchunks - 1).unwrap(),
                7 => frame.insert(rng.below(nchunks), &data).unwrap(),
                8 => (0..40).for_each(|_| frame.append(&data).unwrap()),
                9 => frame.update(rng.below(nchunks), &[0; 40]).unwrap(),
                10 => frame.metalayers_mut().update("unit", noise(step, 6)).unwrap(),
                11 if step % 3 == 0 => frame.vlmetalayers_mut().update("note", &noise(step, rng.below(900))).unwrap(),
                12 if step % 7 == 0 => {
                    frame.append(&data).unwrap();
                    frame.abort();
                    frame = disk::edit(&disk, FrameLayout::Contiguous, Durability::None).unwrap();
                }
                13 if step % 11 == 0 => {
                    drop(frame);
                    frame = disk::edit(&disk, FrameLayout::Contiguous, Durability::None).unwrap();
                }
                _ => frame.vlmetalayers_mut().update("note", &noise(step, rng.below(40))).unwrap(),
            }
            frame.checkpoint().unwrap();
            let found = disk::open(&Disk::with_image(disk.image()), FrameLayout::Contiguous).unwrap();
            assert!(found.verify().unwrap().is_good(), "step {step}");
            assert!(Content::of(&found).unwrap() == Content::of(&frame).unwrap(), "step {step}, seed {seed}");
        }
        let len = disk.open(FILE).unwrap().len().unwrap();
        assert!(len < 500_000, "{len} bytes");
    }
}

/// Commits follow one another faster than all of the index can be read.
#[test]
fn a_long_frame_can_be_opened_while_it_is_committed_without_pause() {
    let scratch = Scratch::new("commits-readers");
    for checksums in [true, false] {
        let path = scratch.path().join(format!("frame-{checksums}"));
        let options = FrameOptions::new(Options::new(1).with_threads(Threads::serial()))
            .with_checksums(checksums)
            .with_durability(Durability::None);
        let mut writer = Frame::create(&path, options).unwrap();
        let data = |at: usize| noise(at as u64, 40);
        (0..60_000).for_each(|at| writer.append(&data(at)).unwrap());
        writer.checkpoint().unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let next = writer.nchunks();
                    writer.append(&data(next)).unwrap();
                    writer.checkpoint().unwrap();
                }
            });
            let mut last = 0;
            for turn in 0..40 {
                let found = Frame::open(&path).map(|frame| (frame.nchunks(), frame));
                let (nchunks, frame) = found.inspect_err(|_| is_done.store(true, Ordering::Relaxed)).unwrap();
                assert!(nchunks >= last && nchunks >= 60_000, "turn {turn}");
                for at in [0, nchunks / 2, nchunks - 1] {
                    assert_eq!(frame.decompress(at).unwrap(), data(at), "chunk {at} of {nchunks}");
                }
                last = nchunks;
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn an_array_that_grows_row_by_row_costs_what_is_added() {
    let scratch = Scratch::new("commits-array");
    let path = scratch.path().join("array");
    let frame = FrameOptions::new(Options::new(4).with_threads(Threads::serial())).with_durability(Durability::None);
    let array = ArrayOptions::new(&[0, 64], Options::new(4)).with_chunks(&[1, 64]).with_frame(frame);
    let mut array = NdArray::create(path.as_path(), &array, &Fill::Zeros).unwrap();
    for row in 0..600 {
        array.append(0, &noise(row, 256)).unwrap();
        array.checkpoint().unwrap();
    }
    let found = NdArray::open(&path).unwrap();
    assert_eq!(found.shape(), [600, 64]);
    assert_eq!(found.slice(&[AxisSelection::Index(417), AxisSelection::All]).unwrap(), noise(417, 256));
    let len = std::fs::metadata(&path).unwrap().len();
    assert!(len < 2 * 600 * 300, "{len} bytes");
}
