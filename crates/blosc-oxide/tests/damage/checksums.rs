//! Checksums of frames: those that count are compared when they are needed, and changes that others
//! make are no damage.

use blosc_oxide::{
    ErrorKind, Frame, FrameOptions, Location, Options,
    storage::{MemoryStorage, ReadAt},
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A frame in memory with checksums, as bytes.
fn checked_frame() -> Vec<u8> {
    let options = FrameOptions::new(Options::new(4)).with_metalayer("unit", "kelvin");
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    frame.append(&[7; 4000]).unwrap();
    frame.checkpoint().unwrap().to_bytes().unwrap()
}

#[test]
fn a_metalayer_that_the_reference_has_changed_is_no_damage() {
    let mut bytes = checked_frame();
    // It overwrites the content in place and leaves the trailer alone.
    let at = bytes.windows(6).position(|window| window == b"kelvin").unwrap();
    bytes[at..at + 6].copy_from_slice(b"newton");
    let mut frame = Frame::open(bytes).unwrap().edit().unwrap();
    assert_eq!(frame.metalayers().get("unit"), Some(&b"newton"[..]));
    let found = frame.verify().unwrap();
    assert!(found.is_good() && found.has_foreign_metalayers && !found.has_foreign_changes, "{found:?}");
    assert_eq!(found.checksums, 1);
    frame.append(&[8; 4000]).unwrap();
    frame.checkpoint().unwrap();
    assert!(!frame.verify().unwrap().has_foreign_metalayers);
}

#[test]
fn a_trailer_that_the_reference_has_written_is_no_damage() {
    let mut bytes = checked_frame();
    // It writes a fingerprint of type 0.
    let at = bytes.len() - 17;
    bytes[at..].fill(0);
    let frame = Frame::open(bytes).unwrap();
    let found = frame.verify().unwrap();
    assert!(found.is_good() && found.has_foreign_changes, "{found:?}");
    assert_eq!(found.checksums, 0);
}

/// How many bytes of a storage were read.
struct Counted {
    storage: MemoryStorage,
    read: Arc<AtomicUsize>,
}

impl ReadAt for Counted {
    fn len(&self) -> std::io::Result<u64> {
        self.storage.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.read.fetch_add(buffer.len(), Ordering::Relaxed);
        self.storage.read_at(position, buffer)
    }
}

/// A frame of so many chunks that its checksums are not read when it is opened.
fn long_frame() -> Vec<u8> {
    let mut frame = Frame::create(MemoryStorage::default(), Options::new(4)).unwrap();
    frame.vlmetalayers_mut().add("note", b"before the checksums").unwrap();
    for number in 0..20_000_u32 {
        frame.append(&number.to_le_bytes().repeat(16)).unwrap();
    }
    frame.checkpoint().unwrap().to_bytes().unwrap()
}

#[test]
fn checksums_are_read_when_they_are_needed() {
    let read = Arc::new(AtomicUsize::new(0));
    let source = Counted { storage: MemoryStorage::new(long_frame()), read: Arc::clone(&read) };
    let frame = Frame::open(Location::source(source)).unwrap();
    let at_first = read.load(Ordering::Relaxed);
    assert!(at_first < 100_000, "{at_first} bytes were read, the checksums have 160,000");
    assert_eq!(frame.vlmetalayers().get("note").unwrap().unwrap(), b"before the checksums");
    assert_eq!(frame.items(16 * 777..16 * 777 + 1).unwrap(), 777_u32.to_le_bytes());
    let found = frame.verify().unwrap();
    assert!(found.is_good());
    // Zeros need no chunk.
    assert_eq!((found.chunks, found.checksums), (20_000, 19_999));
    assert!(read.load(Ordering::Relaxed) > 160_000);
}

#[test]
fn damaged_checksums_are_found() {
    let mut bytes = long_frame();
    let at = bytes.len() - 1000;
    bytes[at] ^= 1;
    let frame = Frame::open(Location::source(MemoryStorage::new(bytes.clone()))).unwrap();
    let found = frame.verify().unwrap();
    assert_eq!((found.damage.len(), found.checksums), (1, 0));
    assert_eq!(found.damage[0].error.kind(), ErrorKind::ChecksumMismatch);
    // A writer would have to write them anew, and does not make them up.
    let mut frame = Frame::open(bytes).unwrap().edit().unwrap();
    assert_eq!(frame.append(&[1; 64]).unwrap_err().kind(), ErrorKind::ChecksumMismatch);
}

#[test]
fn a_long_frame_is_edited_after_it_is_opened() {
    let mut frame = Frame::open(long_frame()).unwrap().edit().unwrap();
    frame.metalayers_mut().add("long", vec![7; 3000]).unwrap();
    frame.delete(5).unwrap();
    frame.checkpoint().unwrap();
    frame.update(7, &[9; 64]).unwrap();
    let frame = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap();
    let found = frame.verify().unwrap();
    assert!(found.is_good(), "{found:?}");
    assert_eq!((found.chunks, found.checksums), (19_999, 19_998));
    assert_eq!(frame.decompress(7).unwrap(), [9; 64]);
}

#[test]
fn checksums_that_a_compaction_has_moved_are_not_damaged() {
    let path = std::env::temp_dir().join(format!("blosc-oxide-compacted-{}.b2frame", std::process::id()));
    std::fs::write(&path, long_frame()).unwrap();
    let mut reader = Frame::open(&path).unwrap();
    let mut writer = Frame::open(&path).unwrap().edit().unwrap();
    (0..19_000).for_each(|_| writer.delete(500).unwrap());
    writer.checkpoint().unwrap();
    writer.compact().unwrap();
    let error = reader.check_on_read().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(reader.refresh().unwrap());
    reader.check_on_read().unwrap();
    std::fs::remove_file(path).unwrap();
}
