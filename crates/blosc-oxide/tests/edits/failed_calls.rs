//! A call that fails leaves what would be committed as it was before: all of it happens, or
//! nothing.

use crate::common::content::{Content, noise};
use crate::common::disk;
use crate::common::edits::{CHUNK, Kind};
use blosc_oxide::{
    ArrayEdit, ArrayOptions, AxisSelection, Codec, Error, ErrorKind, Fill, Frame, FrameEdit, FrameLayout, FrameOptions,
    ItemOrder, Location, NdArray, Options, Result, Special, SuperChunk, Threads,
    legacy::{PackedOptions, PackedSuperChunk, PackedWriter},
    plugin::{CodecContext, CodecPlugin, Plugins},
    storage::{Durability, MemoryDirectory, MemoryStorage},
};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use testkit::storage::{Disk, Fault, FaultKind};

const PLUGIN: u8 = 200;
/// A chunk that starts with this cannot be compressed.
const UNLUCKY: u8 = 0xee;

/// A codec that stores everything, but for some data.
struct Superstitious;

impl CodecPlugin for Superstitious {
    fn compress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        if src.first() == Some(&UNLUCKY) {
            return Err(Error::new(ErrorKind::Unsupported, "bad luck"));
        }
        let room = dst.get_mut(..src.len() / 2);
        // Half of each block is zeros here.
        Ok(room.map(|dst| {
            dst.copy_from_slice(&src[..src.len() / 2]);
            src.len() / 2
        }))
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        dst.fill(0);
        dst[..src.len()].copy_from_slice(src);
        Ok(dst.len())
    }
}

fn options(typesize: usize) -> Options {
    let plugins = Plugins::new().with_codec(PLUGIN, Arc::new(Superstitious)).unwrap();
    Options::new(typesize)
        .with_codec(Codec::Plugin(PLUGIN))
        .with_filters([])
        .with_plugins(plugins)
        .with_threads(Threads::serial())
}

/// Data of a chunk that can be compressed to half, unless it starts with [`UNLUCKY`].
fn chunk(first: u8) -> Vec<u8> {
    let mut data = vec![first; CHUNK];
    data[CHUNK / 2..].fill(0);
    data
}

fn chunks(firsts: &[u8]) -> Vec<u8> {
    firsts.iter().flat_map(|&first| chunk(first)).collect()
}

/// The same chunks, a special one among them, in memory, in a frame, and in a directory.
fn places() -> Vec<FrameEdit> {
    let frame = |layout| FrameOptions::new(options(4)).with_layout(layout);
    let mut places = vec![
        Frame::create(Location::Memory, options(4)).unwrap(),
        Frame::create(MemoryStorage::default(), frame(FrameLayout::Contiguous)).unwrap(),
        Frame::create(MemoryDirectory::new(), frame(FrameLayout::Sparse)).unwrap(),
    ];
    for sc in &mut places {
        sc.extend(&chunks(&[1, 2, 3]), CHUNK).unwrap();
        sc.fill(Special::Zeros, CHUNK as u64, CHUNK).unwrap();
        sc.checkpoint().unwrap();
        // What has not been committed before the call that fails stays, too.
        sc.append(&chunk(5)).unwrap();
        sc.update(0, &chunk(6)).unwrap();
    }
    places
}

/// Reads some data, and then fails, or panics.
struct Torn {
    data: Vec<u8>,
    panics: bool,
}

impl Read for Torn {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.data.is_empty() {
            assert!(!self.panics, "the reader panics");
            return Err(std::io::Error::other("the tape is torn"));
        }
        let len = buffer.len().min(self.data.len());
        buffer[..len].copy_from_slice(&self.data[..len]);
        self.data.drain(..len);
        Ok(len)
    }
}

type Call = fn(&mut SuperChunk) -> Result<()>;

const CALLS: [(&str, Call); 10] = [
    ("write", |sc| sc.write(4, &chunks(&[7, 8, UNLUCKY, 9])[4..])),
    ("write, another size first", |sc| sc.write(0, &chunks(&[7, 8, 9, UNLUCKY]))),
    ("extend", |sc| sc.extend(&chunks(&[7, 8, UNLUCKY]), CHUNK)),
    ("extend by chunks of another size", |sc| sc.extend(&chunks(&[7, 8, UNLUCKY, 1]), 2 * CHUNK)),
    ("extend_from", |sc| sc.extend_from(Torn { data: chunks(&[7, 8, 9]), panics: false }, CHUNK).map(|_| ())),
    ("insert", |sc| sc.insert(1, &chunk(UNLUCKY))),
    ("update", |sc| sc.update(1, &chunk(UNLUCKY))),
    ("append_all", |sc| {
        let mut other = SuperChunk::new(Options::new(1).with_threads(Threads::serial()))?;
        other.extend(&chunks(&[7, 8, UNLUCKY]), CHUNK)?;
        sc.append_all(&other)
    }),
    ("copy_to", |sc| {
        let mut other = SuperChunk::new(Options::new(1).with_threads(Threads::serial()))?;
        other.metalayers_mut().add("new", "layer")?;
        other.vlmetalayers_mut().add("vl", b"layer")?;
        other.extend(&chunks(&[7, 8, UNLUCKY]), CHUNK)?;
        other.copy_to(sc)
    }),
    ("reorder", |sc| sc.reorder(&[0, 1, 2, 3, 3])),
];

#[test]
fn a_call_that_fails_half_way_changes_nothing() {
    for (name, call) in CALLS {
        for (number, mut sc) in places().into_iter().enumerate() {
            let before = Content::of(&sc).unwrap();
            let (cbytes, chunksize) = (sc.cbytes(), sc.chunksize());
            call(&mut sc).unwrap_err();
            let place = format!("{name} at place {number}");
            assert_eq!(Content::of(&sc).unwrap(), before, "{place}");
            assert_eq!(sc.chunksize(), chunksize, "{place}");
            // In a file, space of older indexes that has been taken is not given back before a
            // compaction.
            assert!(sc.cbytes() == cbytes || number == 1, "{place}");
            sc.append(&chunk(9)).unwrap();
            let frame = sc.commit().unwrap();
            for sc in [&frame as &SuperChunk, &frame.edit().unwrap()] {
                assert_eq!(Content::of(sc).unwrap(), before.with_chunk(&chunk(9)), "{place}: committed");
            }
        }
    }
}

#[test]
fn a_call_that_a_panic_interrupts_changes_nothing() {
    for mut sc in places() {
        let before = Content::of(&sc).unwrap();
        let torn = Torn { data: chunks(&[7, 8, 9]), panics: true };
        assert!(catch_unwind(AssertUnwindSafe(|| sc.extend_from(torn, CHUNK))).is_err());
        sc.checkpoint().unwrap();
        assert_eq!(Content::of(&sc).unwrap(), before);
    }
}

#[test]
fn a_frame_that_is_dropped_after_a_failed_write_has_nothing_of_it() {
    let disk = disk::empty(FrameLayout::Contiguous);
    let mut frame = disk::create(&disk, FrameLayout::Contiguous, FrameOptions::new(options(4))).unwrap();
    frame.extend(&chunks(&[1, 2, 3]), CHUNK).unwrap();
    frame.checkpoint().unwrap();
    frame.write(0, &chunks(&[7, 8, UNLUCKY])).unwrap_err();
    drop(frame);
    let left = Frame::open(disk.image().get(disk::FILE).unwrap().to_vec()).unwrap();
    assert_eq!(left.nchunks(), 3);
    let plugins = Plugins::new().with_codec(PLUGIN, Arc::new(Superstitious)).unwrap();
    let mut decompressor = blosc_oxide::Decompressor::new().with_plugins(plugins);
    assert_eq!(decompressor.decompress(&left.chunk(0).unwrap()).unwrap(), chunk(1));
}

/// Of chunks of one size, special ones are in the index only; the first one of another size makes
/// them chunks.
#[test]
fn what_is_seen_after_a_failed_write_to_the_storage_is_what_was_there_before() {
    for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
        let kind = Kind { layout, is_variable: false, has_long_header: false, checksums: true, has_slots: false };
        let start = kind.disk().image();
        for after in 0..40 {
            let disk = Disk::with_image(start.clone());
            let mut frame = disk::edit(&disk, layout, Durability::Fsync).unwrap();
            let before = Content::of(&frame).unwrap();
            disk.set_fault(Fault { after, kind: FaultKind::Error });
            let changed = frame.insert(1, &noise(1, 2 << 20)).and_then(|()| frame.insert(1, &noise(2, 7 * CHUNK)));
            disk.set_fault(Fault { after: usize::MAX, kind: FaultKind::Error });
            if changed.is_ok() || frame.is_changed() {
                continue;
            }
            assert_eq!(Content::of(&frame).unwrap(), before, "{layout:?}, call {after}");
            if disk.has_failed_change() {
                frame.vlmetalayers_mut();
                assert_eq!(frame.checkpoint().unwrap_err().kind(), ErrorKind::Poisoned, "{layout:?}, call {after}");
            }
        }
    }
}

fn array(place: Location) -> ArrayEdit {
    let options = ArrayOptions::new(&[8, 8], options(1)).with_chunks(&[4, 8]).with_blocks(&[4, 8]);
    let mut array = NdArray::create(place, &options, &Fill::Zeros).unwrap();
    let rows: Vec<u8> = (0..64).map(|at| if at % 32 < 16 { 1 + at / 32 } else { 0 }).collect();
    array.write(&[AxisSelection::All, AxisSelection::All], &rows).unwrap();
    array.checkpoint().unwrap();
    array
}

/// Rows for two chunks, of which the second cannot be compressed.
fn unlucky_rows() -> Vec<u8> {
    let mut rows: Vec<u8> = (0..64).map(|at| if at % 32 < 16 { 3 + at / 32 } else { 0 }).collect();
    rows[32] = UNLUCKY;
    rows
}

type ArrayCall = fn(&mut ArrayEdit) -> Result<()>;

#[test]
fn a_call_on_an_array_that_fails_half_way_changes_nothing() {
    let calls: [(&str, ArrayCall); 5] = [
        ("write", |array| array.write(&[AxisSelection::All, AxisSelection::All], &unlucky_rows())),
        ("append", |array| array.append(0, &unlucky_rows())),
        ("append_from", |array| array.append_from(0, &MemoryStorage::new(unlucky_rows()), ItemOrder::C)),
        ("insert", |array| array.insert(0, 4, &unlucky_rows())),
        ("delete", |array| array.delete(0, 1..99)),
    ];
    for (name, call) in calls {
        let places = [
            Location::Memory,
            Location::storage(MemoryStorage::default()),
            Location::directory(MemoryDirectory::new()),
        ];
        for (number, place) in places.into_iter().enumerate() {
            let mut array = array(place);
            let (shape, items) = (array.shape().to_vec(), array.to_vec().unwrap());
            let content = Content::of(array.super_chunk()).unwrap();
            call(&mut array).unwrap_err();
            let place = format!("{name} at place {number}");
            assert_eq!((array.shape(), array.to_vec().unwrap()), (&shape[..], items.clone()), "{place}");
            assert_eq!(Content::of(array.super_chunk()).unwrap(), content, "{place}");
            assert!(!array.super_chunk().is_changed(), "{place}");
            array.resize(&[10, 8]).unwrap();
            array.checkpoint().unwrap();
            assert_eq!(array.to_vec().unwrap(), [items, vec![0; 16]].concat(), "{place}");
        }
    }
}

#[test]
fn a_packed_super_chunk_has_nothing_of_an_append_that_fails() {
    let memory = MemoryStorage::default();
    // The first buffer becomes what the others are compared with.
    let delta = PackedOptions::new(4).with_filters([blosc_oxide::Filter::Delta]);
    let mut writer = PackedWriter::create_in(&memory, delta).unwrap();
    assert_eq!(writer.append(&vec![1; 1 << 31]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    writer.append(&noise(1, 4000)).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let packed = PackedSuperChunk::open_in(&memory).unwrap();
    assert_eq!((packed.nchunks(), packed.decompress(0).unwrap()), (1, noise(1, 4000)));
    assert_eq!(packed.special(blosc_oxide::legacy::PackedSpecial::Filters).unwrap().unwrap(), noise(1, 4000));
}
