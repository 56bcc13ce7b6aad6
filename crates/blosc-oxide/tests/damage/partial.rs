//! One damaged part of a frame does not keep the others from being read, and is named.

use crate::common::disk;
use blosc_oxide::{Chunk, ErrorKind, Frame, FrameLayout, SuperChunk, compress, decompress, storage::Durability};
use testkit::storage::{Disk, Fault, FaultKind, Image};

const LAYOUTS: [FrameLayout; 2] = [FrameLayout::Contiguous, FrameLayout::Sparse];
const SIZES: [usize; 6] = [400, 1200, 800, 2000, 404, 1600];

/// The data of a chunk that no other chunk has.
fn buffer(index: usize) -> Vec<u8> {
    let step = u32::try_from(index).unwrap() + 3;
    (0..u32::try_from(SIZES[index] / 4).unwrap()).flat_map(|item| (item * step).to_le_bytes()).collect()
}

fn all() -> Vec<u8> {
    (0..SIZES.len()).flat_map(buffer).collect()
}

/// A frame of chunks of different sizes.
fn frame(layout: FrameLayout, checksums: bool) -> Disk {
    let disk = disk::empty(layout);
    let mut frame = disk::create(&disk, layout, disk::options().with_checksums(checksums)).unwrap();
    (0..SIZES.len()).for_each(|index| frame.append(&buffer(index)).unwrap());
    frame.checkpoint().unwrap();
    drop(frame);
    disk
}

/// The disk with other bytes in one file, or without it.
fn changed(disk: &Disk, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> Disk {
    let mut bytes = disk.image().get(file).unwrap().to_vec();
    change(&mut bytes);
    let changed = Disk::with_image(disk.image());
    let file = changed.create(file).unwrap();
    file.set_len(0).unwrap();
    file.write_at(0, &bytes).unwrap();
    changed
}

/// Makes the headers of these chunks unreadable.
fn damage_headers(disk: &Disk, layout: FrameLayout, chunks: &[usize]) -> Disk {
    let frame = disk::open(disk, layout).unwrap();
    chunks.iter().fold(Disk::with_image(disk.image()), |disk, &index| {
        let position = frame.chunk_position(index).unwrap().unwrap();
        let (file, at) = match layout {
            FrameLayout::Contiguous => (disk::FILE.to_owned(), usize::try_from(position).unwrap()),
            _ => (format!("{position:08X}.chunk"), 0),
        };
        changed(&disk, &file, |bytes| bytes[at + 4..at + 16].fill(0xff))
    })
}

/// Gives the frame other index entries.
fn damage_index(disk: &Disk, layout: FrameLayout, chunks: &[usize], entry: u64) -> Disk {
    changed(disk, disk::header_file(layout), |bytes| {
        let number = |at: usize| usize::try_from(u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
        let header_len = usize::try_from(u32::from_be_bytes(bytes[11..15].try_into().unwrap())).unwrap();
        let section = if layout == FrameLayout::Contiguous { number(39) } else { 0 };
        let (frame_len, at) = (number(16), header_len + section);
        let index = Chunk::parse(&bytes[at..]).unwrap().as_bytes().to_vec();
        let mut words = decompress(&index).unwrap();
        chunks.iter().for_each(|chunk| words[chunk * 8..][..8].copy_from_slice(&entry.to_le_bytes()));
        let new = compress(&words, &blosc_oxide::Options::new(8)).unwrap();
        bytes.truncate(frame_len);
        bytes.splice(at..at + index.len(), new);
        let frame_len = bytes.len() as u64;
        bytes[16..24].copy_from_slice(&frame_len.to_be_bytes());
    })
}

/// Everything but these chunks can be read, and they are named.
fn assert_damaged(disk: &Disk, layout: FrameLayout, damaged: &[usize], what: &str) {
    let frame: Frame = disk::open(disk, layout).unwrap();
    let starts: Vec<usize> = (0..=SIZES.len()).map(|end| SIZES[..end].iter().sum()).collect();
    let is_between = |index: usize| damaged[0] <= index && index <= damaged[damaged.len() - 1] && damaged.len() > 1;
    for index in 0..SIZES.len() {
        let data = frame.decompress(index);
        let range = starts[index] as u64..starts[index + 1] as u64;
        let bytes = frame.bytes(range.clone());
        if damaged.contains(&index) {
            let error = data.unwrap_err();
            assert!(error.to_string().contains(&format!("chunk {index}")), "{what}: {error}");
            assert!(bytes.is_err(), "{what}");
            continue;
        }
        assert_eq!(data.unwrap(), buffer(index), "{what}, chunk {index}");
        if is_between(index) {
            // Nothing tells where its data starts.
            assert_eq!(bytes.unwrap_err().kind(), ErrorKind::Corrupt, "{what}, chunk {index}");
        } else {
            assert_eq!(frame.chunk_range(index).unwrap(), range, "{what}, chunk {index}");
            assert_eq!(bytes.unwrap(), buffer(index), "{what}, chunk {index}");
        }
    }
    let runs = frame.chunk_runs().filter(|run| run.header.is_err()).flat_map(|run| run.chunks);
    assert_eq!(runs.collect::<Vec<_>>(), damaged, "{what}");
    let found = frame.verify().unwrap();
    // Of chunks in a row that are at one place, the first is described.
    assert!(found.damage.iter().all(|damage| damaged.contains(&damage.chunk.unwrap())), "{what}");
    assert_eq!((found.damaged, found.unexamined), (damaged.len(), 0), "{what}");
    assert_eq!(found.chunks, SIZES.len(), "{what}");
}

#[test]
fn damaged_headers_do_not_keep_other_chunks_from_being_read() {
    for layout in LAYOUTS {
        for checksums in [false, true] {
            let whole = frame(layout, checksums);
            for damaged in [&[0][..], &[3], &[5], &[1, 3], &[0, 5], &[2, 3, 4]] {
                let what = format!("{layout:?}, checksums {checksums}, {damaged:?}");
                assert_damaged(&damage_headers(&whole, layout, damaged), layout, damaged, &what);
            }
        }
    }
}

#[test]
fn damaged_entries_of_the_index_do_not_either() {
    for layout in LAYOUTS {
        let whole = frame(layout, false);
        // Beyond the end, of no file that is there, and neither an offset nor a special value.
        for entry in [1 << 40, u64::MAX >> 1, 1 << 63] {
            for damaged in [&[0][..], &[4], &[1, 2]] {
                let what = format!("{layout:?}, {entry:#x}, {damaged:?}");
                assert_damaged(&damage_index(&whole, layout, damaged, entry), layout, damaged, &what);
            }
        }
    }
}

#[test]
fn a_missing_chunk_file_does_not_either() {
    let whole = frame(FrameLayout::Sparse, true);
    whole.remove("00000002.chunk").unwrap();
    assert_damaged(&Disk::with_image(whole.image()), FrameLayout::Sparse, &[2], "a missing file");
}

#[test]
fn a_size_that_is_wrong_is_told_and_nothing_is_read_by_it() {
    for layout in LAYOUTS {
        let whole = frame(layout, false);
        let position = disk::open(&whole, layout).unwrap().chunk_position(2).unwrap().unwrap();
        let (file, at) = match layout {
            FrameLayout::Contiguous => (disk::FILE.to_owned(), usize::try_from(position).unwrap()),
            _ => (format!("{position:08X}.chunk"), 0),
        };
        // A header that can be read, of other sizes.
        let damaged = changed(&whole, &file, |bytes| bytes[at + 4..at + 8].copy_from_slice(&804_i32.to_le_bytes()));
        let frame = disk::open(&damaged, layout).unwrap();
        assert_eq!(frame.decompress(5).unwrap(), buffer(5));
        assert!(frame.bytes(0..10).unwrap_err().to_string().contains("are announced"));
        assert!(!frame.verify().unwrap().is_good());
        let mut frame = disk::edit(&damaged, layout, Durability::None).unwrap();
        let error = frame.delete(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "what does not add up is not changed: {error}");
    }
}

/// The data of what a repair writes.
fn repaired(repair: &blosc_oxide::repair::Repair) -> Vec<u8> {
    let mut saved = SuperChunk::new(repair.options()).unwrap();
    repair.write_to(&mut saved).unwrap();
    assert_eq!(saved.typesize(), 4);
    saved.bytes(0..saved.nbytes()).unwrap()
}

/// Whichever read fails: a repair that does not fail finds all, or names the chunk that it could
/// not read.
#[test]
fn a_read_error_is_no_damage() {
    for layout in LAYOUTS {
        let image: Image = frame(layout, false).image();
        let disk = Disk::with_image(image.clone());
        assert_eq!(repaired(&disk::repair(&disk, layout).unwrap()), all());
        let (mut failed, mut named) = (0, 0);
        for after in 0..disk.count() {
            let disk = Disk::with_image(image.clone());
            disk.set_fault(Fault { after, kind: FaultKind::Error });
            match disk::repair(&disk, layout) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Io, "{layout:?}, call {after}: {error}");
                    failed += 1;
                }
                Ok(repair) if repair.report().damaged_chunks > 0 => named += 1,
                // The fault may come when the chunks are copied.
                Ok(repair) if disk.count() > after => {
                    assert_eq!(repair.report().nchunks, SIZES.len(), "{layout:?}, call {after}");
                    assert_eq!(repaired(&repair), all(), "{layout:?}, call {after}");
                }
                Ok(_) => {}
            }
        }
        assert!(failed > 3 && named > 3, "{layout:?}: {failed} failed, {named} named");
    }
}
