//! Damaged and hostile frames give an error or data: no panic, no hang, no allocation above the
//! limits.

use blosc_oxide::{
    AxisSelection, ErrorKind, Frame, FrameOptions, Limits, Location, NdArray, Options, Result, SuperChunk, Threads,
    storage::{MemoryStorage, ReadAt},
};
use std::time::Duration;
use testkit::alloc::CountingAllocator;
use testkit::golden::{Entry, Golden};
use testkit::mutate::{prefixes, random_bytes, single_byte};
use testkit::patience::Patience;

const SHARED_HOSTILE: usize = 60;
const REPOSITORY_HOSTILE: usize = 18;
/// What one allocation may have here. Decoding the largest of these frames needs less.
const LIMIT: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(1);

fn options() -> FrameOptions {
    // All chunks are read one by one here, and a few bytes of index can be a hundred million.
    let limits = Limits::new().with_max_allocation(LIMIT).with_max_chunks(20_000);
    FrameOptions::new(Options::new(1).with_threads(Threads::serial())).with_limits(limits)
}

fn open(bytes: &[u8]) -> Result<Frame> {
    Frame::open_with(Location::source(MemoryStorage::new(bytes.to_vec())), &options().opening())
}

/// Reads a frame in every way there is; the first error ends it.
fn read_all(bytes: &[u8]) -> Result<u64> {
    let frame = open(bytes)?;
    for (_, content) in frame.metalayers().iter() {
        std::hint::black_box(content);
    }
    for name in frame.vlmetalayers().names() {
        frame.vlmetalayers().get(name)?;
    }
    for index in 0..frame.nchunks() {
        frame.chunk_header(index)?;
        frame.chunk_special(index)?;
        frame.decompress(index)?;
        frame.block(index, 0)?;
    }
    frame.verify()?;
    frame.dead_bytes()?;
    let nbytes = frame.nbytes();
    frame.bytes(nbytes / 2..nbytes.min(nbytes / 2 + 100))?;
    frame.gather(&[0, frame.nitems().saturating_sub(1)])?;
    Ok(nbytes)
}

/// Reads what may be an array, as an array.
fn read_array(bytes: &[u8]) -> Result<()> {
    let array = NdArray::from_frame(open(bytes)?)?;
    let last: Vec<AxisSelection> =
        array.shape().iter().map(|&length| AxisSelection::from(length.saturating_sub(1))).collect();
    array.slice(&last)?;
    for chunk in array.chunks() {
        chunk?;
    }
    array.to_vec()?;
    Ok(())
}

/// Goes on writing, as somebody would who does not know.
fn edit(bytes: &[u8]) -> Result<()> {
    let mut frame = Frame::open_with(MemoryStorage::new(bytes.to_vec()), &options().opening())?.edit()?;
    let size = frame.chunksize().unwrap_or(64).min(1 << 20);
    frame.append(&vec![1; size])?;
    frame.vlmetalayers_mut().add("new", b"content")?;
    frame.checkpoint()?;
    frame.update(0, &vec![2; size])?;
    frame.metalayers_mut().add("new", b"content".as_slice())?;
    frame.checkpoint()?;
    frame.compact().map(drop)
}

/// Runs `action` and checks what it took; `Err` is as good as `Ok`.
fn within_limits<T>(name: &str, action: impl Fn() -> Result<T>) -> Result<T> {
    within(&Patience::new(PATIENCE), name, action)
}

fn within<T>(patience: &Patience, name: &str, action: impl Fn() -> Result<T>) -> Result<T> {
    let (result, used) = patience.run(name, || CountingAllocator::on_this_thread(&action));
    // A buffer that grows may ask for up to twice what it holds.
    assert!(used.largest <= 2 * LIMIT as u64, "{name}: {} bytes allocated at once", used.largest);
    if let Err(error) = &result {
        assert!(!error.to_string().is_empty(), "{name}");
    }
    result
}

#[expect(clippy::print_stderr, reason = "the slowest is what a reader of the log wants to see")]
fn check_hostile(golden: &Golden) -> usize {
    let entries = golden.entries("hostile");
    let patience = Patience::new(PATIENCE);
    for entry in &entries {
        let bytes = entry.read();
        let _ = within(&patience, &entry.file, || read_all(&bytes));
        let _ = within(&patience, &entry.file, || read_array(&bytes));
        let _ = within(&patience, &entry.file, || edit(&bytes));
    }
    eprintln!("{}: of {} hostile files, {patience}", golden.root().display(), entries.len());
    entries.len()
}

#[test]
fn frames_that_kill_the_reference_do_no_harm() {
    assert_eq!(check_hostile(&Golden::repository()), REPOSITORY_HOSTILE);
    if let Some(golden) = Golden::shared() {
        assert_eq!(check_hostile(&golden), SHARED_HOSTILE);
    }
}

/// Contiguous frames that others wrote, and what the tests below damage.
fn originals(max_size: usize) -> Vec<(String, Vec<u8>)> {
    let golden = Golden::repository();
    let is_small = |entry: &Entry| entry.manifest["size"].as_u64().is_some_and(|size| size <= max_size as u64);
    let mut entries = golden.entries("blosc2");
    entries.retain(|entry| entry.kind == "cframe");
    entries.extend(golden.entries("early"));
    entries.retain(is_small);
    let mut originals: Vec<_> = entries.iter().map(|entry| (entry.file.clone(), entry.read())).collect();
    originals.push(("ours".to_owned(), ours()));
    originals
}

fn ours() -> Vec<u8> {
    let options = FrameOptions::new(Options::new(4).with_threads(Threads::serial())).with_metalayer("unit", "kelvin");
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    for start in 0..5_u32 {
        let buffer: Vec<u8> = (start * 7..start * 7 + 300).flat_map(u32::to_le_bytes).collect();
        frame.append(&buffer).unwrap();
    }
    frame.vlmetalayers_mut().add("note", b"counted up").unwrap();
    frame.checkpoint().unwrap();
    frame.update(2, &[9; 1200]).unwrap();
    frame.checkpoint().unwrap().to_bytes().unwrap()
}

/// Changes a byte of header, index and trailer, of all there are.
#[test]
fn no_damaged_byte_of_header_or_trailer_does_harm() {
    for (name, bytes) in originals(2500) {
        let len = bytes.len();
        let positions = (0..len.min(150)).chain(len.saturating_sub(180).max(150)..len);
        for mutant in single_byte(&bytes, positions) {
            let name = format!("{name}, {}", mutant.what);
            let _ = within_limits(&name, || read_all(&mutant.bytes));
            let _ = within_limits(&name, || edit(&mutant.bytes));
        }
    }
}

#[test]
fn random_damage_does_no_harm() {
    for (seed, (name, bytes)) in originals(20_000).into_iter().enumerate() {
        for mutant in random_bytes(&bytes, 100, seed as u64) {
            let name = format!("{name}, {}", mutant.what);
            let _ = within_limits(&name, || read_all(&mutant.bytes));
            let _ = within_limits(&name, || edit(&mutant.bytes));
        }
    }
}

#[test]
fn a_frame_that_ends_early_is_an_error() {
    for (name, bytes) in originals(2500) {
        for prefix in prefixes(&bytes) {
            let result = within_limits(&name, || read_all(prefix));
            // A commit leaves a copy of its header: what ends there is the frame of that commit.
            let is_commit =
                prefix.get(prefix.len().saturating_sub(24)..).is_some_and(|end| end.starts_with(b"b2footer"));
            assert!(
                result.is_err() || is_commit,
                "{name}: the first {} bytes of {} are one",
                prefix.len(),
                bytes.len()
            );
        }
    }
}

#[test]
fn our_checksums_notice_every_damaged_byte() {
    let bytes = ours();
    for mutant in single_byte(&bytes, 0..bytes.len()) {
        let noticed = match open(&mutant.bytes) {
            Ok(frame) => match frame.verify() {
                Ok(found) => !found.is_good() || has_same_content(&frame),
                Err(_) => true,
            },
            Err(_) => true,
        };
        assert!(noticed, "{}", mutant.what);
    }
}

/// Bytes that no longer count may change, and metalayers may be changed by others.
fn has_same_content(frame: &SuperChunk) -> bool {
    let original = open(&ours()).unwrap();
    frame.bytes(0..frame.nbytes()).unwrap() == original.bytes(0..original.nbytes()).unwrap()
        && frame.vlmetalayers().get("note").unwrap() == original.vlmetalayers().get("note").unwrap()
}

#[test]
fn a_chunk_that_claims_too_much_is_refused() {
    let mut frame = Frame::create(MemoryStorage::default(), options()).unwrap();
    frame.fill(blosc_oxide::Special::Zeros, 3 * LIMIT as u64, 2 * LIMIT).unwrap();
    let frame = open(&frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap();
    let error = within_limits("zeros", || frame.decompress(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(within_limits("zeros", || frame.bytes(5..10)).unwrap(), [0; 5]);
    assert!(!MemoryStorage::new(vec![1]).is_empty().unwrap());
}
