//! Every Bloscpack file that others wrote decodes to the bytes it was made from, and is described
//! as its manifest says. Every damaged one is an error that says what is wrong, or still gives all
//! of its data.
#![cfg(feature = "bloscpack")]

use blosc_oxide::bloscpack::{Bloscpack, Offsets, ReadOptions, unpack};
use blosc_oxide::{ErrorKind, storage::MemoryStorage};
use std::fs;
use std::path::Path;
use std::time::Duration;
use testkit::golden::{Compat, Entry, Golden};
use testkit::patience::Patience;
use testkit::serde_json::{self, Value, json};
use testkit::{Rng, sha256_hex};

/// What the whole set holds; fewer checked files mean that this test has lost its eyes.
const GOOD: usize = 88;
const BAD: usize = 23;
const LEGACY: usize = 6;

/// The data that all damaged files were made from.
const SHA_OF_THE_BAD: &str = "6c6309fd068a8ad0df72c9a8225f3e6fd57894aa09eb289c4063f36a44d9348f";

type Memory = Bloscpack<MemoryStorage>;

fn open(name: &str, bytes: &[u8]) -> Memory {
    Bloscpack::from_storage(MemoryStorage::new(bytes.to_vec())).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[expect(clippy::print_stderr, reason = "the counts are what a reader of the log wants to see")]
fn check_set(golden: &Golden) -> usize {
    let entries = golden.entries("bloscpack");
    for entry in &entries {
        check_entry(entry);
    }
    eprintln!("{}: {} files decoded and described", golden.root().display(), entries.len());
    entries.len()
}

fn check_entry(entry: &Entry) {
    let name = &entry.file;
    let bytes = entry.read();
    assert_eq!(Some(sha256_hex(&bytes)), entry.file_sha256, "{name}");
    let file = open(name, &bytes);
    let mut plain = Vec::new();
    file.copy_to(&mut plain).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(Some(sha256_hex(&plain)), entry.plain_sha256, "{name}: other bytes");
    assert_eq!(file.nbytes().unwrap(), plain.len() as u64, "{name}");
    assert_eq!(Some(plain.len()), entry.plain_nbytes, "{name}");
    check_header(name, &file, &entry.facts);
    check_metadata(name, &file, entry);
    check_chunks(name, &file, &entry.facts, &plain);
    check_ranges(name, &file, &plain);
    check_stream(name, &bytes, &plain, &file);
}

fn check_header(name: &str, file: &Memory, facts: &Value) {
    let header = file.header();
    let signed = |size: Option<usize>| size.map_or(json!(-1), |size| json!(size));
    let found = [
        ("version", json!(header.version().number())),
        ("options", json!(header.options())),
        ("checksum_id", json!(header.checksum().id())),
        ("typesize", json!(header.typesize())),
        ("chunk_size", signed(header.chunk_size())),
        ("last_chunk", signed(header.last_chunk())),
        ("nchunks", json!(header.nchunks())),
        ("max_app_chunks", json!(header.max_app_chunks())),
        ("trailing_garbage_bytes", json!(file.verify().unwrap().trailing)),
    ];
    for (key, value) in found {
        assert_eq!(value, facts[key], "{name}: {key}");
    }
    let offsets = if header.has_offsets() { json!(file.stored_offsets().unwrap()) } else { Value::Null };
    assert_eq!(offsets, facts["offsets"], "{name}: offsets");
    let state = match (&facts["offsets"], name.starts_with("aborted")) {
        (Value::Null, _) => Offsets::Absent,
        (_, true) => Offsets::Unset,
        (_, false) => Offsets::Sane,
    };
    assert_eq!(file.offsets().unwrap(), state, "{name}");
}

fn check_metadata(name: &str, file: &Memory, entry: &Entry) {
    let expected = &entry.manifest["metadata"];
    let Some(metadata) = file.metadata() else {
        assert!(expected.is_null() && entry.facts["meta"].is_null(), "{name}: metadata was not found");
        return;
    };
    let found: Value = serde_json::from_str(metadata.text()).unwrap();
    assert_eq!(&found, expected, "{name}");
    let facts = &entry.facts["meta"];
    let found = [
        ("options", json!(metadata.options())),
        ("checksum_id", json!(metadata.checksum().id())),
        ("codec_id", json!(u8::from(metadata.is_compressed()))),
        ("level", json!(metadata.level())),
        ("meta_size", json!(metadata.text().len())),
        ("max_meta_size", json!(metadata.room())),
        ("meta_comp_size", json!(metadata.stored_len())),
    ];
    for (key, value) in found {
        assert_eq!(value, facts[key], "{name}: {key}");
    }
    check_numpy(name, file, entry);
}

fn check_numpy(name: &str, file: &Memory, entry: &Entry) {
    let array = file.numpy().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(array.is_some(), name.starts_with("np-"), "{name}");
    let (Some(array), numpy) = (array, &entry.manifest["numpy"]) else { return };
    if !numpy.is_null() {
        let order = if array.order() == blosc_oxide::bloscpack::ItemOrder::C { "C" } else { "F" };
        assert_eq!(json!({"dtype": array.dtype(), "shape": array.shape(), "order": order}), *numpy, "{name}");
        // What we would have written is what the reference wrote.
        assert_eq!(array.to_json(), file.metadata().unwrap().text(), "{name}");
    }
    assert_eq!(Some(array.nbytes()), entry.plain_nbytes.map(|nbytes| nbytes as u64), "{name}");
    assert_eq!(json!(array.itemsize()), entry.facts["typesize"], "{name}");
    let mut npy = Vec::new();
    file.copy_to_npy(&mut npy).unwrap();
    assert_eq!(Some(sha256_hex(&npy[npy.len() - entry.plain_nbytes.unwrap()..])), entry.plain_sha256, "{name}");
}

fn check_chunks(name: &str, file: &Memory, facts: &Value, plain: &[u8]) {
    let chunks = facts["chunks[pos,flags,typesize,nbytes,blocksize,cbytes]"].as_array().unwrap();
    assert_eq!(file.nchunks().unwrap(), chunks.len() as u64, "{name}");
    assert_eq!(json!(file.chunk_position(0).unwrap()), facts["first_chunk_pos"], "{name}");
    let mut start = 0;
    for (index, expected) in chunks.iter().enumerate() {
        let index = index as u64;
        let header = file.chunk_header(index).unwrap();
        let found = json!([
            file.chunk_position(index).unwrap(),
            header.flags(),
            header.typesize(),
            header.nbytes(),
            header.stored_blocksize(),
            header.cbytes()
        ]);
        assert_eq!(&found, expected, "{name}: chunk {index}");
        assert_eq!(file.compressed_chunk(index).unwrap().len(), header.cbytes(), "{name}");
        assert!(file.chunk(index).unwrap() == plain[start..start + header.nbytes()], "{name}: chunk {index}");
        start += header.nbytes();
    }
    assert_eq!(start, plain.len(), "{name}");
    assert_eq!(file.chunk(chunks.len() as u64).unwrap_err().kind(), ErrorKind::InvalidArgument, "{name}");
}

fn check_ranges(name: &str, file: &Memory, plain: &[u8]) {
    let mut rng = Rng::new(4);
    let len = plain.len();
    let mut ranges = vec![0..0, 0..len, len..len];
    for _ in 0..20 {
        let start = rng.below(len + 1);
        ranges.push(start..start + rng.below(len - start + 1));
    }
    for range in ranges {
        let found = file.read_range(range.start as u64..range.end as u64).unwrap();
        assert!(found == plain[range.clone()], "{name}: {range:?}");
    }
    assert!(file.read_range(0..len as u64 + 1).is_err(), "{name}");
}

fn check_stream(name: &str, bytes: &[u8], plain: &[u8], file: &Memory) {
    let mut streamed = Vec::new();
    let unpacked =
        unpack(bytes, &mut streamed, &ReadOptions::new()).unwrap_or_else(|error| panic!("{name} as a stream: {error}"));
    assert!(streamed == plain, "{name} as a stream");
    assert_eq!((&unpacked.header, unpacked.metadata.as_ref()), (file.header(), file.metadata()), "{name}");
    assert_eq!((unpacked.nbytes, unpacked.nchunks), (plain.len() as u64, file.nchunks().unwrap()), "{name}");
}

#[test]
fn files_of_the_repository_decode() {
    assert!(check_set(&Golden::repository()) >= 25);
}

#[test]
fn files_of_the_whole_set_decode() {
    let Some(golden) = Golden::shared() else { return };
    assert_eq!(check_set(&golden), GOOD);
}

/// What a damaged file must give.
enum Outcome {
    Data,
    Error(ErrorKind, &'static str),
}

fn outcome(name: &str) -> Outcome {
    use ErrorKind::{ChecksumMismatch, Corrupt, Truncated, Unsupported};
    let (kind, message) = match name {
        // A table that cannot be right is not needed, and no one reads the options of metadata.
        "bad/offset-wild.blp" | "bad/meta-options.blp" => return Outcome::Data,
        // The placeholder of a streaming writer: chunks are read up to the end.
        "bad/nchunks-neg.blp" => return Outcome::Data,
        "bad/magic.blp" => (Corrupt, "header: starts with \"blpq\", not with \"blpk\""),
        "bad/version2.blp" => (Corrupt, "header: bytes 24 to 31 are reserved in version 2, they are 30"),
        "bad/version4.blp" => (Unsupported, "header: version 4 is not one of 1 to 3"),
        "bad/reserved-option.blp" => (Unsupported, "header: options are 0x81, version 3 knows 0x03"),
        "bad/checksum9.blp" => (Unsupported, "header: checksum 9 is not one of 0 to 8"),
        "bad/trunc-header.blp" => (Truncated, "header: 32 bytes needed, 20 given"),
        "bad/nonfile-empty.blp" => (Truncated, "header: 16 bytes needed at least, 0 given"),
        "bad/trunc-offsets.blp" => (Truncated, "offsets: "),
        "bad/trunc-chunk.blp" => (Truncated, "chunk 2: "),
        "bad/trunc-checksum.blp" | "bad/trunc-no-last-checksum.blp" => (Truncated, "chunk 2: "),
        "bad/bitflip-chunk.blp" | "bad/bitflip-checksum.blp" => (ChecksumMismatch, "chunk 2: crc32 of 1069 bytes is "),
        "bad/last-gt-chunk.blp" => (Corrupt, "header: last_chunk is 1073741824, more than chunk_size, which is 16384"),
        "bad/nchunks-more.blp" => (Corrupt, "chunk 2: nbytes is 7232, the file's header says that chunks have 16384"),
        "bad/chunk-nbytes-lie.blp" => (Corrupt, "chunk 0: "),
        "bad/meta-bitflip.blp" => (ChecksumMismatch, "metadata: adler32 of 67 bytes is "),
        "bad/meta-codec7.blp" => (Unsupported, "metadata: codec 7 is not one of 0 (none) and 1 (zlib)"),
        "bad/meta-size-huge.blp" => (Truncated, "metadata: "),
        "bad/meta-serializer.blp" => (Unsupported, "metadata: serialised as \"BSON"),
        other => panic!("no one has said what {other} must give"),
    };
    Outcome::Error(kind, message)
}

fn read_all(bytes: &[u8]) -> blosc_oxide::Result<Vec<u8>> {
    let file = Bloscpack::from_storage(MemoryStorage::new(bytes.to_vec()))?;
    let mut data = Vec::new();
    file.copy_to(&mut data)?;
    Ok(data)
}

fn read_stream(bytes: &[u8]) -> blosc_oxide::Result<Vec<u8>> {
    let mut data = Vec::new();
    unpack(bytes, &mut data, &ReadOptions::new())?;
    Ok(data)
}

fn check_outcome(name: &str, how: &str, found: blosc_oxide::Result<Vec<u8>>) {
    match (outcome(name), found) {
        (Outcome::Data, Ok(data)) => assert_eq!(sha256_hex(&data), SHA_OF_THE_BAD, "{name} {how}"),
        (Outcome::Data, Err(error)) => panic!("{name} {how}: {error}"),
        (Outcome::Error(..), Ok(_)) => panic!("{name} {how} was taken for good"),
        (Outcome::Error(kind, message), Err(error)) => {
            let text = error.to_string();
            // A stream does not know where it will end.
            let place = if how == "as a stream" { message.split_once(": ").unwrap().0 } else { message };
            assert!(text.starts_with(place), "{name} {how}: {text}");
            assert_eq!(error.kind(), kind, "{name} {how}: {text}");
        }
    }
}

#[expect(clippy::print_stderr, reason = "the slowest is what a reader of the log wants to see")]
fn check_bad(golden: &Golden) -> usize {
    let directory = golden.root().join("bloscpack");
    let manifest: Value = serde_json::from_slice(&fs::read(directory.join("manifest.json")).unwrap()).unwrap();
    let bad = manifest["bad"].as_array().unwrap();
    let patience = Patience::new(Duration::from_secs(1));
    for entry in bad {
        let name = entry["file"].as_str().unwrap();
        let bytes = fs::read(directory.join(name)).unwrap();
        assert_eq!(entry["file_sha256"], sha256_hex(&bytes), "{name}");
        check_outcome(name, "as a file", patience.run(name, || read_all(&bytes)));
        check_outcome(name, "as a stream", patience.run(name, || read_stream(&bytes)));
    }
    eprintln!("{}: of {} damaged files, {patience}", directory.display(), bad.len());
    bad.len()
}

#[test]
fn damaged_files_of_the_repository_are_errors_or_whole() {
    assert!(check_bad(&Golden::repository()) >= 10);
}

#[test]
fn damaged_files_of_the_whole_set_are_errors_or_whole() {
    let Some(golden) = Golden::shared() else { return };
    assert_eq!(check_bad(&golden), BAD);
}

#[test]
fn files_of_versions_1_and_2_decode() {
    check_legacy_in(&Golden::repository().root().join("bloscpack/legacy"));
    if let Some(compat) = Compat::shared() {
        check_legacy_in(&compat.directory("legacy"));
    }
}

fn check_legacy_in(directory: &Path) {
    let manifest: Value = serde_json::from_slice(&fs::read(directory.join("bloscpack-legacy.json")).unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap();
    for entry in files {
        check_legacy(entry, &fs::read(directory.join(entry["file"].as_str().unwrap())).unwrap());
    }
    assert_eq!(files.len(), LEGACY);
}

fn check_legacy(entry: &Value, bytes: &[u8]) {
    let name = entry["file"].as_str().unwrap();
    let file = open(name, bytes);
    let mut plain = Vec::new();
    file.copy_to(&mut plain).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(entry["plain_sha256"], sha256_hex(&plain), "{name}");
    assert_eq!(testkit::formula::generate(&entry["data"]).unwrap(), plain, "{name}");
    assert_eq!(json!(file.nchunks().unwrap()), entry["nchunks"], "{name}");
    let header = file.header();
    if entry["kind"] == "bloscpack-v1" {
        assert_eq!(header.version().number(), 1);
    } else {
        let has_placeholders = entry["header_placeholders"].as_bool().unwrap();
        assert_eq!(header.version().number(), 2, "{name}");
        assert_eq!(json!(header.checksum().id()), entry["checksum"], "{name}");
        assert_eq!(json!(header.has_offsets()), entry["offsets"], "{name}");
        assert_eq!(file.is_length_known(), !has_placeholders, "{name}");
        assert_eq!(header.chunk_size().is_none(), has_placeholders, "{name}");
        assert_eq!(json!(file.chunk_header(0).unwrap().nbytes()), entry["chunk_size"], "{name}");
        assert_eq!(json!(file.offsets().unwrap() == Offsets::Unset), entry["offsets_unset"], "{name}");
    }
    check_ranges(name, &file, &plain);
    check_stream(name, bytes, &plain, &file);
}
