//! Damaged packed super-chunks give data or an error, within the limits.

use crate::common::packed::{HEADER_LEN, RELEASES, contents, int, noise, open, ramp, set_int};
use blosc_oxide::{
    ErrorKind, Filter, Limits, Result, Threads,
    legacy::{PackedOptions, PackedSpecial, PackedSuperChunk, PackedWriter},
    storage::MemoryStorage,
};
use testkit::alloc::CountingAllocator;
use testkit::mutate::{prefixes, random_bytes, single_byte};

/// What one read may allocate at once; no good file here has anything near it.
const LIMIT: usize = 1 << 20;

fn limits() -> Limits {
    Limits::new().with_max_allocation(LIMIT)
}

/// Small super-chunks with everything in them.
fn samples() -> Vec<Vec<u8>> {
    let buffers = [ramp(40, 3), noise(20, 1), vec![], ramp(60, 3)];
    let mut samples = Vec::new();
    for release in RELEASES {
        for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::BitShuffle]] {
            let options = PackedOptions::new(4).with_filters(filters).with_release(release);
            samples.push(options.with_special(PackedSpecial::UserData, "user").pack(&buffers).unwrap());
        }
    }
    samples
}

/// Reads all there is, in every way there is.
fn read_all(bytes: &[u8]) -> Result<()> {
    let packed = PackedSuperChunk::open_with_limits(bytes, limits())?.with_threads(Threads::serial());
    for index in 0..packed.nchunks() {
        let _ = packed.chunk(index);
        let _ = packed.decompress(index);
    }
    for kind in PackedSpecial::ALL {
        let _ = packed.special(kind);
    }
    let _ = contents(&packed);
    let _ = packed.bytes(0..packed.nbytes()?);
    let _ = packed.copy_to(MemoryStorage::default());
    let mut out = [0; 100];
    packed.bytes_into(packed.nbytes()? / 2, &mut out)?;
    Ok(())
}

fn append(bytes: &[u8]) -> Result<()> {
    let mut writer = PackedWriter::open_with_limits(MemoryStorage::new(bytes.to_vec()), 4, limits())?;
    writer.append(&[1; 500])?;
    writer.commit()
}

/// The tables of the Zstandard encoder in Rust, whose size comes with the level and not from the
/// file. Those of the C library are not counted.
const TABLES: u64 = if cfg!(feature = "zstd-pure") { 8 << 20 } else { 0 };

fn check(bytes: &[u8], what: &str) {
    let (_, used) = CountingAllocator::on_this_thread(|| read_all(bytes));
    assert!(used.largest <= 2 * LIMIT as u64, "{what}: {} bytes at once to read", used.largest);
    let (_, used) = CountingAllocator::on_this_thread(|| append(bytes));
    assert!(used.largest <= 2 * LIMIT as u64 + TABLES, "{what}: {} bytes at once to append", used.largest);
}

#[test]
fn every_truncation_is_an_error() {
    for sample in samples() {
        for prefix in prefixes(&sample) {
            check(prefix, "truncation");
            let error = PackedSuperChunk::open_in(prefix).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{} of {}: {error}", prefix.len(), sample.len());
        }
    }
}

#[test]
fn every_changed_byte_gives_data_or_an_error() {
    for sample in samples() {
        for mutant in single_byte(&sample, 0..sample.len()) {
            check(&mutant.bytes, &mutant.what);
        }
    }
}

#[test]
fn many_changed_bytes_give_data_or_an_error() {
    for (sample, seed) in samples().iter().zip(0..) {
        for mutant in random_bytes(sample, 5000, seed) {
            check(&mutant.bytes, &mutant.what);
        }
        // Changes to the header alone, which decides about everything else.
        for mutant in random_bytes(&sample[..HEADER_LEN], 5000, seed) {
            check(&[&mutant.bytes, &sample[HEADER_LEN..]].concat(), &mutant.what);
        }
    }
}

#[test]
fn a_chunk_that_is_listed_often_is_read_within_the_limits() {
    let mut bytes = PackedOptions::new(1).with_filters([]).pack([vec![7; 200_000]]).unwrap();
    let (table, chunk) = (int(&bytes, 72), int(&bytes, int(&bytes, 72)));
    bytes.truncate(table);
    (0..1000).for_each(|_| bytes.extend((chunk as u64).to_le_bytes()));
    set_int(&mut bytes, 16, 1000);
    let len = bytes.len();
    set_int(&mut bytes, 32, len);
    check(&bytes, "one chunk a thousand times");
    let packed = PackedSuperChunk::open_with_limits(&bytes[..], limits()).unwrap();
    assert_eq!(packed.nbytes().unwrap(), 200_000_000);
    assert_eq!(packed.bytes(0..200_000_000).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(packed.bytes(199_999_990..200_000_000).unwrap(), [7; 10]);
}

#[test]
fn limits_are_kept() {
    let bytes = PackedOptions::new(4)
        .with_filters([Filter::Delta, Filter::Shuffle])
        .pack([ramp(1000, 1), ramp(1000, 2)])
        .unwrap();
    let with = |limit| PackedSuperChunk::open_with_limits(&bytes[..], Limits::new().with_max_allocation(limit));
    assert_eq!(with(15).unwrap_err().kind(), ErrorKind::LimitExceeded);
    let packed = with(3999).unwrap();
    assert_eq!(packed.decompress(0).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(with(4000).unwrap().decompress(1).unwrap(), ramp(1000, 2));
}

#[test]
fn errors_say_where() {
    let mut bytes = PackedOptions::new(4).pack([ramp(1000, 1), ramp(1000, 2)]).unwrap();
    let second = int(&bytes, int(&bytes, 72) + 8);
    bytes[second + 12] = 255;
    let error = open(&bytes).decompress(1).unwrap_err();
    assert!(error.to_string().starts_with("chunk 1: cbytes is "), "{error}");
    let table = int(&bytes, 72);
    set_int(&mut bytes, table, 95);
    let error = PackedSuperChunk::open_in(&bytes[..]).unwrap_err();
    assert!(error.to_string().starts_with("chunk 0: starts at 95, chunks can be from 96 to "), "{error}");
}
