//! Several handles on one frame, without locking: each commit is there or reports that it is not, and none is lost.

use crate::common::child::Scratch;
use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, Kind};
use blosc_oxide::{
    ArrayOptions, AxisSelection, ErrorKind, Fill, Frame, FrameLayout, FrameOptions, NdArray, Options, Result, Threads,
    legacy::{PackedOptions, PackedSuperChunk, PackedWriter},
    storage::{Durability, MemoryDirectory},
};
use std::path::Path;

const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];
const MUCH: usize = 2 << 20;

fn options(layout: FrameLayout) -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial()))
        .with_layout(layout)
        .with_durability(Durability::None)
}

fn open(path: &Path, layout: FrameLayout) -> Frame {
    Frame::open_writable_with(path, options(layout)).unwrap()
}

fn kind_of<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn two_handles_take_turns_and_lose_nothing() {
    let scratch = Scratch::new("handles-turns");
    for layout in LAYOUTS {
        for checksums in [true, false] {
            let path = scratch.path().join(format!("{layout:?}-{checksums}"));
            let mut one = Frame::create(&path, options(layout).with_checksums(checksums)).unwrap();
            let mut other = open(&path, layout);
            for round in 0..10 {
                one.append(&noise(2 * round, CHUNK)).unwrap();
                one.commit().unwrap();
                other.append(&noise(2 * round + 1, CHUNK)).unwrap();
                other.vlmetalayers_mut().allow_many();
                other.vlmetalayers_mut().add(&format!("round {round}"), b"").unwrap();
                other.commit().unwrap();
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
fn the_right_to_write_is_held_from_the_first_change_to_the_commit() {
    let scratch = Scratch::new("handles-right");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let mut one = Frame::create(&path, options(layout)).unwrap();
        let mut other = open(&path, layout);
        one.append(&noise(1, MUCH)).unwrap();
        let refused = [other.append(&noise(2, MUCH)), other.lock(), other.compact()];
        assert!(refused.into_iter().all(|result| kind_of(result) == Some(ErrorKind::Locked)), "{layout:?}");
        // A third one can be opened, and reads what is committed.
        assert_eq!(open(&path, layout).nchunks(), 0);
        one.commit().unwrap();
        other.append(&noise(2, MUCH)).unwrap();
        assert_eq!(other.nchunks(), 2);
        assert_eq!(kind_of(one.append(b"no")), Some(ErrorKind::Locked));
        other.rollback().unwrap();
        one.append(&noise(3, CHUNK)).unwrap();
        // A call that fails, or has nothing to do, does not keep it.
        one.commit().unwrap();
        assert!(one.delete(7).is_err());
        one.write(0, b"").unwrap();
        other.append(&noise(4, CHUNK)).unwrap();
        drop(other);
        drop(one);
        let content = Content::of(&Frame::open(&path).unwrap()).unwrap();
        assert_eq!(content.chunks, [noise(1, MUCH), noise(3, CHUNK), noise(4, CHUNK)], "{layout:?}");
    }
}

#[test]
fn a_handle_that_panics_gives_the_right_back() {
    let memory = MemoryDirectory::new();
    drop(Frame::create_in_directory(memory.clone(), options(FrameLayout::Sparse)).unwrap());
    let open = || Frame::open_directory_writable(memory.clone(), options(FrameLayout::Sparse)).unwrap();
    let panicked = std::panic::catch_unwind(|| {
        let mut frame = open();
        frame.append(&noise(1, CHUNK)).unwrap();
        assert_eq!(kind_of(open().lock()), Some(ErrorKind::Locked));
        panic!("half way");
    });
    assert!(panicked.is_err());
    let mut frame = open();
    frame.append(&noise(2, CHUNK)).unwrap();
    assert_eq!(frame.nchunks(), 1);
}

/// Others may have no locks, or not know of ours: then a commit finds out.
#[test]
fn a_commit_on_top_of_a_change_by_somebody_else_is_a_conflict_and_writes_nothing() {
    for layout in LAYOUTS {
        for checksums in [true, false] {
            let kind = Kind { layout, is_variable: false, has_long_header: false, checksums, has_slots: false };
            let changes: [fn(&mut Frame) -> Result<()>; 4] = [
                |frame| frame.append(&noise(1, CHUNK)),
                |frame| frame.vlmetalayers_mut().update("note", &noise(2, 40)),
                |frame| frame.metalayers_mut().update("unit", "celsiu"),
                |frame| frame.reorder(&[1, 0, 2, 3, 4, 5, 6, 7]),
            ];
            for change in changes {
                let disk = kind.disk();
                let mut one = disk::open_writable(&disk, layout, Durability::Fsync).unwrap();
                let mut other = disk::open_writable(&disk, layout, Durability::Fsync).unwrap();
                one.append(&noise(3, CHUNK)).unwrap();
                change(&mut other).unwrap();
                other.commit().unwrap();
                let left = disk.image();
                assert_eq!(kind_of(one.commit()), Some(ErrorKind::Conflict), "{kind:?}");
                assert_eq!(disk.image().digest(), left.digest(), "{kind:?}: something was written");
                assert_eq!(kind_of(one.append(b"more")), Some(ErrorKind::Conflict), "{kind:?}");
                one.rollback().unwrap();
                assert_eq!(Content::of(&one).unwrap(), Content::of(&other).unwrap(), "{kind:?}");
                one.append(&noise(3, CHUNK)).unwrap();
                one.commit().unwrap();
                let found = disk::open(&disk, layout).unwrap();
                let expected = Content::of(&other).unwrap().with_chunk(&noise(3, CHUNK));
                assert_eq!(Content::of(&found).unwrap(), expected, "{kind:?}");
            }
        }
    }
}

#[test]
fn metalayers_that_were_changed_before_others_committed_are_a_conflict() {
    let scratch = Scratch::new("handles-metalayers");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let mut one = Frame::create(&path, options(layout)).unwrap();
        let mut other = open(&path, layout);
        one.vlmetalayers_mut().add("note", b"from one").unwrap();
        other.append(&noise(1, CHUNK)).unwrap();
        other.commit().unwrap();
        assert_eq!(kind_of(one.append(b"more")), Some(ErrorKind::Conflict));
        assert_eq!(kind_of(one.commit()), Some(ErrorKind::Conflict));
        assert!(!one.refresh().unwrap());
        drop(one);
        let left = Frame::open(&path).unwrap();
        assert_eq!((left.nchunks(), left.vlmetalayers().len()), (1, 0), "{layout:?}");
    }
}

#[test]
fn two_arrays_on_one_frame_lose_nothing() {
    let scratch = Scratch::new("handles-arrays");
    for layout in LAYOUTS {
        let path = scratch.path().join(format!("{layout:?}"));
        let array = ArrayOptions::new(&[0, 4], Options::new(4)).with_chunks(&[1, 4]).with_frame(options(layout));
        let mut one = NdArray::create(path.as_path(), &array, &Fill::Zeros).unwrap();
        let mut other = NdArray::open_writable(&path).unwrap();
        let items = |value: u8| [value; 16];
        one.append(0, &items(1)).unwrap();
        assert_eq!(kind_of(other.append(0, &items(2))), Some(ErrorKind::Locked));
        one.commit().unwrap();
        // It sees the new shape when it begins to change it.
        other.append(0, &items(2)).unwrap();
        assert_eq!(other.shape(), [2, 4]);
        other.commit().unwrap();
        one.write(&[AxisSelection::Index(1), AxisSelection::All], &items(3)).unwrap();
        assert_eq!(one.shape(), [2, 4]);
        one.commit().unwrap();
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
