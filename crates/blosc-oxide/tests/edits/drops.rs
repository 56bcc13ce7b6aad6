//! No drop of a writer publishes anything: not after good calls, not after a failed one, and not in
//! a panic. Frames and arrays are in `transactions`.

use crate::common::content::noise;
use blosc_oxide::bloscpack::{BloscpackOptions, BloscpackWriter};
use blosc_oxide::legacy::{PackedOptions, PackedSuperChunk, PackedWriter};
use blosc_oxide::storage::{MemoryStorage, ReadAt, Storage};
use blosc_oxide::{Frame, Options, Result};
use std::io::{self, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The length of the header of a packed super-chunk.
const PACKED_HEADER: u64 = 96;

/// A storage that notes which bytes are written or cut off, and can be broken. Clones share all of
/// it.
#[derive(Debug, Clone, Default)]
struct Recorder {
    inner: MemoryStorage,
    changes: Arc<Mutex<Vec<Range<u64>>>>,
    is_broken: Arc<AtomicBool>,
}

impl Recorder {
    fn changes(&self) -> Vec<Range<u64>> {
        self.changes.lock().unwrap().clone()
    }

    fn note(&self, change: Range<u64>) -> io::Result<()> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(io::Error::other("no luck"));
        }
        self.changes.lock().unwrap().push(change);
        Ok(())
    }

    fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::Relaxed);
    }
}

impl ReadAt for Recorder {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(position, buffer)
    }
}

impl Storage for Recorder {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.note(position..position + bytes.len() as u64)?;
        self.inner.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.note(len..u64::MAX)?;
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum End {
    AfterGoodCalls,
    AfterAFailedCall,
    InAPanic,
    Forgotten,
}

const ENDS: [End; 4] = [End::AfterGoodCalls, End::AfterAFailedCall, End::InAPanic, End::Forgotten];

/// Drops a writer; `fail` is a call that fails.
fn drop_it<W>(writer: W, how: End, fail: impl FnOnce(&mut W) -> Result<()>) {
    let mut writer = writer;
    match how {
        End::AfterGoodCalls => drop(writer),
        End::AfterAFailedCall => {
            fail(&mut writer).unwrap_err();
            drop(writer);
        }
        End::InAPanic => {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let _writer = writer;
                panic!("half way");
            }));
            assert!(panicked.is_err());
        }
        End::Forgotten => std::mem::forget(writer),
    }
}

/// Drops a writer; its storage is broken during the call that fails.
fn fail_and_drop(writer: PackedWriter<Recorder>, how: End, storage: &Recorder) {
    drop_it(writer, how, |writer| {
        storage.set_broken(true);
        let failed = writer.append(&noise(7, 40_000)).and_then(|()| writer.commit());
        storage.set_broken(false);
        failed
    });
}

fn packed_data(storage: &Recorder) -> Vec<Vec<u8>> {
    let packed = PackedSuperChunk::open_in(storage).unwrap();
    (0..packed.nchunks()).map(|index| packed.decompress(index).unwrap()).collect()
}

#[test]
fn a_dropped_writer_of_a_packed_super_chunk_publishes_nothing() {
    for how in ENDS {
        let storage = Recorder::default();
        let mut writer = PackedWriter::create_in(storage.clone(), PackedOptions::new(4)).unwrap();
        writer.append(&noise(1, 4000)).unwrap();
        writer.commit().unwrap();
        drop(writer);
        storage.changes.lock().unwrap().clear();
        let mut writer = PackedWriter::open_in(storage.clone(), 4).unwrap();
        (2..5).for_each(|seed| writer.append(&noise(seed, 40_000)).unwrap());
        fail_and_drop(writer, how, &storage);
        assert!(
            storage.changes().iter().all(|change| change.start >= PACKED_HEADER),
            "{how:?}: {:?}",
            storage.changes()
        );
        assert!(!storage.changes().is_empty(), "{how:?}: nothing was written that could be published");
        assert_eq!(packed_data(&storage), [noise(1, 4000)], "{how:?}");
        let mut next = PackedWriter::open_in(storage.clone(), 4).unwrap();
        next.append(&noise(9, 4000)).unwrap();
        next.commit().unwrap();
        assert_eq!(packed_data(&storage), [noise(1, 4000), noise(9, 4000)], "{how:?}");
    }
}

#[test]
fn a_dropped_writer_of_a_packed_super_chunk_that_was_never_committed_has_no_chunk() {
    for how in ENDS {
        let storage = Recorder::default();
        let mut writer = PackedWriter::create_in(storage.clone(), PackedOptions::new(4)).unwrap();
        writer.append(&noise(1, 4000)).unwrap();
        fail_and_drop(writer, how, &storage);
        let left = PackedSuperChunk::open_in(&storage);
        assert!(left.is_err() || left.is_ok_and(|packed| packed.nchunks() == 0), "{how:?}");
    }
}

#[test]
fn a_dropped_writer_of_a_bloscpack_file_writes_nothing_more() {
    let options = BloscpackOptions::new(Options::new(4)).with_chunk_size(4000);
    for how in ENDS {
        let mut storage = Recorder::default();
        let shared = storage.clone();
        let mut writer = BloscpackWriter::to_storage(&mut storage, &options).unwrap();
        writer.push(&noise(1, 10_000_000)).unwrap();
        let before = shared.changes().len();
        assert!(before > 1, "nothing has been written yet");
        // There is no call of it that fails by itself.
        drop_it(writer, how, |_| Err(io::Error::other("a failed call").into()));
        assert_eq!(shared.changes().len(), before, "{how:?}");
    }
}

#[test]
fn a_dropped_writer_of_data_appends_nothing_more() {
    for how in ENDS {
        let mut edit = Frame::create(MemoryStorage::default(), Options::new(1)).unwrap();
        let mut writer = edit.writer(1000).unwrap();
        writer.write_all(&[7; 2500]).unwrap();
        drop_it(writer, how, |_| Err(io::Error::other("a failed call").into()));
        assert_eq!((edit.nchunks(), edit.commit().unwrap().nbytes()), (2, 2000), "{how:?}");
    }
}
