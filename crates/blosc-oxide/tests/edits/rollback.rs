//! What has not been committed can be given up: the frame is again what the last commit made it, and goes on from there.

use crate::common::child::Scratch;
use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, Kind, warm_up};
use blosc_oxide::{
    ArrayOptions, ErrorKind, Fill, Frame, FrameLayout, FrameOptions, NdArray, Options, Result, Special, SuperChunk,
    storage::{Durability, MemoryStorage},
};
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// Checks that a frame is `content`, whole, and can be changed.
fn check(name: &str, frame: &mut Frame, content: &Content) {
    assert!(!frame.is_changed(), "{name}");
    assert_eq!(Content::of(frame).unwrap(), *content, "{name}");
    assert!(frame.verify().unwrap().is_good(), "{name}");
}

#[test]
fn a_change_that_is_given_up_has_not_happened() {
    for kind in KINDS {
        for (name, change) in CHANGES {
            let disk = kind.disk();
            let mut frame = disk::open_writable(&disk, kind.layout, Durability::Fsync).unwrap();
            warm_up(kind, &mut frame).unwrap();
            let before = Content::of(&frame).unwrap();
            change(&mut frame).unwrap();
            frame.rollback().unwrap();
            check(name, &mut frame, &before);
            drop(frame);
            let mut again = disk::open_writable(&disk, kind.layout, Durability::Fsync).unwrap();
            check(name, &mut again, &before);
            change(&mut again).unwrap();
            again.commit().unwrap();
            let after = Content::of(&again).unwrap();
            assert_ne!(after, before, "{name} on {kind:?}");
            check(name, &mut disk::open(&disk, kind.layout).unwrap(), &after);
        }
    }
}

#[test]
fn a_directory_has_no_file_of_a_change_that_was_given_up() {
    let kind = KINDS[3];
    let disk = kind.disk();
    let before = disk.names().unwrap();
    let mut frame = disk::open_writable(&disk, kind.layout, Durability::None).unwrap();
    frame.append(&noise(1, CHUNK)).unwrap();
    frame.update(0, &noise(2, CHUNK)).unwrap();
    assert!(disk.names().unwrap().len() > before.len());
    frame.rollback().unwrap();
    assert_eq!(disk.names().unwrap(), before);
}

#[test]
fn changes_after_one_that_was_given_up_are_committed() {
    for kind in KINDS {
        let disk = kind.disk();
        let mut frame = disk::open_writable(&disk, kind.layout, Durability::Fsync).unwrap();
        warm_up(kind, &mut frame).unwrap();
        let before = Content::of(&frame).unwrap();
        frame.append(&noise(1, CHUNK)).unwrap();
        frame.rollback().unwrap();
        frame.update(0, &noise(2, CHUNK)).unwrap();
        frame.commit().unwrap();
        frame.delete(0).unwrap();
        frame.rollback().unwrap();
        drop(frame);
        let mut expected = before;
        expected.chunks[0] = noise(2, CHUNK);
        check("two rollbacks", &mut disk::open(&disk, kind.layout).unwrap(), &expected);
    }
}

#[test]
fn what_was_never_committed_cannot_be_given_up() {
    let mut sc = SuperChunk::new(Options::new(4)).unwrap();
    sc.append(&noise(1, CHUNK)).unwrap();
    assert_eq!(sc.rollback().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(sc.nchunks(), 1);
    let scratch = Scratch::new("rollback-build");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let path = scratch.path().join(format!("{layout:?}"));
        let frame = Frame::build(&path, FrameOptions::new(Options::new(4)).with_layout(layout), |sc| {
            sc.append(&noise(1, CHUNK))?;
            assert_eq!(sc.rollback().unwrap_err().kind(), ErrorKind::InvalidArgument);
            Ok(())
        });
        assert_eq!(frame.unwrap().nchunks(), 1);
    }
}

#[test]
fn after_a_failed_write_nothing_is_given_up_and_nothing_committed() {
    for kind in KINDS {
        let disk = kind.disk();
        let mut frame = disk::open_writable(&disk, kind.layout, Durability::Fsync).unwrap();
        warm_up(kind, &mut frame).unwrap();
        let before = Content::of(&frame).unwrap();
        frame.append(&noise(1, CHUNK)).unwrap();
        disk.set_fault(Fault { after: 0, kind: FaultKind::Full });
        assert!(frame.append(&noise(2, 2 << 20)).is_err());
        assert_eq!(frame.rollback().unwrap_err().kind(), ErrorKind::Poisoned);
        drop(frame);
        let disk = Disk::with_image(disk.image());
        check("a full disk", &mut disk::open(&disk, kind.layout).unwrap(), &before);
    }
}

#[test]
fn the_lock_is_let_go_with_the_changes() {
    let scratch = Scratch::new("rollback-lock");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let path = scratch.path().join(format!("{layout:?}"));
        let options = FrameOptions::new(Options::new(4)).with_layout(layout).with_locking(true);
        let timeout = options.clone().with_lock_timeout(std::time::Duration::from_millis(20));
        let mut first = Frame::create(&path, options).unwrap();
        let mut second = Frame::open_writable_with(&path, timeout).unwrap();
        first.append(&noise(1, CHUNK)).unwrap();
        assert_eq!(second.append(&noise(2, CHUNK)).unwrap_err().kind(), ErrorKind::Locked);
        first.rollback().unwrap();
        second.append(&noise(2, CHUNK)).unwrap();
        second.commit().unwrap();
        first.append(&noise(3, CHUNK)).unwrap();
        first.commit().unwrap();
        assert!(second.refresh().unwrap());
        assert_eq!(second.bytes(0..2 * CHUNK as u64).unwrap(), [noise(2, CHUNK), noise(3, CHUNK)].concat());
    }
}

#[test]
fn an_array_gets_its_shape_back() {
    let options = ArrayOptions::new(&[10, 10], Options::new(4)).with_chunks(&[4, 4]).with_blocks(&[2, 2]);
    let disk = disk::empty(FrameLayout::Contiguous);
    let mut array = NdArray::create(disk::place(&disk, FrameLayout::Contiguous), &options, &Fill::Zeros).unwrap();
    array.commit().unwrap();
    let items = array.to_vec().unwrap();
    array.resize(&[20, 3]).unwrap();
    array.rollback().unwrap();
    assert_eq!((array.shape(), array.to_vec().unwrap()), (&[10, 10][..], items));
    array.resize(&[12, 10]).unwrap();
    array.commit().unwrap();
    assert_eq!(array.shape(), [12, 10]);
}

#[test]
fn a_frame_that_is_dropped_by_a_panic_is_not_committed() {
    let disk = PLAIN.disk();
    let before = Content::of(&disk::open(&disk, PLAIN.layout).unwrap()).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut frame = disk::open_writable(&disk, PLAIN.layout, Durability::None).unwrap();
        frame.append(&noise(1, CHUNK)).unwrap();
        panic!("half way");
    }));
    assert!(panicked.is_err());
    check("a panic", &mut disk::open(&disk, PLAIN.layout).unwrap(), &before);
}

#[test]
fn a_frame_whose_making_panics_is_not_there() {
    let scratch = Scratch::new("rollback-panic");
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let path = scratch.path().join(format!("{layout:?}"));
        let options = FrameOptions::new(Options::new(4)).with_layout(layout);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            Frame::build(&path, options, |sc| {
                sc.append(&noise(1, CHUNK))?;
                panic!("half way");
            })
        }));
        assert!(panicked.is_err());
        assert!(!path.exists(), "{layout:?}");
    }
}

#[test]
fn a_frame_in_memory_goes_back_too() {
    let mut frame = Frame::create_in(MemoryStorage::default(), Options::new(4)).unwrap();
    frame.append(&noise(1, CHUNK)).unwrap();
    let bytes = frame.to_bytes().unwrap();
    frame.append(&noise(2, CHUNK)).unwrap();
    frame.rollback().unwrap();
    assert_eq!(frame.to_bytes().unwrap(), bytes);
}
