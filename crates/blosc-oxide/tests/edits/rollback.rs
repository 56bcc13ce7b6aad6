//! What has not been committed is taken back when an edit is dropped or aborted, whatever ends it:
//! the frame is again what the last commit made it, and goes on from there.

use crate::common::child::Scratch;
use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, Kind, warm_up};
use blosc_oxide::{
    ArrayOptions, ErrorKind, Fill, Frame, FrameLayout, FrameOptions, Location, NdArray, Options, Result, Special,
    SuperChunk,
    storage::{Durability, MemoryStorage},
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use testkit::storage::{Disk, Fault, FaultKind};

const PLAIN: Kind = Kind {
    layout: FrameLayout::Contiguous,
    is_variable: false,
    has_long_header: false,
    checksums: true,
    has_slots: false,
};
const KINDS: [Kind; 7] = [
    PLAIN,
    Kind { checksums: false, ..PLAIN },
    Kind { is_variable: true, ..PLAIN },
    Kind { layout: FrameLayout::Sparse, ..PLAIN },
    Kind { layout: FrameLayout::Sparse, checksums: false, ..PLAIN },
    Kind { has_slots: true, ..PLAIN },
    Kind { has_slots: true, checksums: false, ..PLAIN },
];

type Change = fn(&mut SuperChunk) -> Result<()>;

const CHANGES: [(&str, Change); 9] = [
    ("append", |sc| sc.append(&noise(1, CHUNK))),
    ("append much", |sc| sc.append(&noise(2, 2 << 20))),
    ("insert", |sc| sc.insert(1, &noise(3, CHUNK))),
    ("update twice", |sc| {
        sc.update(0, &noise(4, CHUNK))?;
        sc.update(0, &noise(5, CHUNK))
    }),
    ("delete", |sc| sc.delete(0)),
    ("become of all sizes", |sc| sc.insert(0, &noise(6, 3 * CHUNK))),
    ("reorder", |sc| sc.reorder(&(0..sc.nchunks()).rev().collect::<Vec<_>>())),
    ("change metalayers", |sc| {
        sc.metalayers_mut().update("unit", noise(7, 900))?;
        sc.vlmetalayers_mut().add("log", b"new")
    }),
    ("fill", |sc| sc.fill(Special::Zeros, CHUNK as u64, CHUNK)),
];

/// Checks that a frame is `content`, whole, and unchanged.
fn check(name: &str, frame: &SuperChunk, content: &Content) {
    assert!(!frame.is_changed(), "{name}");
    assert_eq!(Content::of(frame).unwrap(), *content, "{name}");
    assert!(frame.verify().unwrap().is_good(), "{name}");
}

fn open(disk: &Disk, kind: Kind, durability: Durability) -> Frame {
    let options = disk::options().with_durability(durability).with_lock_timeout(Duration::ZERO);
    Frame::open_with(disk::location(disk, kind.layout).unwrap(), &options.opening()).unwrap()
}

#[test]
fn a_change_that_is_given_up_has_not_happened() {
    for kind in KINDS {
        for (name, change) in CHANGES {
            let disk = kind.disk();
            let mut frame = open(&disk, kind, Durability::Fsync);
            let mut edit = frame.edit().unwrap();
            warm_up(kind, &mut edit).unwrap();
            let before = Content::of(&edit).unwrap();
            change(&mut edit).unwrap();
            edit.abort();
            check(name, &frame.edit().unwrap(), &before);
            check(name, &open(&disk, kind, Durability::Fsync), &before);
            frame.refresh().unwrap();
            check(name, &frame, &before);
            let mut again = frame.edit().unwrap();
            change(&mut again).unwrap();
            let committed = again.commit().unwrap();
            let after = Content::of(&committed).unwrap();
            assert_ne!(after, before, "{name} on {kind:?}");
            check(name, &committed, &after);
            check(name, &disk::open(&disk, kind.layout).unwrap(), &after);
            match Content::of(&frame) {
                Ok(content) => assert_eq!(content, before, "{name}"),
                // The header is longer now, and was written where the first chunks were.
                Err(error) => assert_eq!(
                    (error.kind(), name),
                    (ErrorKind::Conflict, "change metalayers"),
                    "{kind:?}: {error} {:?}",
                    std::error::Error::source(&error).map(ToString::to_string)
                ),
            }
        }
    }
}

#[test]
fn a_directory_has_no_file_of_a_change_that_was_given_up() {
    let kind = KINDS[3];
    let disk = kind.disk();
    let before = disk.names().unwrap();
    let mut edit = disk::edit(&disk, kind.layout, Durability::None).unwrap();
    edit.append(&noise(1, CHUNK)).unwrap();
    edit.update(0, &noise(2, CHUNK)).unwrap();
    assert!(disk.names().unwrap().len() > before.len());
    drop(edit);
    assert_eq!(disk.names().unwrap(), before);
}

#[test]
fn changes_after_one_that_was_given_up_are_committed() {
    for kind in KINDS {
        let disk = kind.disk();
        let frame = open(&disk, kind, Durability::Fsync);
        let mut edit = frame.edit().unwrap();
        warm_up(kind, &mut edit).unwrap();
        let before = Content::of(&edit).unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        edit.abort();
        let mut edit = frame.edit().unwrap();
        edit.update(0, &noise(2, CHUNK)).unwrap();
        edit.checkpoint().unwrap();
        edit.delete(0).unwrap();
        drop(edit);
        let mut expected = before;
        expected.chunks[0] = noise(2, CHUNK);
        check("two aborts", &disk::open(&disk, kind.layout).unwrap(), &expected);
        check("two aborts", &frame.edit().unwrap(), &expected);
    }
}

#[test]
fn a_frame_that_is_never_committed_is_not_there() {
    let scratch = Scratch::new("rollback-create");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let path = scratch.path().join(format!("{layout:?}"));
        let options = FrameOptions::new(Options::new(4)).with_layout(layout);
        let mut edit = Frame::create(&path, &options).unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        drop(edit);
        assert!(!path.exists(), "{layout:?}");
        let mut edit = Frame::create(&path, &options).unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        assert_eq!(edit.commit().unwrap().nchunks(), 1);
        assert_eq!(Frame::open(&path).unwrap().nchunks(), 1);
        assert!(Frame::create(&path, &options).is_err());
    }
}

#[test]
fn after_a_failed_write_nothing_is_committed() {
    for kind in KINDS {
        let disk = kind.disk();
        let mut edit = disk::edit(&disk, kind.layout, Durability::Fsync).unwrap();
        warm_up(kind, &mut edit).unwrap();
        let before = Content::of(&edit).unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        disk.set_fault(Fault { after: 0, kind: FaultKind::Full });
        assert!(edit.append(&noise(2, 2 << 20)).is_err());
        assert_eq!(edit.append(&noise(3, CHUNK)).unwrap_err().kind(), ErrorKind::Poisoned);
        assert_eq!(edit.commit().unwrap_err().kind(), ErrorKind::Poisoned);
        let disk = Disk::with_image(disk.image());
        check("a full disk", &disk::open(&disk, kind.layout).unwrap(), &before);
    }
}

#[test]
fn after_a_failed_write_the_next_edit_goes_on_from_what_was_committed() {
    for kind in KINDS {
        let disk = kind.disk();
        let frame = open(&disk, kind, Durability::Fsync);
        let mut edit = frame.edit().unwrap();
        disk.set_fault(Fault { after: 0, kind: FaultKind::Error });
        assert!(edit.append(&noise(2, 2 << 20)).is_err());
        drop(edit);
        let mut edit = frame.edit().unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        let expected = Content::of(&frame).unwrap().with_chunk(&noise(1, CHUNK));
        check("the next edit", &edit.commit().unwrap(), &expected);
    }
}

#[test]
fn the_lock_is_let_go_with_the_changes() {
    let scratch = Scratch::new("rollback-lock");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let path = scratch.path().join(format!("{layout:?}"));
        let options = FrameOptions::new(Options::new(4)).with_layout(layout).with_locking(true);
        let timeout = options.clone().with_lock_timeout(Duration::from_millis(20));
        let first = Frame::create(&path, options).unwrap().commit().unwrap();
        let mut second = Frame::open_with(&path, &timeout.opening()).unwrap();
        let mut edit = first.edit().unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        assert_eq!(second.edit().unwrap_err().kind(), ErrorKind::Locked);
        edit.abort();
        let mut edit = second.edit().unwrap();
        edit.append(&noise(2, CHUNK)).unwrap();
        edit.commit().unwrap();
        let mut edit = first.edit().unwrap();
        edit.append(&noise(3, CHUNK)).unwrap();
        edit.commit().unwrap();
        assert!(second.refresh().unwrap());
        assert_eq!(second.bytes(0..2 * CHUNK as u64).unwrap(), [noise(2, CHUNK), noise(3, CHUNK)].concat());
    }
}

#[test]
fn an_array_gets_its_shape_back() {
    let options = ArrayOptions::new(&[10, 10], Options::new(4)).with_chunks(&[4, 4]).with_blocks(&[2, 2]);
    let disk = disk::empty(FrameLayout::Contiguous);
    for location in [disk::location(&disk, FrameLayout::Contiguous).unwrap(), Location::Memory] {
        let array = NdArray::create(location, &options, &Fill::Zeros).unwrap().commit().unwrap();
        let items = array.to_vec().unwrap();
        let mut edit = array.edit().unwrap();
        edit.resize(&[20, 3]).unwrap();
        drop(edit);
        assert_eq!((array.shape(), array.to_vec().unwrap()), (&[10, 10][..], items.clone()));
        let mut edit = array.edit().unwrap();
        assert_eq!((edit.shape(), edit.to_vec().unwrap()), (&[10, 10][..], items));
        edit.resize(&[12, 10]).unwrap();
        assert_eq!(edit.commit().unwrap().shape(), [12, 10]);
        assert_eq!((array.shape(), array.edit().unwrap().shape()), (&[10, 10][..], &[12, 10][..]));
    }
}

#[test]
fn an_edit_that_is_dropped_by_a_panic_is_not_committed() {
    let disk = PLAIN.disk();
    let before = Content::of(&disk::open(&disk, PLAIN.layout).unwrap()).unwrap();
    let frame = open(&disk, PLAIN, Durability::None);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut edit = frame.edit().unwrap();
        edit.append(&noise(1, CHUNK)).unwrap();
        panic!("half way");
    }));
    assert!(panicked.is_err());
    check("a panic", &disk::open(&disk, PLAIN.layout).unwrap(), &before);
    check("a panic", &frame.edit().unwrap(), &before);
}

#[test]
fn a_frame_whose_making_panics_is_not_there() {
    let scratch = Scratch::new("rollback-panic");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let path = scratch.path().join(format!("{layout:?}"));
        let options = FrameOptions::new(Options::new(4)).with_layout(layout);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut edit = Frame::create(&path, options).unwrap();
            edit.append(&noise(1, CHUNK)).unwrap();
            panic!("half way");
        }));
        assert!(panicked.is_err());
        assert!(!path.exists(), "{layout:?}");
    }
}

#[test]
fn a_frame_in_memory_goes_back_too() {
    let mut edit = Frame::create(MemoryStorage::default(), Options::new(4)).unwrap();
    edit.append(&noise(1, CHUNK)).unwrap();
    let frame = edit.commit().unwrap();
    let bytes = frame.to_bytes().unwrap();
    let mut edit = frame.edit().unwrap();
    edit.append(&noise(2, CHUNK)).unwrap();
    edit.abort();
    assert_eq!(frame.to_bytes().unwrap(), bytes);
    let frame = Frame::from(frame.copy(Options::new(4)).unwrap());
    let mut edit = frame.edit().unwrap();
    edit.append(&noise(2, CHUNK)).unwrap();
    drop(edit);
    assert_eq!(frame.edit().unwrap().nchunks(), 1);
    let mut edit = frame.edit().unwrap();
    edit.append(&noise(2, CHUNK)).unwrap();
    assert_eq!((edit.commit().unwrap().nchunks(), frame.nchunks(), frame.edit().unwrap().nchunks()), (2, 1, 2));
}
