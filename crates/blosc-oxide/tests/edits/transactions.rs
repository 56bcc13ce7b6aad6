//! What readers and transactions promise: an edit happens as a whole or not at all, a snapshot
//! stays what it is, and both cost what has changed.

use crate::common::child::Scratch;
use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, Kind, warm_up};
use blosc_oxide::{
    ArrayEdit, ArrayOptions, AxisSelection, ErrorKind, Fill, Frame, FrameEdit, FrameLayout, Location, NdArray, Options,
    Result, SuperChunk,
    storage::{Durability, MemoryStorage, ReadAt, Storage},
};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use testkit::storage::{Call, Disk};

const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];

fn kind(layout: FrameLayout, has_slots: bool) -> Kind {
    Kind { layout, is_variable: false, has_long_header: false, checksums: true, has_slots }
}

#[test]
fn snapshots_are_shared_between_threads_and_edits_are_sent() {
    fn assert_snapshot<T: Clone + Send + Sync + 'static>() {}
    fn assert_edit<T: Send + 'static>() {}
    assert_snapshot::<Frame>();
    assert_snapshot::<NdArray>();
    assert_edit::<FrameEdit>();
    assert_edit::<ArrayEdit>();
}

/// How an edit ends that is not committed.
#[derive(Debug, Clone, Copy)]
enum End {
    AfterGoodCalls,
    AfterAFailedCall,
    InAPanic,
    Forgotten,
}

const ENDS: [End; 4] = [End::AfterGoodCalls, End::AfterAFailedCall, End::InAPanic, End::Forgotten];

/// Ends an edit without a commit.
fn end<E>(edit: E, how: End, good: impl FnOnce(&mut E) -> Result<()>, bad: impl FnOnce(&mut E) -> Result<()>) {
    let mut edit = edit;
    good(&mut edit).unwrap();
    match how {
        End::AfterGoodCalls => drop(edit),
        End::AfterAFailedCall => {
            bad(&mut edit).unwrap_err();
            drop(edit);
        }
        End::InAPanic => {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let _edit = edit;
                panic!("half way");
            }));
            assert!(panicked.is_err());
        }
        End::Forgotten => std::mem::forget(edit),
    }
}

/// Checks that nothing that was recorded changes what is published: the header of a file, the index
/// of a directory.
fn assert_unpublished(place: &str, disk: &Disk, layout: FrameLayout, header_len: u64) {
    let log = disk.log();
    let published = log.start.get(disk::header_file(layout)).unwrap().to_vec();
    for state in log.states() {
        let found = state.get(disk::header_file(layout)).unwrap();
        let len = usize::try_from(header_len).unwrap();
        assert!(found[..len] == published[..len], "{place}: the header has been written");
    }
    let is_rename = |call: &Call| format!("{call:?}").contains("Rename") || format!("{call:?}").contains("Exchange");
    assert!(!log.calls.iter().any(is_rename), "{place}: the index has been replaced");
}

#[test]
fn an_edit_of_a_frame_that_is_dropped_publishes_nothing() {
    for layout in LAYOUTS {
        for has_slots in [true, false] {
            for how in ENDS {
                let place = format!("{how:?} on {layout:?}, slots {has_slots}");
                let disk = kind(layout, has_slots).disk();
                let mut edit = disk::edit(&disk, layout, Durability::Fsync).unwrap();
                warm_up(kind(layout, has_slots), &mut edit).unwrap();
                let before = Content::of(&edit).unwrap();
                disk.forget();
                end(
                    edit,
                    how,
                    |edit| {
                        (0..3).try_for_each(|seed| edit.append(&noise(seed, 1 << 20)))?;
                        edit.vlmetalayers_mut().update("note", b"new")?;
                        edit.delete(0)
                    },
                    |edit| edit.delete(1 << 20),
                );
                assert_unpublished(&place, &disk, layout, 87);
                let found = disk::open(&Disk::with_image(disk.image()), layout).unwrap();
                assert_eq!(Content::of(&found).unwrap(), before, "{place}");
                let next = disk::edit(&Disk::with_image(disk.image()), layout, Durability::Fsync).unwrap();
                assert_eq!(Content::of(&next).unwrap(), before, "{place}");
            }
        }
    }
}

#[test]
fn an_edit_of_an_array_that_is_dropped_publishes_nothing() {
    let options = ArrayOptions::new(&[20, 30], Options::new(4)).with_chunks(&[7, 8]).with_blocks(&[4, 4]);
    for layout in LAYOUTS {
        for how in ENDS {
            let place = format!("{how:?} on {layout:?}");
            let disk = disk::empty(layout);
            let location = disk::location(&disk, layout).unwrap();
            let array = NdArray::create(location, &options, &Fill::Zeros).unwrap().commit().unwrap();
            disk.forget();
            end(
                array.edit().unwrap(),
                how,
                |edit| {
                    edit.resize(&[25, 40])?;
                    edit.write(&[AxisSelection::from(3..5), AxisSelection::All], &noise(1, 2 * 40 * 4))
                },
                |edit| edit.append(5, b""),
            );
            assert_unpublished(&place, &disk, layout, 87);
            let found = NdArray::open(disk::location(&Disk::with_image(disk.image()), layout).unwrap()).unwrap();
            assert_eq!((found.shape(), found.to_vec().unwrap()), (&[20, 30][..], vec![0; 2400]), "{place}");
            assert_eq!(array.to_vec().unwrap(), vec![0; 2400], "{place}");
        }
    }
}

#[test]
fn a_snapshot_is_read_during_edits_and_after_commits_and_tells_of_a_compaction() {
    let in_storage = || Location::storage(MemoryStorage::default());
    let locations: [(&str, Location, Option<ErrorKind>); 3] = [
        ("a storage", in_storage(), Some(ErrorKind::Conflict)),
        ("a directory", Location::directory(blosc_oxide::storage::MemoryDirectory::new()), Some(ErrorKind::Conflict)),
        ("memory", Location::Memory, None),
    ];
    for (name, location, after_compaction) in locations {
        let mut edit = Frame::create(location, disk::options()).unwrap();
        (0..10).for_each(|seed| edit.append(&noise(seed, CHUNK)).unwrap());
        let mut snapshot = edit.commit().unwrap();
        let content = Content::of(&snapshot).unwrap();
        let still =
            |snapshot: &Frame, when: &str| assert_eq!(Content::of(snapshot).unwrap(), content, "{name}: {when}");
        for round in 0..5 {
            let mut edit = snapshot.edit().unwrap();
            edit.update(round, &noise(100 + round as u64, CHUNK)).unwrap();
            edit.delete(9).unwrap();
            edit.insert(0, &noise(200, CHUNK)).unwrap();
            still(&snapshot, "during an edit");
            edit.commit().unwrap();
            still(&snapshot, "after a commit");
        }
        let mut edit = snapshot.edit().unwrap();
        let compacted = edit.compact().unwrap();
        drop(edit);
        match after_compaction {
            Some(kind) => {
                let error = Content::of(&snapshot).unwrap_err();
                assert_eq!(error.kind(), kind, "{name}: {error}");
                assert!(error.to_string().contains("refresh"), "{name}: {error}");
            }
            None => still(&snapshot, "after a compaction"),
        }
        assert!(snapshot.refresh().unwrap(), "{name}");
        assert_eq!(Content::of(&snapshot).unwrap(), Content::of(&compacted).unwrap(), "{name}");
    }
}

/// What a snapshot may be of: the newest state, or one whose chunks are superseded.
type Change = (&'static str, fn(&mut FrameEdit) -> Result<()>);

/// Changes after which the chunks of older states are where the header or the trailer goes next.
const HEADER_CHANGES: [Change; 5] = [
    ("a longer metalayer", |edit| edit.metalayers_mut().update("unit", noise(1, 3 * CHUNK))),
    ("another one", |edit| edit.metalayers_mut().add("other", noise(2, 5 * CHUNK))),
    ("a shorter one", |edit| edit.metalayers_mut().update("unit", b"K")),
    ("a longer one again", |edit| edit.metalayers_mut().update("unit", noise(3, 9 * CHUNK))),
    ("no chunks", |edit| {
        (0..edit.nchunks()).rev().try_for_each(|index| edit.delete(index))?;
        edit.vlmetalayers_mut().add("note", &noise(4, 30 * CHUNK))
    }),
];

#[test]
fn snapshots_are_read_while_metalayers_take_the_place_of_their_chunks() {
    let scratch = Scratch::new("longer-header");
    let path = scratch.path().join("frame");
    for (name, location) in [("a file", Location::from(&path)), ("a storage", MemoryStorage::default().into())] {
        let mut edit = Frame::create(location.clone(), disk::options().with_metalayer("unit", "kelvin")).unwrap();
        (0..40).for_each(|seed| edit.append(&noise(seed, CHUNK)).unwrap());
        edit.commit().unwrap();
        let mut snapshots = vec![Frame::open(location.clone()).unwrap()];
        let frame = snapshots[0].clone();
        let stranger = Frame::open(location.clone()).unwrap();
        let mut contents = vec![Content::of(&frame).unwrap()];
        for (change, action) in HEADER_CHANGES {
            let mut edit = frame.edit().unwrap();
            // The first chunks of all states but this one are not committed any more.
            (0..3).for_each(|index| edit.update(index, &noise(100 + index as u64, CHUNK)).unwrap());
            action(&mut edit).unwrap();
            snapshots.push(edit.checkpoint().unwrap());
            contents.push(Content::of(&edit).unwrap());
            if edit.nchunks() > 0 {
                (0..3).for_each(|index| edit.append(&noise(200 + index, CHUNK)).unwrap());
            }
            drop(edit);
            for (state, (snapshot, content)) in snapshots.iter().zip(&contents).enumerate() {
                let found = Content::of(snapshot).unwrap_or_else(|error| panic!("{name}, {change}, {state}: {error}"));
                assert!(found == *content, "{name}, {change}: state {state} is another one");
            }
        }
        // Of another opening it is not known, and what it reads is overwritten.
        let error = Content::of(&stranger).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{name}: {error}");
        assert!(error.to_string().contains("refresh"), "{name}: {error}");
        // What was kept is not that of what has been moved since.
        frame.edit().unwrap().compact().unwrap();
        for snapshot in snapshots.iter().filter(|snapshot| snapshot.nchunks() > 0) {
            assert_eq!(Content::of(snapshot).unwrap_err().kind(), ErrorKind::Conflict, "{name}");
        }
    }
}

#[test]
fn a_snapshot_keeps_its_chunks_when_all_are_deleted_under_another_header() {
    let scratch = Scratch::new("no-chunks");
    for location in [Location::from(scratch.path().join("frame")), MemoryStorage::default().into()] {
        let mut edit = Frame::create(location.clone(), disk::options().with_metalayer("unit", "kelvin")).unwrap();
        (0..40).for_each(|seed| edit.append(&noise(seed, CHUNK)).unwrap());
        let mut frame = edit.commit().unwrap();
        let (snapshot, content) = (frame.clone(), Content::of(&frame).unwrap());
        // Of the same length, a shorter one, and again one of the same length.
        for unit in ["KELVIN", "K", "C"] {
            let mut edit = frame.edit().unwrap();
            (0..edit.nchunks()).rev().try_for_each(|index| edit.delete(index)).unwrap();
            edit.metalayers_mut().update("unit", unit.as_bytes()).unwrap();
            frame = edit.commit().unwrap();
            assert!(Content::of(&snapshot).unwrap() == content, "{unit}");
            let found = Content::of(&Frame::open(location.clone()).unwrap()).unwrap();
            assert!(found == Content::of(&frame).unwrap(), "{unit}");
            let mut edit = frame.edit().unwrap();
            edit.append(&noise(50, CHUNK)).unwrap();
            frame = edit.commit().unwrap();
            assert!(Content::of(&snapshot).unwrap() == content, "{unit}");
        }
    }
}

/// Opens the frame in it whenever it is to last, as another thread may do.
#[derive(Default)]
struct Watched {
    inner: MemoryStorage,
    old: Arc<Mutex<Option<Frame>>>,
    seen: Arc<Mutex<Vec<(Frame, Content)>>>,
}

impl ReadAt for Watched {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(position, buffer)
    }
}

impl Storage for Watched {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        if let Some(mut frame) = self.old.lock().unwrap().clone() {
            frame.refresh().unwrap();
            let content = Content::of(&frame).unwrap();
            self.seen.lock().unwrap().push((frame, content));
        }
        Ok(())
    }
}

#[test]
fn snapshots_that_are_made_while_chunks_are_moved_stay_what_they_are() {
    let storage = Watched::default();
    let (watched, seen) = (Arc::clone(&storage.old), Arc::clone(&storage.seen));
    let mut edit = Frame::create(storage, disk::options().with_metalayer("unit", "kelvin")).unwrap();
    (0..40).for_each(|seed| edit.append(&noise(seed, CHUNK)).unwrap());
    let old = edit.commit().unwrap();
    // A state that nobody has a snapshot of, so that it is read anew.
    let mut edit = old.edit().unwrap();
    edit.append(&noise(40, CHUNK)).unwrap();
    drop(edit.commit().unwrap());
    let mut edit = old.edit().unwrap();
    edit.metalayers_mut().update("unit", noise(1, 9 * CHUNK)).unwrap();
    *watched.lock().unwrap() = Some(old.clone());
    drop(edit.commit().unwrap());
    *watched.lock().unwrap() = None;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert!(seen.iter().any(|(frame, _)| frame.nchunks() == 41));
    for (index, (frame, content)) in seen.iter().enumerate() {
        let found = Content::of(frame).unwrap_or_else(|error| panic!("{index} of {}: {error}", seen.len()));
        assert!(found == *content, "{index} of {}", seen.len());
    }
}

#[test]
fn another_file_in_the_place_of_a_frame_changes_nothing_for_its_snapshots() {
    let scratch = Scratch::new("replaced-file");
    let (path, other) = (scratch.path().join("frame"), scratch.path().join("other"));
    let make = |path: &std::path::Path, seed: u64| {
        let mut edit = Frame::create(path, disk::options().with_metalayer("unit", "kelvin")).unwrap();
        (0..9).for_each(|index| edit.append(&noise(seed + index, CHUNK)).unwrap());
        edit.commit().unwrap();
    };
    make(&path, 10);
    let old = Frame::open(&path).unwrap();
    let content = Content::of(&old).unwrap();
    make(&other, 20);
    std::fs::rename(&other, &path).unwrap();
    let mut edit = old.edit().unwrap();
    edit.metalayers_mut().update("unit", noise(1, 4 * CHUNK)).unwrap();
    edit.checkpoint().unwrap();
    edit.compact().unwrap();
    assert_eq!(Content::of(&old).unwrap(), content);
}

#[test]
fn another_super_chunk_in_the_place_of_that_of_an_edit_is_not_published() {
    let storage = MemoryStorage::default();
    let mut edit = Frame::create(storage.clone(), disk::options()).unwrap();
    edit.append(&noise(1, CHUNK)).unwrap();
    let frame = edit.commit().unwrap();
    let bytes = storage.to_bytes();
    let mut edit = frame.edit().unwrap();
    let mut other = SuperChunk::new(Options::new(4)).unwrap();
    other.append(&noise(2, CHUNK)).unwrap();
    std::mem::swap(&mut *edit, &mut other);
    assert_eq!(edit.commit().unwrap_err().kind(), ErrorKind::InvalidArgument);
    drop(other);
    assert!(storage.to_bytes() == bytes);
    assert_eq!(frame.edit().unwrap().nchunks(), 1);
}

/// A storage that counts calls and bytes.
#[derive(Default)]
struct Counted {
    inner: MemoryStorage,
    calls: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl Counted {
    fn count(&self, bytes: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        self.count(0);
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.count(buffer.len());
        self.inner.read_at(position, buffer)
    }
}

impl Storage for Counted {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.count(bytes.len());
        self.inner.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.count(0);
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.count(0);
        Ok(())
    }
}

/// The calls and bytes that most of some edits take that append a chunk and commit it.
fn usual_cost_of_an_edit(nchunks: u64, checksums: bool) -> (usize, usize) {
    let storage = Counted::default();
    let (calls, bytes) = (Arc::clone(&storage.calls), Arc::clone(&storage.bytes));
    let mut edit = Frame::create(storage, disk::options().with_checksums(checksums)).unwrap();
    (0..nchunks).for_each(|seed| edit.append(&noise(seed, 40)).unwrap());
    let mut frame = edit.commit().unwrap();
    let mut cost = |seed| {
        let before = (calls.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
        let mut edit = frame.edit().unwrap();
        edit.append(&noise(seed, 40)).unwrap();
        frame = edit.commit().unwrap();
        assert_eq!(frame.nchunks() as u64, nchunks + 1 + seed % 1000);
        (calls.load(Ordering::Relaxed) - before.0, bytes.load(Ordering::Relaxed) - before.1)
    };
    let mut costs: Vec<(usize, usize)> = (1000..1015).map(&mut cost).collect();
    costs.sort_unstable();
    costs[costs.len() / 2]
}

#[test]
fn an_edit_costs_what_it_changes_and_not_the_number_of_chunks() {
    for checksums in [true, false] {
        let [few, many] = [1000, 100_000].map(|nchunks| usual_cost_of_an_edit(nchunks, checksums));
        let fits = many.0 <= few.0 + 2 && many.1 <= few.1 + 300 && many.1 < 4000;
        assert!(fits, "{few:?} calls and bytes at 1,000 chunks, {many:?} at 100,000, checksums {checksums}");
        println!("{few:?} calls and bytes at 1,000 chunks, {many:?} at 100,000, checksums {checksums}");
    }
}
