//! Killed at every call, with any part of what was not synced lost: an append leaves the old or the
//! new content, a change of metadata the old or the new metadata, and a file that is being written
//! is complete or recognisably unfinished.
#![cfg(feature = "bloscpack")]

use blosc_oxide::bloscpack::{
    self, AppendOptions, Bloscpack, BloscpackOptions, BloscpackWriter, Checksum, MetadataOptions, Offsets, ReadOptions,
    Recovery, Version,
};
use blosc_oxide::{
    Codec, ErrorKind, Limits, Options,
    storage::{MemoryStorage, ReadAt, Storage},
};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::Rng;
use testkit::formula::generate;
use testkit::serde_json::json;

/// What a program asked its storage for.
#[derive(Debug, Clone)]
enum Call {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

/// A storage that remembers every call, and dies after some of them if it is told to.
#[derive(Debug)]
struct Recorder {
    memory: MemoryStorage,
    calls: Mutex<Vec<Call>>,
    dies_after: usize,
}

impl Recorder {
    fn new(bytes: &[u8]) -> Self {
        Self { memory: MemoryStorage::new(bytes.to_vec()), calls: Mutex::default(), dies_after: usize::MAX }
    }

    fn record(&self, call: Call) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap();
        if calls.len() >= self.dies_after {
            return Err(io::Error::other("killed"));
        }
        run(&call, &self.memory);
        calls.push(call);
        Ok(())
    }

    fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

impl ReadAt for Recorder {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.memory.read_at(position, buffer)
    }
}

impl Storage for Recorder {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.record(Call::Write(position, bytes.to_vec()))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.record(Call::SetLen(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.record(Call::Sync)
    }
}

fn run(call: &Call, memory: &MemoryStorage) {
    match call {
        Call::Write(at, bytes) => memory.write_at(*at, bytes).unwrap(),
        Call::SetLen(len) => memory.set_len(*len).unwrap(),
        Call::Sync => {}
    }
}

/// How finely a write can be torn.
#[derive(Debug, Clone, Copy)]
enum Grain {
    Byte,
    Sector,
}

/// What a disk may hold after a loss of power, when the last of `calls` was under way: everything
/// before the last sync, and of each later call all, nothing, or a part.
fn after_power_loss(start: &[u8], calls: &[Call], grain: Grain, rng: &mut Rng) -> MemoryStorage {
    let mut memory = MemoryStorage::new(start.to_vec());
    let synced = calls.iter().rposition(|call| matches!(call, Call::Sync)).map_or(0, |last| last + 1);
    calls[..synced].iter().for_each(|call| run(call, &memory));
    for call in &calls[synced..] {
        match (call, rng.below(4)) {
            (_, 0) => {}
            (Call::Write(at, bytes), 1) => tear(*at, bytes, grain, rng, &mut memory),
            (call, _) => run(call, &memory),
        }
    }
    memory
}

/// Writes some of the pieces between places where a write can be torn.
fn tear(at: u64, bytes: &[u8], grain: Grain, rng: &mut Rng, memory: &mut MemoryStorage) {
    let mut start = 0;
    while start < bytes.len() {
        let len = match grain {
            Grain::Byte => 1 + rng.below(bytes.len().min(600)),
            Grain::Sector => 512 - usize::try_from((at + start as u64) % 512).unwrap(),
        };
        let end = bytes.len().min(start + len);
        if rng.below(2) == 0 {
            memory.write_at(at + start as u64, &bytes[start..end]).unwrap();
        }
        start = end;
    }
}

fn data(nbytes: usize, seed: u64) -> Vec<u8> {
    let mut data = generate(&json!([
        {"kind": "walk", "n": nbytes / 16 + 1, "w": 8, "seed": seed},
        {"kind": "rand", "nbytes": nbytes, "seed": seed},
    ]))
    .unwrap();
    data.truncate(nbytes);
    data
}

fn options() -> BloscpackOptions {
    BloscpackOptions::new(Options::new(8)).with_chunk_size(4096)
}

/// What a reader finds: the data and the metadata.
fn content(storage: &dyn ReadAt) -> blosc_oxide::Result<(Vec<u8>, Option<String>)> {
    let file = Bloscpack::from_storage(storage)?;
    let mut data = Vec::new();
    file.copy_to(&mut data)?;
    Ok((data, file.metadata().map(|metadata| metadata.text().to_owned())))
}

type Content = (Vec<u8>, Option<String>);

type Run<'a> = dyn Fn(&mut dyn Storage) -> blosc_oxide::Result<()> + 'a;

/// A change of a file, with what it must be before and after.
struct Change<'a> {
    label: String,
    start: Vec<u8>,
    old: Content,
    new: Content,
    grain: Grain,
    run: Box<Run<'a>>,
}

impl<'a> Change<'a> {
    fn new(label: &str, start: Vec<u8>, run: impl Fn(&mut dyn Storage) -> blosc_oxide::Result<()> + 'a) -> Self {
        let old = content(&MemoryStorage::new(start.clone())).unwrap();
        let mut changed = MemoryStorage::new(start.clone());
        run(&mut changed).unwrap();
        let new = content(&changed).unwrap();
        Self { label: label.to_owned(), start, old, new, grain: Grain::Byte, run: Box::new(run) }
    }

    /// Kills the change after each call, and cuts the power while each call is under way.
    fn check(&self) -> (usize, usize) {
        let calls = self.calls();
        let mut seen_new = false;
        for killed in 0..=calls.len() {
            let mut recorder = Recorder::new(&self.start);
            recorder.dies_after = killed;
            let result = (self.run)(&mut recorder);
            assert_eq!(result.is_ok(), killed == calls.len(), "{}: killed after {killed} calls", self.label);
            let place = format!("{}: killed after {killed} of {} calls", self.label, calls.len());
            let is_new = self.check_content(&recorder.memory, &place);
            assert!(is_new || !seen_new, "{place}: the new content was there before");
            seen_new = is_new;
        }
        assert!(seen_new, "{}", self.label);
        (calls.len(), self.check_power_losses(&calls))
    }

    fn check_power_losses(&self, calls: &[Call]) -> usize {
        let mut rng = Rng::new(42);
        let mut states = 0;
        for under_way in 1..=calls.len() {
            for round in 0..40 {
                let disk = after_power_loss(&self.start, &calls[..under_way], self.grain, &mut rng);
                let call = &calls[under_way - 1];
                let place = format!("{}: power lost in call {under_way}, {call:.40?}, round {round}", self.label);
                self.check_content(&disk, &place);
                states += 1;
            }
        }
        states
    }

    fn calls(&self) -> Vec<Call> {
        let mut recorder = Recorder::new(&self.start);
        (self.run)(&mut recorder).unwrap();
        recorder.calls()
    }

    /// Whether it is the new content. It stays what it is when it is recovered, and more can be
    /// appended to it.
    fn check_content(&self, disk: &MemoryStorage, place: &str) -> bool {
        let found = content(disk).unwrap_or_else(|error| panic!("{place}: {error}"));
        let is_new = found == self.new;
        assert!(is_new || found == self.old, "{place}: {} bytes, neither old nor new", found.0.len());
        let mut recovered = disk.clone();
        bloscpack::recover(&mut recovered, Limits::new()).unwrap();
        assert!(content(&recovered).unwrap() == found, "{place}: recovery changed it");
        let trailing = Bloscpack::from_storage(recovered.clone()).unwrap().verify().unwrap().trailing;
        assert_eq!(trailing, 0, "{place}: bytes are left that belong to nothing");
        let mut walked = Vec::new();
        bloscpack::unpack(&recovered.to_bytes()[..], &mut walked, &ReadOptions::new()).unwrap();
        assert!(walked == found.0, "{place}: other readers see something else after recovery");
        let mut appended = disk.clone();
        bloscpack::append(&mut appended, &[5; 99][..], &AppendOptions::new()).unwrap();
        let (data, _) = content(&appended).unwrap();
        assert!(data == [&found.0[..], &[5; 99]].concat(), "{place}: appended to");
        is_new
    }
}

fn append_change(label: &str, start: Vec<u8>, added: usize, how: AppendOptions) -> Change<'static> {
    let new = data(added, 77);
    Change::new(label, start, move |storage| bloscpack::append(storage, &new[..], &how).map(|_| ()))
}

#[expect(clippy::print_stderr, reason = "the counts are what a reader of the log wants to see")]
fn check_all(changes: &[Change<'_>]) {
    for change in changes {
        let (calls, states) = change.check();
        eprintln!("{}: killed at {calls} calls, {states} disks after a loss of power", change.label);
    }
}

#[test]
fn an_append_killed_anywhere_leaves_the_old_or_the_new_content() {
    let mut changes = Vec::new();
    for (old, added) in
        [(10_000, 500), (10_000, 2288), (10_000, 30_000), (10_000, 500_000), (8192, 5_000), (0, 20_000), (1, 1)]
    {
        for checksum in [Checksum::None, Checksum::Sha512] {
            let start =
                bloscpack::pack_slice(&data(old, 1), &options().with_room(200).with_checksum(checksum)).unwrap();
            let label = format!("{added} bytes to {old}, {checksum}");
            changes.push(append_change(&label, start, added, AppendOptions::new()));
        }
    }
    check_all(&changes);
}

#[test]
fn an_append_that_shrinks_the_last_chunk_is_safe_too() {
    let stored =
        BloscpackOptions::new(Options::new(8).with_level(0)).with_chunk_size(16_384).with_checksum(Checksum::None);
    let start = bloscpack::pack_slice(&vec![3; 50_000], &stored).unwrap();
    let how = AppendOptions::new().with_chunk(Options::new(8).with_codec(Codec::Zstd).with_level(9));
    let zeros = |added: usize| {
        let how = how.clone();
        Change::new(&format!("{added} zeros"), start.clone(), move |storage| {
            bloscpack::append(storage, &vec![0; added][..], &how).map(|_| ())
        })
    };
    check_all(&[zeros(10), zeros(15_000), zeros(100_000)]);
}

#[test]
fn appends_to_other_kinds_of_files_are_safe() {
    let old = data(10_000, 1);
    let packed = |options: BloscpackOptions| bloscpack::pack_slice(&old, &options).unwrap();
    let no_offsets = packed(options().with_offsets(false));
    let first = packed(options().with_version(Version::V1));
    let second = packed(options().with_version(Version::V2).with_offsets(false).with_checksum(Checksum::Crc32));
    let mut aborted = packed(options());
    aborted[32..32 + 33 * 8].fill(0xff);
    let mut with_garbage = packed(options());
    with_garbage.extend(data(3_000, 9));
    let mut with_much_garbage = packed(options().with_checksum(Checksum::None));
    with_much_garbage.extend(data(100_000, 9));
    let metadata = packed(options().with_metadata("{\"n\":10000,\"x\":\"some more room\"}"));
    let with_metadata = AppendOptions::new().with_metadata("{\"n\":40000}");
    check_all(&[
        append_change("no offsets", no_offsets, 30_000, AppendOptions::new()),
        append_change("version 1", first, 30_000, AppendOptions::new()),
        append_change("version 2", second, 30_000, AppendOptions::new()),
        append_change("offsets of -1", aborted, 30_000, AppendOptions::new()),
        append_change("garbage at the end", with_garbage, 30_000, AppendOptions::new()),
        append_change("more garbage than is appended", with_much_garbage, 500, AppendOptions::new()),
        append_change("metadata at the same time", metadata, 30_000, with_metadata),
    ]);
}

#[test]
fn appends_to_streams_are_safe_where_a_sector_is_written_as_a_whole() {
    let mut stream = Vec::new();
    bloscpack::pack(&data(10_000, 1)[..], &mut stream, &options()).unwrap();
    let mut change = append_change("a stream", stream, 30_000, AppendOptions::new());
    change.grain = Grain::Sector;
    check_all(&[change]);
}

#[test]
fn metadata_replaced_and_killed_anywhere_is_old_or_new() {
    let how = MetadataOptions::new().with_room(5000).with_level(0);
    let long = format!("[{}]", vec!["12345678"; 300].join(","));
    for checksum in [Checksum::None, Checksum::Md5] {
        let options = options().with_metadata(long.clone()).with_metadata_options(how.with_checksum(checksum));
        let start = bloscpack::pack_slice(&data(10_000, 1), &options).unwrap();
        let shorter = |storage: &mut dyn Storage| bloscpack::replace_metadata(storage, "{\"a\":1}", Limits::new());
        let label = format!("metadata with {checksum}");
        check_all(&[Change::new(&label, start, shorter)]);
    }
}

#[test]
fn a_second_crash_during_recovery_does_no_harm() {
    let start = bloscpack::pack_slice(&data(10_000, 1), &options().with_checksum(Checksum::None)).unwrap();
    let change = append_change("an append", start, 30_000, AppendOptions::new());
    for killed in 0..=change.calls().len() {
        let mut recorder = Recorder::new(&change.start);
        recorder.dies_after = killed;
        let _ = (change.run)(&mut recorder);
        let found = content(&recorder.memory).unwrap();
        let mut again = Recorder::new(&recorder.memory.to_bytes());
        bloscpack::recover(&mut again, Limits::new()).unwrap();
        for killed_again in 0..=again.calls().len() {
            let mut recorder = Recorder::new(&recorder.memory.to_bytes());
            recorder.dies_after = killed_again;
            let _ = bloscpack::recover(&mut recorder, Limits::new());
            assert!(content(&recorder.memory).unwrap() == found, "killed after {killed} and {killed_again} calls");
        }
    }
}

/// Kills `change` after each call, lets a second process append, and cuts the power while each of
/// its calls is under way: what the first did not sync may be lost then.
fn check_successor(change: &Change<'_>) {
    let mut rng = Rng::new(7);
    for killed in 0..=change.calls().len() {
        let mut recorder = Recorder::new(&change.start);
        recorder.dies_after = killed;
        let _ = (change.run)(&mut recorder);
        let found = content(&recorder.memory).unwrap();
        recorder.dies_after = usize::MAX;
        bloscpack::append(&mut recorder, &data(9_000, 5)[..], &AppendOptions::new()).unwrap();
        let appended = content(&recorder.memory).unwrap();
        for under_way in killed..=recorder.calls().len() {
            let calls = &recorder.calls()[..under_way];
            let is_synced = calls[killed..].iter().any(|call| matches!(call, Call::Sync));
            for round in 0..40 {
                let disk = after_power_loss(&change.start, calls, change.grain, &mut rng);
                let place = format!("{}: killed after {killed}, call {under_way}, round {round}", change.label);
                let left = content(&disk).unwrap_or_else(|error| panic!("{place}: {error}"));
                let is_of_first = !is_synced && (left == change.old || left == change.new);
                assert!(left == found || left == appended || is_of_first, "{place}: {} bytes", left.0.len());
            }
        }
    }
}

#[test]
fn a_second_process_does_not_build_on_what_the_first_did_not_sync() {
    let packed = bloscpack::pack_slice(&data(10_000, 1), &options().with_checksum(Checksum::None)).unwrap();
    check_successor(&append_change("an append", packed, 30_000, AppendOptions::new()));
    let room = options().with_metadata("{\"a\":\"some room for more\"}");
    let packed = bloscpack::pack_slice(&data(10_000, 1), &room).unwrap();
    check_successor(&Change::new("metadata", packed, |storage| {
        bloscpack::replace_metadata(storage, "{\"b\":1}", Limits::new())
    }));
    let mut stream = Vec::new();
    bloscpack::pack(&data(10_000, 1)[..], &mut stream, &options()).unwrap();
    let mut change = append_change("a stream", stream, 30_000, AppendOptions::new());
    change.grain = Grain::Sector;
    check_successor(&change);
}

#[test]
fn a_stream_over_an_unfinished_append_says_so() {
    let start = bloscpack::pack_slice(&data(10_000, 1), &options()).unwrap();
    let change = append_change("an append", start, 3_000, AppendOptions::new());
    let calls = change.calls();
    // The first sync is that of what others may have left, the journal the last write before the
    // third.
    let journal = calls.iter().scan(0, |syncs, call| {
        *syncs += usize::from(matches!(call, Call::Sync));
        Some(*syncs)
    });
    let killed = journal.take_while(|&syncs| syncs < 3).count() + 1;
    let mut recorder = Recorder::new(&change.start);
    recorder.dies_after = killed;
    let _ = (change.run)(&mut recorder);
    let file = Bloscpack::from_storage(recorder.memory.clone()).unwrap();
    assert!(file.has_journal());
    let error = bloscpack::unpack(&recorder.memory.to_bytes()[..], io::sink(), &ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(bloscpack::recover(&mut recorder.memory, Limits::new()).unwrap(), Recovery::Completed);
    assert_eq!(bloscpack::recover(&mut recorder.memory, Limits::new()).unwrap(), Recovery::NotNeeded);
    assert!(content(&recorder.memory).unwrap() == change.new);
}

/// Another program that knows nothing of journals has appended to the file after the crash.
#[test]
fn a_journal_that_was_overtaken_is_not_applied() {
    let start = bloscpack::pack_slice(&data(10_000, 1), &options()).unwrap();
    let change = append_change("an append", start.clone(), 30_000, AppendOptions::new());
    for killed in 0..change.calls().len() {
        let mut recorder = Recorder::new(&change.start);
        recorder.dies_after = killed;
        let _ = (change.run)(&mut recorder);
        // It overwrites the file from the start, and leaves stale bytes at the end, as the
        // reference does.
        let mut theirs = MemoryStorage::new(start.clone());
        bloscpack::append(&mut theirs, &data(2_000, 5)[..], &AppendOptions::new()).unwrap();
        recorder.memory.write_at(0, &theirs.to_bytes()).unwrap();
        assert!(content(&recorder.memory).unwrap() == content(&theirs).unwrap(), "killed after {killed}");
    }
}

/// Fails one call, and goes on after it.
struct Stumbles {
    inner: Recorder,
    fails: usize,
    calls: AtomicUsize,
}

impl Stumbles {
    fn stumble(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call == self.fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl ReadAt for Stumbles {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(position, buffer)
    }
}

impl Storage for Stumbles {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.stumble()?;
        self.inner.write_at(position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.stumble()?;
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.stumble()?;
        self.inner.sync()
    }
}

#[test]
fn a_full_disk_leaves_the_old_content_and_length() {
    let start = bloscpack::pack_slice(&data(10_000, 1), &options()).unwrap();
    let change = append_change("an append", start, 30_000, AppendOptions::new());
    for fails in 1..=change.calls().len() {
        let mut storage = Stumbles { inner: Recorder::new(&change.start), fails, calls: AtomicUsize::new(0) };
        let error = (change.run)(&mut storage).unwrap_err();
        let found = content(&storage.inner.memory).unwrap();
        let is_made = error.to_string().starts_with("the change is made");
        assert!(found == *if is_made { &change.new } else { &change.old }, "call {fails}: {error}");
        // What was not made leaves no trace.
        assert!(is_made || storage.inner.memory.to_bytes() == change.start, "call {fails}: {error}");
    }
}

#[test]
fn a_change_that_was_reported_as_failed_does_not_come_true_when_the_power_is_lost() {
    let packed = bloscpack::pack_slice(&data(10_000, 1), &options().with_metadata("{\"a\":\"some room\"}")).unwrap();
    let metadata = |storage: &mut dyn Storage| bloscpack::replace_metadata(storage, "{\"b\":1}", Limits::new());
    let changes = [
        append_change("an append", packed.clone(), 30_000, AppendOptions::new()),
        Change::new("metadata", packed, metadata),
    ];
    let mut rng = Rng::new(3);
    for change in &changes {
        for fails in 1..=change.calls().len() {
            let mut storage = Stumbles { inner: Recorder::new(&change.start), fails, calls: AtomicUsize::new(0) };
            let error = (change.run)(&mut storage).unwrap_err();
            let is_made = error.to_string().starts_with("the change is made");
            for round in 0..if is_made { 0 } else { 200 } {
                let disk = after_power_loss(&change.start, &storage.inner.calls(), Grain::Byte, &mut rng);
                let place = format!("{}: call {fails}, round {round}: {error}", change.label);
                assert!(content(&disk).unwrap() == change.old, "{place}");
            }
        }
    }
}

/// Reading a file that was being written: nothing, or all, or it says that it is unfinished.
fn check_unfinished(disk: &MemoryStorage, data: &[u8], place: &str) -> bool {
    let Ok(file) = Bloscpack::from_storage(disk.clone()) else { return false };
    let mut found = Vec::new();
    let Ok(_) = file.copy_to(&mut found) else { return false };
    if found == data && file.is_length_known() && file.offsets().unwrap() != Offsets::Unset {
        return true;
    }
    let says_so = !file.is_length_known() || file.offsets().unwrap() == Offsets::Unset;
    assert!(says_so, "{place}: looks complete with {} of {} bytes", found.len(), data.len());
    false
}

#[test]
fn a_file_that_is_being_written_is_complete_or_recognisably_unfinished() {
    let data = data(600_000, 1);
    for offsets in [false, true] {
        for announced in [None, Some(600_000)] {
            let options = options().with_offsets(offsets).with_nbytes(announced).with_chunk_size(20_000);
            let write = |storage: &mut dyn Storage| -> blosc_oxide::Result<()> {
                let mut writer = BloscpackWriter::to_storage(storage, &options)?;
                writer.push_all(&data[..])?;
                writer.finish().map(|_| ())
            };
            let mut recorder = Recorder::new(&[]);
            write(&mut recorder).unwrap();
            let calls = recorder.calls();
            let mut rng = Rng::new(1);
            for killed in 0..=calls.len() {
                let mut recorder = Recorder::new(&[]);
                recorder.dies_after = killed;
                assert_eq!(write(&mut recorder).is_ok(), killed == calls.len());
                let place = format!("offsets {offsets}, announced {announced:?}, call {killed}");
                let is_complete = check_unfinished(&recorder.memory, &data, &place);
                assert!(is_complete || killed < calls.len(), "{place}");
                for _ in 0..20 {
                    let disk = after_power_loss(&[], &calls[..killed], Grain::Sector, &mut rng);
                    check_unfinished(&disk, &data, &place);
                }
            }
        }
    }
}
