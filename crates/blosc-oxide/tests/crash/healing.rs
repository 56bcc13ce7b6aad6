//! What a crash has left is put right, and what other programs have done since is not undone.

use crate::common::content::{Content, noise};
use crate::common::disk::{self, FILE};
use crate::common::edits::{CHUNK, EDITS, EMPTYING, Edit, Kind, REUSING, ROW};
use crate::common::recording::Recording;
use blosc_oxide::{
    ErrorKind, Frame, FrameLayout, FrameOptions, Options,
    storage::{Durability, MemoryStorage, ReadAt, Storage},
};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::Rng;
use testkit::storage::{Call, Change, Disk, Image};

const PLAIN: Kind = Kind {
    layout: FrameLayout::Contiguous,
    is_variable: false,
    has_long_header: false,
    checksums: true,
    has_slots: false,
};
const KINDS: [Kind; 6] = [
    PLAIN,
    Kind { has_slots: true, ..PLAIN },
    Kind { has_slots: true, checksums: false, ..PLAIN },
    Kind { checksums: false, ..PLAIN },
    Kind { has_long_header: true, ..PLAIN },
    Kind { has_long_header: true, checksums: false, ..PLAIN },
];
/// The numbers of threads in the header.
const THREADS: std::ops::Range<usize> = 62..68;

fn edit(name: &str) -> Edit {
    *EDITS.iter().find(|(other, _)| *other == name).unwrap()
}

/// Opens what a crash has left, and crashes in the midst of it; how many images that makes.
fn crash_again(recording: &Recording, calls: usize, image: &Image) -> usize {
    let disk = Disk::with_image(image.clone());
    drop(disk::edit(&disk, recording.layout, Durability::Fsync).unwrap());
    let log = disk.log();
    let (mut checked, mut torn) = (0, 0);
    log.power_cuts(3, &mut |_, image| {
        recording.check(calls, image);
        checked += 1;
    });
    log.torn_starts(FILE, &mut |_, image| {
        torn += 1;
        if torn % 97 == 0 {
            recording.check(calls, image);
            checked += 1;
        }
    });
    checked
}

#[test]
fn healing_can_be_interrupted() {
    for kind in KINDS {
        let mut checked = 0;
        for name in ["append", "add a metalayer over many chunks", "update a metalayer", "shrink a metalayer"] {
            let recording = Recording::of(kind, &[edit(name)], Durability::Fsync);
            let mut seen = HashSet::new();
            let mut count = 0;
            recording.log.torn_starts(FILE, &mut |calls, image| {
                count += 1;
                if count % 101 == 0 && seen.insert(image.digest()) {
                    checked += crash_again(&recording, calls, image);
                }
            });
        }
        assert!(checked > 100, "{checked}");
    }
}

/// What a program does that changes a metalayer in place: content, and the number of threads it
/// runs on.
fn change_unit(image: &Image, content: &[u8]) -> Image {
    let mut bytes = image.get(FILE).unwrap().to_vec();
    let marker = [0xc6, 0, 0, 0, 6];
    let at = bytes.windows(5).position(|window| window == marker).expect("a metalayer of 6 bytes") + 5;
    bytes[at..at + 6].copy_from_slice(content);
    bytes[THREADS.start + 2] = 8;
    bytes[THREADS.end - 1] = 8;
    Image::of_file(FILE, bytes)
}

fn unit(image: &Image) -> Vec<u8> {
    disk::open(&Disk::with_image(image.clone()), FrameLayout::Contiguous)
        .unwrap()
        .metalayers()
        .get("unit")
        .unwrap()
        .to_vec()
}

#[test]
fn a_metalayer_that_was_changed_after_a_crash_stays_changed() {
    for kind in KINDS {
        for name in ["append", "update a metalayer", "add a metalayer over many chunks", "all at once"] {
            let recording = Recording::of(kind, &[edit(name)], Durability::Fsync);
            for image in recording.log.states().filter(|image| unit(image).len() == 6) {
                let changed = change_unit(&image, b"pascal");
                assert_eq!(unit(&changed), b"pascal", "{}", recording.name);
                let disk = Disk::with_image(changed);
                let mut frame = disk::edit(&disk, kind.layout, Durability::Fsync).unwrap();
                assert_eq!(frame.metalayers().get("unit"), Some(&b"pascal"[..]), "{}", recording.name);
                frame.append(&noise(1, CHUNK)).unwrap();
                frame.checkpoint().unwrap();
                drop(frame);
                assert_eq!(unit(&disk.image()), b"pascal", "{}", recording.name);
            }
        }
    }
}

#[test]
fn a_frame_that_was_opened_for_writing_has_no_footer_that_could_undo_metalayers() {
    for kind in KINDS {
        let recording = Recording::of(kind, &[edit("update a metalayer")], Durability::Fsync);
        for image in recording.log.states() {
            let disk = Disk::with_image(image);
            drop(disk::edit(&disk, kind.layout, Durability::Fsync).unwrap());
            // The old content is what a torn header would have, too.
            for content in [b"kelvin", b"newton"] {
                assert_eq!(unit(&change_unit(&disk.image(), content)), content, "{}", recording.name);
            }
        }
    }
}

#[test]
fn the_number_of_threads_in_the_header_is_no_damage() {
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let disk = Kind { layout, ..PLAIN }.disk();
        let name = disk::header_file(layout);
        let expected = Content::of(&disk::open(&disk, layout).unwrap()).unwrap();
        // Whatever is behind the frame could help.
        disk.open(name).unwrap().write_at(u64::try_from(disk.image().get(name).unwrap().len()).unwrap(), b"x").unwrap();
        let mut threads = disk.image().get(name).unwrap()[THREADS].to_vec();
        (threads[2], threads[5]) = (7, 9);
        disk.open(name).unwrap().write_at(THREADS.start as u64, &threads).unwrap();
        let frame = disk::open(&disk, layout).unwrap();
        assert_eq!(Content::of(&frame).unwrap(), expected);
    }
}

#[test]
fn a_reader_takes_notice_of_every_commit() {
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        for is_variable in [false, true] {
            let disk = Kind { layout, is_variable, ..PLAIN }.disk();
            let mut reader = disk::open(&disk, layout).unwrap();
            let mut writer = disk::edit(&disk, layout, Durability::None).unwrap();
            assert!(!reader.refresh().unwrap());
            let same_size: Edit = ("replace by one of the same size", |frame| {
                frame.update(0, &noise(77, CHUNK))?;
                frame.checkpoint().map(drop)
            });
            for (name, edit) in ROW.iter().chain(REUSING).chain([&same_size]) {
                edit(&mut writer).unwrap();
                reader.refresh().unwrap();
                assert_eq!(Content::of(&reader).unwrap(), Content::of(&writer).unwrap(), "{name} on {layout:?}");
            }
        }
    }
}

#[test]
fn a_reader_takes_notice_of_a_change_that_keeps_all_lengths() {
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let disk = disk::empty(layout);
        let mut writer = disk::create(&disk, layout, disk::options().with_durability(Durability::None)).unwrap();
        writer.append(&noise(1, CHUNK)).unwrap();
        writer.compact().unwrap();
        let mut reader = disk::open(&disk, layout).unwrap();
        for seed in 2..6 {
            writer.update(0, &noise(seed, CHUNK)).unwrap();
            writer.compact().unwrap();
            assert!(reader.refresh().unwrap(), "{layout:?}");
            assert_eq!(reader.decompress(0).unwrap(), noise(seed, CHUNK));
        }
    }
}

#[test]
fn a_writer_syncs_what_it_finds_then_all_but_the_header_then_that() {
    let recording = Recording::of(PLAIN, &[edit("append several")], Durability::Fsync);
    let mut calls: Vec<String> = recording.log.calls.iter().map(describe).collect();
    calls.dedup();
    assert_eq!(calls, ["sync", "write behind", "sync", "write 87 bytes to the start", "sync"]);
}

fn describe(call: &Call) -> String {
    match call {
        Call::SyncFile(_) | Call::SyncNames => "sync".to_owned(),
        Call::Change(Change::Write { position: 0, bytes, .. }) => format!("write {} bytes to the start", bytes.len()),
        Call::Change(Change::Write { .. }) => "write behind".to_owned(),
        Call::Change(other) => format!("{other:?}"),
    }
}

#[test]
fn every_commit_in_a_long_row_leaves_a_good_frame() {
    let disk = disk::empty(FrameLayout::Contiguous);
    let options = disk::options().with_durability(Durability::None);
    let mut frame = disk::create(&disk, FrameLayout::Contiguous, options).unwrap();
    frame.vlmetalayers_mut().add("note", b"").unwrap();
    let mut rng = Rng::new(11);
    for step in 0..500_u64 {
        let (nchunks, data) = (frame.nchunks(), noise(step, CHUNK));
        match rng.below(12) {
            0..=3 => frame.append(&data).unwrap(),
            4 if nchunks > 0 => frame.update(rng.below(nchunks), &data).unwrap(),
            5 if nchunks > 30 => frame.delete(rng.below(nchunks)).unwrap(),
            6 if step % 5 == 0 => frame.metalayers_mut().add(&format!("m{step}"), noise(step, 40)).unwrap_or_default(),
            7 if step % 60 == 0 => drop(frame.compact().unwrap()),
            8 if step % 20 == 0 => {
                drop(frame);
                frame = disk::edit(&disk, FrameLayout::Contiguous, Durability::None).unwrap();
            }
            _ => frame.vlmetalayers_mut().update("note", &noise(step, rng.below(90))).unwrap(),
        }
        frame.checkpoint().unwrap();
        let found = disk::open(&Disk::with_image(disk.image()), FrameLayout::Contiguous).unwrap();
        assert!(found.verify().unwrap().is_good(), "step {step}");
        assert_eq!(Content::of(&found).unwrap(), Content::of(&frame).unwrap(), "step {step}");
    }
    let dead = frame.dead_bytes().unwrap();
    assert!(dead < 200_000, "{dead} dead bytes");
}

#[test]
fn a_frame_that_is_committed_after_every_chunk_stays_small() {
    let disk = disk::empty(FrameLayout::Contiguous);
    let options = disk::options().with_durability(Durability::None);
    let mut frame = disk::create(&disk, FrameLayout::Contiguous, options).unwrap();
    for reopened in 0..20 {
        for seed in 0..50 {
            frame.append(&noise(reopened * 50 + seed, CHUNK)).unwrap();
            frame.checkpoint().unwrap();
        }
        drop(frame);
        frame = disk::edit(&disk, FrameLayout::Contiguous, Durability::None).unwrap();
    }
    let (dead, live) = (frame.dead_bytes().unwrap(), frame.cbytes());
    // The index and hashes of 1,000 chunks take some 10,000 bytes; 1,000 of them would take
    // millions.
    assert!(dead < 100_000, "{dead} dead bytes beside {live}");
    assert_eq!(frame.decompress(999).unwrap(), noise(999, CHUNK));
}

#[test]
fn a_frame_that_was_emptied_and_compacted_stays_small() {
    let disk = disk::empty(FrameLayout::Contiguous);
    let options = disk::options().with_durability(Durability::None);
    let mut frame = disk::create(&disk, FrameLayout::Contiguous, options).unwrap();
    (0..5).for_each(|seed| frame.append(&noise(seed, 200_000)).unwrap());
    frame.checkpoint().unwrap();
    (0..5).for_each(|_| frame.delete(0).unwrap());
    frame.compact().unwrap();
    for seed in 0..200 {
        frame.append(&noise(seed, CHUNK)).unwrap();
        frame.checkpoint().unwrap();
    }
    let dead = frame.dead_bytes().unwrap();
    assert!(dead < 20_000, "{dead} dead bytes");
    assert_eq!(frame.decompress(199).unwrap(), noise(199, CHUNK));
}

#[test]
fn a_compacted_file_ends_where_its_frame_does() {
    // The index of many chunks is so much shorter than it could be that nothing is moved.
    for nchunks in [1, 10, 1000] {
        let disk = disk::empty(FrameLayout::Contiguous);
        let mut frame = disk::create(&disk, FrameLayout::Contiguous, disk::options()).unwrap();
        for chunks in [0..1, 1..nchunks + 1] {
            chunks.for_each(|seed| frame.append(&noise(seed, 8)).unwrap());
            frame.checkpoint().unwrap();
        }
        frame.compact().unwrap();
        let len = usize::try_from(disk.open(FILE).unwrap().len().unwrap()).unwrap();
        assert_eq!(len, frame.checkpoint().unwrap().to_bytes().unwrap().len(), "{nchunks} chunks");
        let found = disk::open(&disk, FrameLayout::Contiguous).unwrap();
        assert_eq!(Content::of(&found).unwrap(), Content::of(&frame).unwrap(), "{nchunks} chunks");
    }
}

/// A frame of many small chunks with an index and a trailer as another program writes them: the
/// metalayer of hashes is an old one. `dead` bytes are between chunks and index.
fn extended_by_another(nchunks: usize, dead: usize) -> Vec<u8> {
    let mut frame = Frame::create(MemoryStorage::default(), disk::options()).unwrap();
    (0..nchunks).for_each(|seed| frame.append(&noise(seed as u64, 8)).unwrap());
    frame.compact().unwrap();
    let mut bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let number =
        |bytes: &[u8], at: usize| usize::try_from(u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
    let section_end = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize + number(&bytes, 39);
    let trailer_len = u32::from_be_bytes(bytes[bytes.len() - 22..bytes.len() - 18].try_into().unwrap()) as usize;
    bytes.truncate(bytes.len() - trailer_len);
    bytes.splice(section_end..section_end, noise(1, dead));
    let layer = blosc_oxide::compress(b"old", &Options::new(1)).unwrap();
    bytes.extend([0x94, 1, 0x93, 0xcd, 0, 18, 0xde, 0, 1, 0xa5]);
    bytes.extend(b"_xxh3\xd2\0\0\0\x17\xdc\0\x01\xc6");
    bytes.extend(u32::try_from(layer.len()).unwrap().to_be_bytes());
    bytes.extend(&layer);
    bytes.push(0xce);
    bytes.extend(u32::try_from(28 + layer.len() + 23).unwrap().to_be_bytes());
    bytes.extend([0xd8, 0]);
    bytes.extend([0; 16]);
    let (frame_len, section_len) = (bytes.len() as u64, (number(&bytes, 39) + dead) as u64);
    bytes[16..24].copy_from_slice(&frame_len.to_be_bytes());
    bytes[39..47].copy_from_slice(&section_len.to_be_bytes());
    bytes
}

#[test]
fn compacting_what_another_program_has_extended_overwrites_nothing_that_lives() {
    let nchunks = 500;
    let mut compacted = 0;
    for dead in (0..12_000).step_by(250) {
        let disk = Disk::with_image(Image::of_file(FILE, extended_by_another(nchunks, dead)));
        let mut frame = disk::edit(&disk, FrameLayout::Contiguous, Durability::Fsync).unwrap();
        assert!(frame.verify().unwrap().has_foreign_changes);
        let content = Content::of(&frame).unwrap();
        assert_eq!(content.chunks[nchunks - 1], noise(nchunks as u64 - 1, 8));
        frame.compact().unwrap();
        compacted += usize::from(frame.dead_bytes().unwrap() == 0);
        for image in disk.log().states() {
            let found = disk::open(&Disk::with_image(image), FrameLayout::Contiguous).unwrap();
            assert_eq!(Content::of(&found).unwrap(), content, "{dead} dead bytes");
        }
    }
    assert!(compacted > 5, "{compacted} were compacted");
}

/// A storage that at some time says that reads go beyond its end.
struct EndsEarly {
    inner: MemoryStorage,
    reads: Arc<AtomicUsize>,
}

impl ReadAt for EndsEarly {
    fn len(&self) -> std::io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        match self.reads.fetch_sub(1, Ordering::Relaxed) {
            // A read that goes beyond the end is tried again.
            1 | 2 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            _ => self.inner.read_at(position, buffer),
        }
    }
}

impl Storage for EndsEarly {
    fn write_at(&self, position: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.inner.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_compaction_that_fails_half_way_leaves_no_handle_that_does_harm() {
    let mut frame = Frame::open(PLAIN.disk().image().get(FILE).unwrap().to_vec()).unwrap().edit().unwrap();
    (0..8).for_each(|seed| frame.update(0, &noise(seed, CHUNK)).and_then(|()| frame.checkpoint().map(drop)).unwrap());
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let (mut poisoned, mut fails) = (0, 2);
    loop {
        let reads = Arc::new(AtomicUsize::new(usize::MAX));
        let storage = EndsEarly { inner: MemoryStorage::new(bytes.clone()), reads: Arc::clone(&reads) };
        let mut frame = Frame::open_with(storage, &disk::options().opening()).unwrap().edit().unwrap();
        let content = Content::of(&frame).unwrap();
        reads.store(fails, Ordering::Relaxed);
        let result = frame.compact();
        reads.store(usize::MAX, Ordering::Relaxed);
        let chunk = noise(1, CHUNK);
        match frame.append(&chunk) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Poisoned, "{fails}: {error}");
                poisoned += 1;
            }
            Ok(()) => {
                let again = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap();
                assert_eq!(Content::of(&again).unwrap(), content.with_chunk(&chunk), "{fails}");
            }
        }
        if result.is_ok() {
            break;
        }
        fails += 1;
    }
    assert!(poisoned > 3 && poisoned < fails, "{poisoned} of {fails}");
}

/// C-Blosc2 looks for it there if there are no chunks, whatever the header says about the length of
/// the section.
#[test]
fn the_trailer_of_a_frame_without_chunks_follows_its_header() {
    for kind in KINDS {
        let disk = kind.disk();
        let mut frame = disk::edit(&disk, kind.layout, Durability::Fsync).unwrap();
        for (name, edit) in EMPTYING {
            edit(&mut frame).unwrap();
            if frame.nchunks() > 0 {
                continue;
            }
            let bytes = disk.image().get(FILE).unwrap().to_vec();
            let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize;
            let frame_len = usize::try_from(u64::from_be_bytes(bytes[16..24].try_into().unwrap())).unwrap();
            let trailer_len = u32::from_be_bytes(bytes[frame_len - 22..frame_len - 18].try_into().unwrap()) as usize;
            assert_eq!(header_len + trailer_len, frame_len, "{name} on {kind:?}");
        }
    }
}

#[test]
fn a_frame_that_cannot_be_made_leaves_nothing() {
    let path = std::env::temp_dir().join(format!("blosc-oxide-not-made-{}", std::process::id()));
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let options =
            FrameOptions::new(Options::new(4)).with_layout(layout).with_metalayer("x".repeat(40), "too long a name");
        assert!(Frame::create(&path, options).is_err());
        assert!(!path.exists(), "{layout:?}");
    }
}
