//! Every chunk that others wrote decodes to the bytes it was made from, and is described as its
//! manifest says.

use blosc_oxide::{Chunk, Codec, Decompressor, Header, LazyChunk, Special};
use testkit::golden::{CHUNK_KINDS, Compat, CompatFile, Entry, Golden};
use testkit::serde_json::Value;
use testkit::sha256_hex;

/// What the sets hold; fewer checked files mean that this test has lost its eyes.
const SHARED_BLOSC1: usize = 271;
const SHARED_BLOSC2: usize = 577;
const COMPAT_CHUNKS: usize = 38;

/// The chunks of a set that are on this machine.
fn chunks(golden: &Golden, set: &str) -> Vec<Entry> {
    let mut entries = golden.entries(set);
    entries.retain(|entry| CHUNK_KINDS.contains(&entry.kind.as_str()) && entry.path.is_some());
    entries
}

#[expect(clippy::print_stderr, reason = "the counts are what a reader of the log wants to see")]
fn check_set(golden: &Golden, set: &str) -> usize {
    let entries = chunks(golden, set);
    for entry in &entries {
        check_entry(entry);
    }
    eprintln!("{set} of {}: {} chunks decoded and described", golden.root().display(), entries.len());
    entries.len()
}

fn check_entry(entry: &Entry) {
    let name = format!("{}/{}", entry.set, entry.file);
    let bytes = entry.read();
    if entry.kind == "lazychunk" {
        return check_lazy(&name, entry, &bytes);
    }
    let chunk = Chunk::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    if !entry.facts.is_null() {
        check_facts(&name, &entry.facts, chunk.header());
    }
    let plain = Decompressor::new().decompress(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    check_plain(&name, entry, &plain);
    check_blocks(&name, &chunk, &plain);
    if let Some(sizes) = entry.manifest["block_sizes"].as_array() {
        let lengths: Vec<u64> =
            (0..chunk.header().nblocks()).map(|index| chunk.block_range(index).unwrap().len() as u64).collect();
        assert_eq!(lengths, sizes.iter().map(|size| size.as_u64().unwrap()).collect::<Vec<_>>(), "{name}");
    }
}

fn check_plain(name: &str, entry: &Entry, plain: &[u8]) {
    match &entry.plain_sha256 {
        Some(promised) => assert_eq!(&sha256_hex(plain), promised, "{name}: other bytes"),
        None => assert!(plain.iter().all(|&byte| byte == 0), "{name}: what was never written reads as zeros"),
    }
    if let Some(nbytes) = entry.plain_nbytes {
        assert_eq!(plain.len(), nbytes, "{name}");
    }
}

/// Blocks cover the data without gaps, decode one by one, and account for every byte of the chunk.
fn check_blocks(name: &str, chunk: &Chunk<'_>, plain: &[u8]) {
    let header = chunk.header();
    let mut covered = 0;
    let mut stored = header.header_len();
    for index in 0..header.nblocks() {
        let range = chunk.block_range(index).unwrap();
        let info = chunk.block_info(index).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((range.start, range.len()), (covered, info.nbytes), "{name}: block {index}");
        covered = range.end;
        stored += info.cbytes;
        // One block in ten of large chunks is enough to see that blocks stand for themselves.
        if header.nblocks() < 30 || index % 10 == 3 {
            assert_eq!(chunk.block(index).unwrap(), plain[range], "{name}: block {index}");
        }
    }
    assert_eq!(covered, plain.len(), "{name}");
    if header.special().is_none() {
        let starts = if header.is_memcpyed() { 0 } else { 4 * header.nblocks() };
        let dict = if header.has_dict() { 4 + dict_len(chunk) } else { 0 };
        assert_eq!(stored + starts + dict, header.cbytes(), "{name}: some bytes belong to no block");
    }
}

fn dict_len(chunk: &Chunk<'_>) -> usize {
    let at = chunk.header().header_len() + 4 * chunk.header().nblocks();
    let size: [u8; 4] = chunk.as_bytes()[at..at + 4].try_into().unwrap();
    usize::try_from(u32::from_le_bytes(size)).unwrap()
}

fn check_lazy(name: &str, entry: &Entry, bytes: &[u8]) {
    let lazy = LazyChunk::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    check_facts(name, &entry.facts, lazy.header());
    assert_eq!(lazy.nchunk(), 0, "{name}");
    assert_eq!(lazy.block_cbytes().len(), lazy.header().nblocks(), "{name}");
    let sizes: i32 = lazy.block_cbytes().iter().sum();
    let starts = 4 * lazy.header().nblocks();
    assert_eq!(usize::try_from(sizes).unwrap() + 32 + starts, lazy.header().cbytes(), "{name}");
    assert!(Chunk::parse(bytes).is_err(), "{name}: a lazy chunk has no data to decode");
}

fn check_facts(name: &str, facts: &Value, header: &Header) {
    let (flags2, blosc2_flags) = header.blosc2_flags();
    let split = facts["dont_split"] == Value::Bool(false);
    let mut found = vec![
        ("version", Value::from(header.version())),
        ("versionlz", header.codec_version().into()),
        ("flags", header.flags().into()),
        ("typesize", header.typesize().into()),
        ("nbytes", header.nbytes().into()),
        ("blocksize", header.stored_blocksize().into()),
        ("cbytes", header.cbytes().into()),
        ("codec_format", format_name(header).into()),
        ("memcpyed", header.is_memcpyed().into()),
        ("extended_header", header.is_extended().into()),
        ("special", special_code(header.special()).into()),
        ("vlblocks", header.has_vlblocks().into()),
        ("nblocks", header.nblocks().into()),
    ];
    if header.is_extended() {
        found.extend([
            ("filters", header.pipeline().ids().to_vec().into()),
            ("filters_meta", header.pipeline().metas().to_vec().into()),
            ("udcodec", header.codec().code().into()),
            ("codec_meta", header.codec_meta().into()),
            ("flags2", flags2.into()),
            ("blosc2_flags", blosc2_flags.into()),
        ]);
        let is_plain = header.is_memcpyed() || header.special().is_some();
        assert_eq!(Value::Bool(header.has_dict()), Value::Bool(facts["dict"] == true && !is_plain), "{name}: dict");
        assert_eq!(header.is_split(), split && !header.has_vlblocks(), "{name}: split");
    } else {
        let ids = header.pipeline().ids();
        found.extend([("shuffle", ids.contains(&1).into()), ("bitshuffle", ids.contains(&2).into())]);
        assert!(!header.is_split() || split, "{name}: split");
    }
    for (fact, value) in found {
        // The manifest leaves out what does not apply, such as the number of blocks of a memcpyed
        // chunk.
        if let Some(promised) = facts.get(fact) {
            assert_eq!(&value, promised, "{name}: {fact}");
        }
    }
}

fn format_name(header: &Header) -> &'static str {
    match header.codec_format() {
        0 => "blosclz",
        1 => "lz4",
        2 => "snappy",
        3 => "zlib",
        4 => "zstd",
        _ => "other",
    }
}

fn special_code(special: Option<Special>) -> u8 {
    match special {
        None => 0,
        Some(Special::Zeros) => 1,
        Some(Special::NaN) => 2,
        Some(Special::Value) => 3,
        Some(Special::Uninit) => 4,
        Some(other) => panic!("{other:?} has no code here"),
    }
}

#[test]
fn chunks_of_the_repository_decode() {
    let golden = Golden::repository();
    let checked: usize = ["blosc1", "blosc2", "extra"].iter().map(|set| check_set(&golden, set)).sum();
    assert!(checked >= 360, "only {checked} chunks were checked");
}

#[test]
fn chunks_of_the_whole_set_decode() {
    let Some(golden) = Golden::shared() else { return };
    assert!(check_set(&golden, "blosc1") >= SHARED_BLOSC1);
    assert!(check_set(&golden, "blosc2") >= SHARED_BLOSC2);
}

#[test]
fn chunks_of_every_release_of_the_reference_decode() {
    let Some(compat) = Compat::shared() else { return };
    let mut files = compat.chunks();
    files.retain(|file| !file.raw_filter);
    for file in &files {
        let plain = blosc_oxide::decompress(&file.read()).unwrap_or_else(|error| panic!("{}: {error}", file.name));
        assert_eq!(plain.len(), file.plain_nbytes, "{}", file.name);
        assert!(plain[..file.compared] == file.plain()[..file.compared], "{}: other bytes", file.name);
    }
    eprintln!("compat: {} chunks decoded", files.len());
    assert!(files.len() >= COMPAT_CHUNKS, "only {} chunks were checked", files.len());
}

/// A chunk with one block whose one stream is `filtered`, stored raw.
fn chunk_around(filtered: &[u8], filter: u8, typesize: u8) -> Vec<u8> {
    let nbytes = i32::try_from(filtered.len()).unwrap();
    let cbytes = 32 + 4 + 4 + nbytes;
    let mut chunk = vec![5, 1, 0x15, typesize];
    for size in [nbytes, nbytes, cbytes] {
        chunk.extend(size.to_le_bytes());
    }
    chunk.extend([0, 0, 0, 0, 0, filter, Codec::BloscLz.code(), 0]);
    chunk.extend([0; 8]);
    chunk.extend(36_i32.to_le_bytes());
    chunk.extend(nbytes.to_le_bytes());
    chunk.extend(filtered);
    chunk
}

#[test]
fn raw_filter_output_of_the_reference_is_matched() {
    let Some(compat) = Compat::shared() else { return };
    let mut files = compat.chunks();
    files.retain(|file| file.raw_filter);
    assert_eq!(files.len(), 2);
    for file in &files {
        check_raw_filter(file);
    }
    eprintln!("compat: {} raw filter outputs matched both ways", files.len());
}

fn check_raw_filter(file: &CompatFile) {
    let (filtered, plain) = (file.read(), file.plain());
    let is_bitshuffle = file.name.starts_with("bitshuffle");
    let chunk = chunk_around(&filtered, if is_bitshuffle { 2 } else { 1 }, 4);
    assert!(blosc_oxide::decompress(&chunk).unwrap() == plain, "{}: backwards", file.name);
    let mut ours = vec![0; plain.len()];
    if is_bitshuffle {
        blosc_kernels::bitshuffle::bitshuffle(4, &plain, &mut ours);
    } else {
        blosc_kernels::shuffle::shuffle(4, &plain, &mut ours);
    }
    assert!(ours == filtered, "{}: forwards", file.name);
}
