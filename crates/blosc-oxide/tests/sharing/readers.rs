//! Readers without a lock open committed states only, and keep the chunks of the state that they
//! have opened, while a writer adds, replaces and deletes chunks, and is closed and opened again.

use crate::common::child::Scratch;
use crate::common::content::{Content, noise};
use crate::common::disk::{self, FILE};
use crate::common::edits::CHUNK;
use blosc_oxide::{
    ErrorKind, Frame, FrameEdit, FrameLayout, FrameOptions, Location, Options,
    storage::{Directory, Durability, FileDirectory, MemoryDirectory, MemoryStorage, ReadAt},
};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::Rng;
use testkit::storage::{Disk, Image};

fn writer(disk: &Disk) -> FrameEdit {
    disk::edit(disk, FrameLayout::Contiguous, Durability::None).unwrap()
}

/// A reader, and what it has seen first.
struct Reader {
    frame: Frame,
    content: Content,
    opened: u64,
}

impl Reader {
    fn new(disk: &Disk, opened: u64) -> Self {
        let frame = disk::open(disk, FrameLayout::Contiguous).unwrap();
        let content = Content::of(&frame).unwrap();
        Self { frame, content, opened }
    }

    fn check(&self, step: u64) {
        let found = Content::of(&self.frame).unwrap();
        assert!(found == self.content, "opened at step {}, other bytes at step {step}", self.opened);
    }
}

fn frame_of_chunks(checksums: bool, nchunks: u64) -> Disk {
    let disk = disk::empty(FrameLayout::Contiguous);
    let options =
        disk::options().with_checksums(checksums).with_durability(Durability::None).with_metalayer("unit", "kelvin");
    let mut frame = disk::create(&disk, FrameLayout::Contiguous, options).unwrap();
    frame.vlmetalayers_mut().add("note", b"").unwrap();
    (0..nchunks).for_each(|seed| frame.append(&noise(seed, CHUNK)).unwrap());
    frame.checkpoint().unwrap();
    drop(frame);
    disk
}

#[test]
fn the_place_of_a_deleted_chunk_is_not_used_again_after_the_frame_is_opened_again() {
    for checksums in [true, false] {
        let disk = frame_of_chunks(checksums, 5);
        let reader = Reader::new(&disk, 0);
        let mut edit = writer(&disk);
        edit.delete(4).unwrap();
        edit.commit().unwrap();
        for seed in 10..14 {
            let mut edit = writer(&disk);
            edit.append(&noise(seed, CHUNK)).unwrap();
            edit.commit().unwrap();
            reader.check(seed);
        }
    }
}

/// Changes that leave the chunks of earlier states where they are.
fn change(frame: &mut FrameEdit, rng: &mut Rng, step: u64) {
    let (nchunks, data) = (frame.nchunks(), noise(step, CHUNK));
    match rng.below(9) {
        0..=1 => frame.append(&data).unwrap(),
        2 => frame.insert(rng.below(nchunks), &data).unwrap(),
        3 => frame.update(rng.below(nchunks), &data).unwrap(),
        4 => frame.update(nchunks - 1, &data).unwrap(),
        5 if nchunks > 3 => frame.delete(nchunks - 1).unwrap(),
        6 if nchunks > 3 => frame.delete(rng.below(nchunks)).unwrap(),
        7 => frame.metalayers_mut().update("unit", noise(step, 6)).unwrap(),
        _ => frame.vlmetalayers_mut().update("note", &noise(step, rng.below(200))).unwrap(),
    }
    frame.checkpoint().unwrap();
}

#[test]
fn what_a_reader_has_opened_stays_readable() {
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let disk = frame_of_chunks(seed % 3 > 0, 6);
        let mut readers = Vec::new();
        let mut frame = writer(&disk);
        for step in 0..250 {
            if rng.below(3) == 0 {
                frame = writer(&disk);
            }
            change(&mut frame, &mut rng, 1000 * seed + step);
            readers.push(Reader::new(&disk, step));
            if readers.len() > 12 {
                readers.remove(rng.below(12));
            }
            readers.iter().for_each(|reader| reader.check(step));
        }
    }
}

#[test]
fn the_file_of_a_chunk_is_opened_once_for_all_of_its_parts() {
    let disk = disk::empty(FrameLayout::Sparse);
    let mut frame = disk::create(&disk, FrameLayout::Sparse, disk::options()).unwrap();
    let data: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    frame.append(&data).unwrap();
    frame.checkpoint().unwrap();
    assert_eq!(frame.items(70_000..70_001).unwrap(), 70_000_u32.to_le_bytes());
    let before = disk.count();
    assert_eq!(frame.items(70_000..70_001).unwrap(), 70_000_u32.to_le_bytes());
    let calls = disk.count() - before;
    frame.update(0, &noise(1, 800_000)).unwrap();
    assert_eq!(frame.items(5..6).unwrap(), noise(1, 24)[20..]);
    // Its length, its head, its block starts and a block.
    assert!(calls <= 4, "{calls} calls");
}

#[test]
fn a_frame_that_is_opened_for_every_chunk_stays_small() {
    let disk = frame_of_chunks(true, 1);
    for seed in 1..1000 {
        let mut frame = writer(&disk);
        frame.append(&noise(seed, CHUNK)).unwrap();
        frame.checkpoint().unwrap();
    }
    let frame = writer(&disk);
    let (dead, live) = (frame.dead_bytes().unwrap(), frame.cbytes());
    assert!(dead < 100_000, "{dead} dead bytes beside {live}");
    assert_eq!(frame.decompress(999).unwrap(), noise(999, CHUNK));
}

/// A frame of which a part is in an older state for the first reads.
struct Flickering {
    new: MemoryStorage,
    old: Vec<u8>,
    part: Range<usize>,
    /// How often the old state is seen.
    left: AtomicUsize,
}

impl ReadAt for Flickering {
    fn len(&self) -> io::Result<u64> {
        self.new.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.new.read_at(position, buffer)?;
        let start = usize::try_from(position).unwrap();
        let seen = start.max(self.part.start)..(start + buffer.len()).min(self.part.end);
        let is_old = |left: usize| left.checked_sub(1);
        if !seen.is_empty() && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_old).is_ok() {
            buffer[seen.start - start..seen.end - start].copy_from_slice(&self.old[seen]);
        }
        Ok(())
    }
}

/// Opens a frame while `layer` of `len` bytes, behind others of `before` bytes, is written.
fn open_while_metalayer_is_written(before: usize, times: usize) {
    let options = FrameOptions::new(Options::new(4))
        .with_metalayer("first", noise(1, before))
        .with_metalayer("last", noise(2, 60));
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    frame.append(&noise(3, CHUNK)).unwrap();
    let old = frame.checkpoint().unwrap().to_bytes().unwrap();
    frame.metalayers_mut().update("last", noise(4, 60)).unwrap();
    let new = frame.checkpoint().unwrap().to_bytes().unwrap();
    let header_len = u32::from_be_bytes(new[11..15].try_into().unwrap()) as usize;
    let part = header_len - 60..header_len;
    let source = Flickering { new: MemoryStorage::new(new), old, part, left: AtomicUsize::new(times) };
    let frame = Frame::open(Location::source(source)).unwrap();
    assert_eq!(frame.metalayers().get("last").unwrap(), noise(4, 60), "{before} bytes before, {times} times");
    assert!(!frame.verify().unwrap().has_foreign_metalayers);
}

#[test]
fn metalayers_that_are_being_written_are_read_again() {
    for before in [10, 1000, 5000] {
        for times in 1..=3 {
            open_while_metalayer_is_written(before, times);
        }
    }
}

/// A frame with so many chunks that its checksums are read when they are first needed.
fn long_frame(seed: u64) -> Vec<u8> {
    let mut frame = Frame::create(MemoryStorage::default(), disk::options()).unwrap();
    (0..10_000).for_each(|number| frame.append(&noise(seed + number, 64)).unwrap());
    frame.compact().unwrap();
    frame.checkpoint().unwrap().to_bytes().unwrap()
}

#[test]
fn checksums_that_a_later_commit_has_overwritten_are_not_called_damaged() {
    // After updates and a compaction all lengths are what they were.
    let (old, new) = (long_frame(0), long_frame(20_000));
    assert_eq!(old[..87], new[..87]);
    let disk = Disk::with_image(Image::of_file(FILE, old));
    let mut reader = disk::open(&disk, FrameLayout::Contiguous).unwrap();
    disk.open(FILE).unwrap().write_at(0, &new).unwrap();
    let found = reader.verify().unwrap();
    assert!(found.is_good(), "{:?}", found.damage);
    assert_eq!((found.chunks, found.checksums), (10_000, 0));
    // Who wants no chunk that has not been compared does not get one.
    assert_eq!(reader.check_on_read().unwrap_err().kind(), ErrorKind::Conflict);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.verify().unwrap().checksums, 10_000);
    reader.check_on_read().unwrap();
    assert!(reader.chunk(9_999).is_ok());
}

/// Replaces, removes and adds chunks, again and again, so that numbers of files would come up
/// again.
fn churn(frame: &mut FrameEdit, seed: u64) {
    frame.update(0, &noise(seed, CHUNK)).unwrap();
    frame.delete(1).unwrap();
    frame.append(&noise(seed + 1, CHUNK)).unwrap();
    frame.checkpoint().unwrap();
}

fn chunk_files(names: &[String]) -> usize {
    names.iter().filter(|name| name.ends_with(".chunk")).count()
}

#[test]
fn a_reader_of_a_directory_keeps_its_state_whatever_is_committed() {
    let scratch = Scratch::new("readers-directory");
    let path = scratch.path().join("frame");
    let memory = MemoryDirectory::new();
    let options = || disk::options().with_checksums(false).with_layout(FrameLayout::Sparse);
    type Open<'a> = Box<dyn Fn() -> Frame + 'a>;
    let on_disk: Open<'_> =
        Box::new(|| Frame::open_with(&path, &options().with_durability(Durability::None).opening()).unwrap());
    let in_memory: Open<'_> = Box::new(|| Frame::open_with(memory.clone(), &options().opening()).unwrap());
    let names = [
        Box::new(|| FileDirectory::new(&path).names().unwrap()) as Box<dyn Fn() -> Vec<String> + '_>,
        Box::new(|| memory.names().unwrap()),
    ];
    let mut created = Frame::create(&path, options()).unwrap();
    (0..5).for_each(|seed| created.append(&noise(seed, CHUNK)).unwrap());
    (0..5).for_each(|seed| churn(&mut created, 10 * seed));
    assert_eq!(chunk_files(&names[0]()), 5, "also the handle that has made it removes what it replaces");
    (0..5).for_each(|_| created.delete(0).unwrap());
    created.commit().unwrap();
    Frame::create(memory.clone(), options()).unwrap().commit().unwrap();
    for (open, names) in [on_disk, in_memory].into_iter().zip(names) {
        let mut writer = open().edit().unwrap();
        (0..5).for_each(|seed| writer.append(&noise(seed, CHUNK)).unwrap());
        writer.checkpoint().unwrap();
        let mut readers = vec![(open(), Content::of(&writer).unwrap())];
        for seed in (100..200).step_by(10) {
            churn(&mut writer, seed);
            // Another process, which knows nothing of the files that this one has left.
            drop(writer);
            writer = open().edit().unwrap();
            readers.push((open(), Content::of(&writer).unwrap()));
            for (reader, content) in &readers {
                assert_eq!(Content::of(reader).unwrap(), *content, "after {seed}");
            }
        }
        assert!(chunk_files(&names()) > 5);
        let (mut last, _) = readers.remove(0);
        drop(readers);
        writer.compact().unwrap();
        assert_eq!(last.decompress(0).unwrap_err().kind(), ErrorKind::Conflict);
        assert!(last.refresh().unwrap());
        assert_eq!(Content::of(&last).unwrap(), Content::of(&writer).unwrap());
        drop(last);
        (0..20).for_each(|seed| churn(&mut writer, 200 + 10 * seed));
        assert_eq!(chunk_files(&names()), 5, "without readers nothing is left over: {:?}", names());
    }
}

/// A frame in memory of each layout, with chunks of different sizes or of one.
fn frames_to_move() -> impl Iterator<Item = (Location, Option<MemoryDirectory>)> {
    let made = |layout, is_varied: bool| {
        let (directory, storage) = (MemoryDirectory::new(), MemoryStorage::default());
        let sparse = layout == FrameLayout::Sparse;
        let location: Location = if sparse { directory.clone().into() } else { storage.into() };
        let mut edit = Frame::create(location.clone(), disk::options().with_layout(layout)).unwrap();
        for chunk in 1..6 {
            edit.append(&noise(chunk as u64, if is_varied { CHUNK * chunk } else { CHUNK })).unwrap();
        }
        edit.commit().unwrap();
        (location, sparse.then_some(directory))
    };
    [FrameLayout::Contiguous, FrameLayout::Sparse]
        .into_iter()
        .flat_map(move |layout| [false, true].map(|is_varied| made(layout, is_varied)))
}

#[test]
fn what_others_have_moved_is_not_called_damaged() {
    for (location, _) in frames_to_move() {
        let reader = Frame::open(location.clone()).unwrap();
        let mut edit = Frame::open(location).unwrap().edit().unwrap();
        edit.delete(0).unwrap();
        edit.append(&noise(9, 2 * CHUNK)).unwrap();
        edit.commit().unwrap();
        let mut edit = reader.clone().edit().unwrap();
        edit.compact().unwrap();
        drop(edit);
        let error = reader.verify().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    }
}

#[test]
fn a_frame_that_is_taken_away_while_it_is_read_is_not_called_damaged() {
    for (location, directory) in frames_to_move() {
        let Some(directory) = directory else { continue };
        let reader = Frame::open(location).unwrap();
        directory.remove("00000001.chunk").unwrap();
        // Only the file of a chunk is missing: this is damage.
        let error = reader.chunk(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(reader.verify().unwrap().damaged, 1);
        directory.remove("chunks.b2frame").unwrap();
        let error = reader.chunk(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.to_string().contains("replaced by another one"), "{error}");
        assert_eq!(reader.verify().unwrap_err().kind(), ErrorKind::Conflict);
    }
}
