//! Several handles on one frame, without locking: each commit is there or reports that it is not,
//! and none is lost.

use crate::common::child::{self, Scratch};
use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, Kind};
use blosc_oxide::{
    ArrayOptions, AxisSelection, ErrorKind, Fill, Frame, FrameEdit, FrameLayout, FrameOptions, NdArray, Options,
    Result, Threads,
    legacy::{PackedOptions, PackedSuperChunk, PackedWriter},
    storage::{Durability, MemoryDirectory},
};
use std::path::Path;
use std::time::Duration;

const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];
const MUCH: usize = 2 << 20;

fn options(layout: FrameLayout) -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial()))
        .with_layout(layout)
        .with_durability(Durability::None)
}

/// A handle that does not wait.
fn open(path: &Path, layout: FrameLayout) -> Frame {
    Frame::open_with(path, &options(layout).with_lock_timeout(Duration::ZERO).opening()).unwrap()
}

fn kind_of<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// Appends a chunk and commits it.
fn append(frame: &Frame, data: &[u8]) -> Frame {
    let mut edit = frame.edit().unwrap();
    edit.append(data).unwrap();
    edit.commit().unwrap()
}

#[test]
fn two_handles_take_turns_and_lose_nothing() {
    let scratch = Scratch::new("handles-turns");
    for layout in LAYOUTS {
        for checksums in [true, false] {
            let path = scratch.path().join(format!("{layout:?}-{checksums}"));
            let mut one = Frame::create(&path, options(layout).with_checksums(checksums)).unwrap().commit().unwrap();
            let mut other = open(&path, layout);
            for round in 0..10 {
                one = append(&one, &noise(2 * round, CHUNK));
                let mut edit = other.edit().unwrap();
                edit.append(&noise(2 * round + 1, CHUNK)).unwrap();
                edit.vlmetalayers_mut().allow_many();
                edit.vlmetalayers_mut().add(&format!("round {round}"), b"").unwrap();
                other = edit.commit().unwrap();
            }
            let expected: Vec<Vec<u8>> = (0..20).map(|seed| noise(seed, CHUNK)).collect();
            assert!(one.refresh().unwrap());
            for frame in [&one, &other, &Frame::open(&path).unwrap()] {
                let content = Content::of(frame).unwrap();
                assert_eq!((content.chunks == expected, content.vlmetalayers.len()), (true, 10), "{layout:?}");
            }
            assert!(one.verify().unwrap().is_good());
        }
    }
}

#[test]
fn two_threads_that_edit_one_frame_lose_nothing() {
    let scratch = Scratch::new("handles-threads");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let frame = Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        let other = Frame::open_with(&path, &options(layout).opening()).unwrap();
        std::thread::scope(|scope| {
            for (seed, frame) in (0..).zip([frame.clone(), frame.clone(), other.clone(), other]) {
                scope.spawn(move || (0..20).for_each(|round| drop(append(&frame, &noise(20 * seed + round, CHUNK)))));
            }
        });
        let content = Content::of(&Frame::open(&path).unwrap()).unwrap();
        let mut expected: Vec<Vec<u8>> = (0..80).map(|seed| noise(seed, CHUNK)).collect();
        let mut found = content.chunks;
        found.sort();
        expected.sort();
        assert!(found == expected, "{layout:?}: {} chunks", found.len());
        assert!(frame.edit().unwrap().verify().unwrap().is_good());
    }
}

/// What the processes do that are started for it.
#[test]
fn process() {
    let Some(job) = child::job() else { return };
    let options = options(FrameLayout::Contiguous).with_lock_timeout(None).opening();
    let frame = Frame::open_with(&job[0], &options).unwrap();
    let seed: u64 = job[1].parse().unwrap();
    (0..20).for_each(|round| drop(append(&frame, &noise(20 * seed + round, CHUNK))));
}

#[test]
fn processes_that_edit_one_frame_lose_nothing() {
    let scratch = Scratch::new("handles-processes");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        let job = |seed: u64| child::start("handles::process", &[path.to_str().unwrap(), &seed.to_string()]);
        let children: Vec<_> = (0..3).map(job).collect();
        for child in children {
            assert!(child.wait_with_output().unwrap().status.success());
        }
        let frame = Frame::open(&path).unwrap();
        let mut found = Content::of(&frame).unwrap().chunks;
        let mut expected: Vec<Vec<u8>> = (0..60).map(|seed| noise(seed, CHUNK)).collect();
        found.sort();
        expected.sort();
        assert!(found == expected, "{layout:?}: {} chunks", found.len());
        assert!(frame.verify().unwrap().is_good());
    }
}

#[test]
fn the_right_to_write_is_held_from_the_begin_to_the_end_of_an_edit() {
    let scratch = Scratch::new("handles-right");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let one = Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        let mut other = open(&path, layout);
        let mut edit = one.edit().unwrap();
        edit.append(&noise(1, MUCH)).unwrap();
        assert_eq!(kind_of(other.edit()), Some(ErrorKind::Locked), "{layout:?}");
        // A third one can be opened, and reads what is committed.
        assert_eq!(open(&path, layout).nchunks(), 0);
        edit.checkpoint().unwrap();
        assert_eq!(kind_of(other.edit()), Some(ErrorKind::Locked), "{layout:?}");
        assert!(other.refresh().unwrap());
        assert_eq!(other.nchunks(), 1);
        drop(edit);
        let mut edit = other.edit().unwrap();
        edit.append(&noise(2, MUCH)).unwrap();
        assert_eq!(edit.nchunks(), 2);
        edit.abort();
        append(&one, &noise(3, CHUNK));
        append(&other, &noise(4, CHUNK));
        let content = Content::of(&Frame::open(&path).unwrap()).unwrap();
        assert_eq!(content.chunks, [noise(1, MUCH), noise(3, CHUNK), noise(4, CHUNK)], "{layout:?}");
    }
}

#[test]
fn a_second_edit_waits_for_the_first() {
    let scratch = Scratch::new("handles-wait");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let one = Frame::create(&path, options(layout)).unwrap().commit().unwrap();
        let others = [one.clone(), Frame::open_with(&path, &options(layout).opening()).unwrap()];
        for (number, other) in others.iter().enumerate() {
            let mut edit = one.edit().unwrap();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| append(other, b"second").nchunks());
                std::thread::sleep(Duration::from_millis(20));
                edit.append(b"first").unwrap();
                edit.commit().unwrap();
                assert_eq!(waiting.join().unwrap(), 2 * (number + 1), "{layout:?}");
            });
        }
    }
}

#[test]
fn a_handle_that_panics_gives_the_right_back() {
    let memory = MemoryDirectory::new();
    Frame::create(memory.clone(), options(FrameLayout::Sparse)).unwrap().commit().unwrap();
    let options = options(FrameLayout::Sparse).with_lock_timeout(Duration::ZERO).opening();
    let open = || Frame::open_with(memory.clone(), &options).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut edit = open().edit().unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        assert_eq!(kind_of(open().edit()), Some(ErrorKind::Locked));
        panic!("half way");
    }));
    assert!(panicked.is_err());
    assert_eq!(append(&open(), &noise(2, CHUNK)).nchunks(), 1);
}

/// Others may have no locks, or not know of ours: then a commit finds out.
#[test]
fn a_commit_on_top_of_a_change_by_somebody_else_is_a_conflict_and_writes_nothing() {
    for layout in LAYOUTS {
        for checksums in [true, false] {
            let kind = Kind { layout, is_variable: false, has_long_header: false, checksums, has_slots: false };
            let changes: [fn(&mut FrameEdit) -> Result<()>; 4] = [
                |frame| frame.append(&noise(1, CHUNK)),
                |frame| frame.vlmetalayers_mut().update("note", &noise(2, 40)),
                |frame| frame.metalayers_mut().update("unit", "celsiu"),
                |frame| frame.reorder(&[1, 0, 2, 3, 4, 5, 6, 7]),
            ];
            for change in changes {
                let disk = kind.disk();
                let mut one = disk::edit(&disk, layout, Durability::Fsync).unwrap();
                let mut other = disk::edit(&disk, layout, Durability::Fsync).unwrap();
                one.append(&noise(3, CHUNK)).unwrap();
                change(&mut other).unwrap();
                let committed = other.commit().unwrap();
                let left = disk.image();
                assert_eq!(kind_of(one.checkpoint()), Some(ErrorKind::Conflict), "{kind:?}");
                assert_eq!(disk.image().digest(), left.digest(), "{kind:?}: something was written");
                drop(one);
                let mut one = disk::edit(&disk, layout, Durability::Fsync).unwrap();
                assert_eq!(Content::of(&one).unwrap(), Content::of(&committed).unwrap(), "{kind:?}");
                one.append(&noise(3, CHUNK)).unwrap();
                one.commit().unwrap();
                let found = disk::open(&disk, layout).unwrap();
                let expected = Content::of(&committed).unwrap().with_chunk(&noise(3, CHUNK));
                assert_eq!(Content::of(&found).unwrap(), expected, "{kind:?}");
            }
        }
    }
}

#[test]
fn metalayers_that_were_changed_while_others_committed_are_a_conflict() {
    for layout in LAYOUTS {
        let kind = Kind { layout, is_variable: false, has_long_header: false, checksums: true, has_slots: false };
        let disk = kind.disk();
        // Nothing is locked on this disk.
        let mut one = disk::edit(&disk, layout, Durability::None).unwrap();
        let mut other = disk::edit(&disk, layout, Durability::None).unwrap();
        one.vlmetalayers_mut().add("of one", b"").unwrap();
        other.append(&noise(1, CHUNK)).unwrap();
        let committed = Content::of(&other.commit().unwrap()).unwrap();
        assert_eq!(kind_of(one.commit()), Some(ErrorKind::Conflict));
        assert_eq!(Content::of(&disk::open(&disk, layout).unwrap()).unwrap(), committed, "{layout:?}");
    }
}

#[test]
fn two_arrays_on_one_frame_lose_nothing() {
    let scratch = Scratch::new("handles-arrays");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let array = ArrayOptions::new(&[0, 4], Options::new(4)).with_chunks(&[1, 4]).with_frame(options(layout));
        let one = NdArray::create(path.as_path(), &array, &Fill::Zeros).unwrap().commit().unwrap();
        let impatient = options(layout).with_lock_timeout(Duration::ZERO).opening();
        let mut other = NdArray::open_with(&path, &impatient).unwrap();
        let items = |value: u8| [value; 16];
        let mut edit = one.edit().unwrap();
        edit.append(0, &items(1)).unwrap();
        assert_eq!(kind_of(other.edit()), Some(ErrorKind::Locked));
        edit.commit().unwrap();
        // It sees the new shape when it begins to change it.
        let mut edit = other.edit().unwrap();
        edit.append(0, &items(2)).unwrap();
        assert_eq!(edit.shape(), [2, 4]);
        edit.commit().unwrap();
        let mut edit = one.edit().unwrap();
        edit.write(&[AxisSelection::Index(1), AxisSelection::All], &items(3)).unwrap();
        assert_eq!(edit.commit().unwrap().shape(), [2, 4]);
        assert_eq!((one.shape(), other.shape()), (&[0, 4][..], &[0, 4][..]));
        assert!(other.refresh().unwrap());
        assert_eq!(other.to_vec().unwrap(), [items(1), items(3)].concat(), "{layout:?}");
    }
}

#[test]
fn two_writers_of_a_packed_super_chunk_lose_nothing() {
    let scratch = Scratch::new("handles-packed");
    let path = scratch.path().join("packed");
    let mut one = PackedWriter::create(&path, PackedOptions::new(4)).unwrap();
    one.commit().unwrap();
    let mut other = PackedWriter::open(&path, 4).unwrap();
    let mut third = PackedWriter::open(&path, 4).unwrap();
    one.append(&noise(1, 4000)).unwrap();
    assert_eq!(kind_of(other.append(&noise(2, 4000))), Some(ErrorKind::Locked));
    one.commit().unwrap();
    other.append(&noise(2, 4000)).unwrap();
    assert_eq!(other.nchunks(), 2);
    other.commit().unwrap();
    third.append(&noise(3, 4000)).unwrap();
    // A program that knows of no locks.
    let bytes = std::fs::read(&path).unwrap();
    let mut header = bytes[..96].to_vec();
    header[6] ^= 1;
    std::fs::write(&path, [&header, &bytes[96..]].concat()).unwrap();
    let left = std::fs::read(&path).unwrap();
    assert_eq!(kind_of(third.commit()), Some(ErrorKind::Conflict));
    drop(third);
    assert_eq!(std::fs::read(&path).unwrap(), left);
    let packed = PackedSuperChunk::open(&path).unwrap();
    assert_eq!(packed.nchunks(), 2);
    assert_eq!((packed.decompress(0).unwrap(), packed.decompress(1).unwrap()), (noise(1, 4000), noise(2, 4000)));
}
