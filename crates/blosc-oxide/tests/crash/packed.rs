//! After a simulated crash a packed super-chunk is what it was before the commit or after it, and
//! goes on.

use crate::common::packed::{contents, noise, ramp};
use blosc_oxide::{
    Container, ErrorKind, Filter, Result,
    legacy::{PackedOptions, PackedSuperChunk, PackedWriter},
    storage::{Durability, MemoryStorage, ReadAt},
};
use std::io;
use std::sync::Mutex;
use testkit::Rng;

const SECTOR: usize = 512;

#[derive(Debug, Clone)]
enum Call {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

/// Storage that keeps a log of all calls, and fails at one of them.
#[derive(Debug, Default)]
struct Logged {
    memory: MemoryStorage,
    calls: Mutex<Vec<Call>>,
    fails_at: Option<usize>,
    /// Whether all later calls fail as well.
    stays_broken: bool,
}

impl Logged {
    fn new(bytes: &[u8]) -> Self {
        Self { memory: MemoryStorage::new(bytes.to_vec()), ..Self::default() }
    }

    fn log(&self, call: Call) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        let call = calls.len() - 1;
        let fails = self.fails_at.is_some_and(|at| call == at || self.stays_broken && call > at);
        if fails { Err(io::Error::other("no luck")) } else { Ok(()) }
    }
}

impl Logged {
    fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

impl ReadAt for Logged {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.memory.read_at(position, buffer)
    }
}

impl blosc_oxide::storage::Storage for Logged {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.log(Call::Write(position, bytes.to_vec())) {
            // A write that fails has done half of its work; what a broken storage has half of in a
            // sector, nobody mends.
            let done = if self.stays_broken && bytes.len() < SECTOR { 0 } else { bytes.len() / 2 };
            self.memory.write_at(position, &bytes[..done])?;
            return Err(error);
        }
        self.memory.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.log(Call::SetLen(len))?;
        self.memory.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.log(Call::Sync)
    }
}

/// What becomes of a call that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lost,
    Kept,
    /// Only some sectors of it are written.
    Torn,
}

const FATES: [Fate; 3] = [Fate::Lost, Fate::Kept, Fate::Torn];

fn apply(call: &Call, fate: Fate, rng: &mut Rng, disk: &MemoryStorage) {
    use blosc_oxide::storage::Storage as _;
    match (call, fate) {
        (_, Fate::Lost) | (Call::Sync, _) => {}
        (Call::SetLen(len), _) => disk.set_len(*len).unwrap(),
        (Call::Write(position, bytes), Fate::Kept) => disk.write_at(*position, bytes).unwrap(),
        (Call::Write(position, bytes), Fate::Torn) => {
            let (mut at, mut rest) = (*position, &bytes[..]);
            while !rest.is_empty() {
                let in_sector = SECTOR - usize::try_from(at % SECTOR as u64).unwrap();
                let (piece, after) = rest.split_at(in_sector.min(rest.len()));
                if rng.below(2) == 0 {
                    disk.write_at(at, piece).unwrap();
                }
                (at, rest) = (at + piece.len() as u64, after);
            }
        }
    }
}

/// Every disk that a loss of power after `count` calls can leave: what was synced is there, and
/// each call after that has any fate.
fn disks(before: &[u8], calls: &[Call], count: usize, each: &mut dyn FnMut(&[u8], &str)) {
    let synced = calls[..count].iter().rposition(|call| matches!(call, Call::Sync)).map_or(0, |at| at + 1);
    let open = count - synced;
    assert!(open <= 8, "{open} calls without a sync are too many to try everything");
    let mut rng = Rng::new(1);
    for choice in 0..FATES.len().pow(u32::try_from(open).unwrap()) {
        let fates: Vec<Fate> =
            (0..open).map(|at| FATES[choice / 3_usize.pow(u32::try_from(at).unwrap()) % 3]).collect();
        let repeats = if fates.contains(&Fate::Torn) { 8 } else { 1 };
        for _ in 0..repeats {
            let disk = MemoryStorage::new(before.to_vec());
            calls[..synced].iter().for_each(|call| apply(call, Fate::Kept, &mut rng, &disk));
            calls[synced..count].iter().zip(&fates).for_each(|(call, &fate)| apply(call, fate, &mut rng, &disk));
            each(&disk.to_bytes(), &format!("after {count} calls, {fates:?}"));
        }
    }
}

fn append_all(storage: &Logged, buffers: &[Vec<u8>]) -> Result<()> {
    let mut writer = PackedWriter::open_in(storage, 4)?;
    buffers.iter().try_for_each(|buffer| writer.append(buffer))?;
    writer.commit()
}

/// Super-chunks to append to, with what they hold: with and without a delta, with what an earlier
/// crash left, and so small that a sector has the header and live bytes.
fn starts() -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut starts = Vec::new();
    for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::Shuffle]] {
        let options = PackedOptions::new(4).with_filters(filters);
        for buffers in [vec![], vec![ramp(30, 1)], vec![noise(3000, 1), ramp(5000, 1), noise(700, 2)]] {
            let bytes = options.pack(&buffers).unwrap();
            starts.push(([&bytes[..], &noise(5000, 3)].concat(), buffers.clone()));
            starts.push((bytes, buffers));
        }
    }
    starts
}

fn added() -> Vec<Vec<u8>> {
    vec![ramp(2000, 9), noise(2500, 4)]
}

#[test]
fn after_a_loss_of_power_the_super_chunk_is_as_before_or_as_after() {
    for (bytes, before) in starts() {
        let after = [&before[..], &added()].concat();
        let storage = Logged::new(&bytes);
        append_all(&storage, &added()).unwrap();
        for count in 0..=storage.calls().len() {
            disks(&bytes, &storage.calls(), count, &mut |disk, what| {
                let packed = PackedSuperChunk::open_in(disk).unwrap_or_else(|error| panic!("{what}: {error}"));
                let found = contents(&packed).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(found == before || found == after, "{what}");
                assert!(found == after || count < storage.calls().len(), "{what}: what was committed is lost");
                let storage = Logged::new(disk);
                append_all(&storage, &[ramp(100, 5)]).unwrap();
                let packed = PackedSuperChunk::open_in(&storage).unwrap();
                assert!(contents(&packed).unwrap() == [&found[..], &[ramp(100, 5)]].concat(), "{what}, then more");
            });
        }
    }
}

#[test]
fn a_kill_between_any_two_calls_leaves_it_as_before_or_as_after_without_syncs_too() {
    for (bytes, before) in starts() {
        let after = [&before[..], &added()].concat();
        let storage = Logged::new(&bytes);
        let mut writer = PackedWriter::open_in(&storage, 4).unwrap().with_durability(Durability::None);
        added().iter().for_each(|buffer| writer.append(buffer).unwrap());
        writer.commit().unwrap();
        drop(writer);
        assert!(!storage.calls().iter().any(|call| matches!(call, Call::Sync)));
        for count in 0..=storage.calls().len() {
            let disk = MemoryStorage::new(bytes.clone());
            storage.calls()[..count].iter().for_each(|call| apply(call, Fate::Kept, &mut Rng::new(0), &disk));
            let found = contents(&PackedSuperChunk::open_in(&disk).unwrap()).unwrap();
            assert!(found == before || found == after, "after {count} calls");
            assert_eq!(Container::detect(&disk, 0).unwrap(), Some(Container::Packed), "after {count} calls");
            assert!(found == after || count < storage.calls().len(), "what was committed is lost");
        }
    }
}

#[test]
fn a_crash_while_creating_leaves_nothing_or_an_empty_or_the_whole_super_chunk() {
    let options = PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]);
    let storage = Logged::new(&[]);
    let mut writer = PackedWriter::create_in(&storage, options).unwrap();
    added().iter().for_each(|buffer| writer.append(buffer).unwrap());
    writer.commit().unwrap();
    drop(writer);
    let mut seen = [0; 3];
    for count in 0..=storage.calls().len() {
        disks(&[], &storage.calls(), count, &mut |disk, what| match PackedSuperChunk::open_in(disk) {
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Corrupt), "{what}: {error}");
                seen[0] += 1;
            }
            Ok(packed) if packed.nchunks() == 0 => seen[1] += 1,
            Ok(packed) => {
                assert_eq!(contents(&packed).unwrap(), added(), "{what}");
                seen[2] += 1;
            }
        });
    }
    assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
}

#[test]
fn an_error_at_any_call_is_reported_and_keeps_the_former_state() {
    for (bytes, before) in starts() {
        let storage = Logged::new(&bytes);
        append_all(&storage, &added()).unwrap();
        for fails_at in 0..storage.calls().len() {
            let storage = Logged { fails_at: Some(fails_at), ..Logged::new(&bytes) };
            let mut writer = PackedWriter::open_in(&storage, 4).unwrap();
            let result = added().iter().try_for_each(|buffer| writer.append(buffer)).and_then(|()| writer.commit());
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Io);
            assert_eq!(writer.append(&[1]).unwrap_err().kind(), ErrorKind::Poisoned);
            assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
            drop(writer);
            let found = contents(&PackedSuperChunk::open_in(&storage).unwrap()).unwrap();
            assert!(found == before, "call {fails_at}");
            assert!(storage.len().unwrap() <= bytes.len() as u64, "call {fails_at}: its space is not given back");
        }
    }
}

/// What `blosc append` does with a writer whose commit has failed.
fn append_or_abandon(storage: &Logged) -> Result<()> {
    let mut writer = PackedWriter::open_in(storage, 4)?;
    let result = added().iter().try_for_each(|buffer| writer.append(buffer)).and_then(|()| writer.commit());
    if result.is_err() {
        writer.abort();
    }
    result
}

#[test]
fn a_failed_append_that_is_abandoned_keeps_the_former_content_in_full() {
    for (bytes, before) in starts() {
        let storage = Logged::new(&bytes);
        append_or_abandon(&storage).unwrap();
        let (calls, after) = (storage.calls().len(), [&before[..], &added()].concat());
        for (fails_at, stays_broken) in (0..calls).flat_map(|call| [(call, false), (call, true)]) {
            let storage = Logged { fails_at: Some(fails_at), stays_broken, ..Logged::new(&bytes) };
            let what = format!("call {fails_at} fails, stays broken: {stays_broken}");
            assert_eq!(append_or_abandon(&storage).unwrap_err().kind(), ErrorKind::Io, "{what}");
            let packed = PackedSuperChunk::open_in(&storage).unwrap_or_else(|error| panic!("{what}: {error}"));
            let found = contents(&packed).unwrap_or_else(|error| panic!("{what}: {error}"));
            // Of a storage that takes no more calls the new header cannot be taken back.
            assert!(found == before || stays_broken && found == after, "{what}");
        }
    }
}
