//! Files that the alphas and betas of C-Blosc2 wrote themselves give what was put in, however they
//! are read: by themselves, or by the old rule of bitshuffle where no field tells the rule, which
//! is then named as ambiguous.

use blosc_oxide::{
    BitshuffleRule, Chunk, Decompressor, Error, ErrorKind, Frame, FrameOptions, Location, Options, Result, SuperChunk,
    legacy::PackedSuperChunk, storage::MemoryStorage,
};
use testkit::golden::{Entry, Golden};
use testkit::serde_json::Value;
use testkit::sha256_hex;

/// What the sets hold; fewer checked files mean that this test has lost its eyes.
const SHARED_FILES: usize = 1040;
const REPOSITORY_FILES: usize = 64;
/// How many files of the whole set no field tells the rule of, and of those marked so in the
/// manifest.
const AMBIGUOUS: usize = 40;

const READS_OLD_ZSTD: bool = cfg!(all(feature = "zstd-legacy", not(feature = "zstd-pure")));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Right by itself.
    Right,
    /// Right by the old rule, and named as ambiguous.
    RightByOldRule,
    /// A stream of zstd 0.5, which is an error that says so.
    OldZstd,
}

fn sets() -> Vec<(Vec<Entry>, usize)> {
    let shared = Golden::shared().map(|golden| (golden.entries("old-writers"), SHARED_FILES));
    let repository = (Golden::repository().entries("old-writers"), REPOSITORY_FILES);
    [Some(repository), shared].into_iter().flatten().collect()
}

/// The data of a file, and whether its rule of bitshuffle is ambiguous.
fn read(entry: &Entry, rule: BitshuffleRule) -> Result<(Vec<u8>, bool)> {
    let bytes = entry.read();
    match entry.kind.as_str() {
        "chunk" => read_chunk(&bytes, rule),
        "packed" => read_packed(&bytes),
        _ => read_frame(bytes, rule),
    }
}

fn read_chunk(bytes: &[u8], rule: BitshuffleRule) -> Result<(Vec<u8>, bool)> {
    let chunk = Chunk::parse(bytes)?;
    let mut decompressor = Decompressor::new().with_bitshuffle(rule);
    let data = decompressor.chunk(&chunk)?;
    for block in 0..chunk.header().nblocks() {
        assert_eq!(decompressor.block(&chunk, block)?, data[chunk.block_range(block)?], "block {block}");
    }
    let part = data.len() / 3..data.len() / 2;
    assert_eq!(decompressor.bytes(&chunk, part.clone())?, data[part], "a part of it");
    Ok((data, chunk.header().is_bitshuffle_ambiguous()))
}

fn read_packed(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    let packed = PackedSuperChunk::open_in(bytes)?;
    let data = packed.chunks().collect::<Result<Vec<_>>>()?.concat();
    let (from, to) = (data.len() / 3, data.len() / 2);
    assert_eq!(packed.bytes(from as u64..to as u64)?, data[from..to], "a part of it");
    Ok((data, (0..packed.nchunks()).any(|index| packed.chunk_header(index).unwrap().is_bitshuffle_ambiguous())))
}

fn read_frame(bytes: Vec<u8>, rule: BitshuffleRule) -> Result<(Vec<u8>, bool)> {
    let options = FrameOptions::default().with_bitshuffle(rule);
    let frame = Frame::open_with(Location::source(MemoryStorage::new(bytes.clone())), &options.clone().opening())?;
    let data = frame.chunks().collect::<Result<Vec<_>>>()?.concat();
    let (from, to) = (data.len() / 3, data.len() / 2);
    assert_eq!(frame.bytes(from as u64..to as u64)?, data[from..to], "a part of it");
    for index in 0..frame.nchunks() {
        let alone = blosc_oxide::decompress(&frame.chunk(index)?)?;
        assert_eq!(alone, frame.decompress(index)?, "chunk {index} taken out of the frame");
    }
    assert!(frame.verify()?.is_good());
    let mut copy = Frame::create(MemoryStorage::default(), Options::new(frame.typesize()))?;
    frame.copy_to(&mut copy)?;
    assert_eq!(contents(&copy)?, (data.clone(), vlmetadata(&frame)?), "its copy");
    let repair = Frame::repair(MemoryStorage::new(bytes), options)?;
    let mut repaired = Frame::create(MemoryStorage::default(), Options::new(frame.typesize()))?;
    repair.write_to(&mut repaired)?;
    assert_eq!(contents(&repaired)?, (data.clone(), vlmetadata(&frame)?), "what repair makes of it");
    let ambiguous = (0..frame.nchunks()).any(|index| frame.is_bitshuffle_ambiguous(index).unwrap());
    Ok((data, ambiguous))
}

fn contents(sc: &SuperChunk) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
    Ok((sc.bytes(0..sc.nbytes())?, vlmetadata(sc)?))
}

fn vlmetadata(sc: &SuperChunk) -> Result<Vec<Vec<u8>>> {
    sc.vlmetalayers().names().map(|name| Ok(sc.vlmetalayers().get(name)?.unwrap_or_default())).collect()
}

fn check(entry: &Entry) -> Verdict {
    let name = &entry.file;
    let expected = entry.plain_sha256.as_ref().expect("the content is known");
    let is_right = |data: &[u8]| sha256_hex(data) == *expected;
    let by_old_rule = || {
        let (data, ambiguous) = read(entry, BitshuffleRule::Old).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(is_right(&data), "{name}: other bytes by both rules");
        assert!(ambiguous, "{name}: other bytes, and not named as ambiguous");
        Verdict::RightByOldRule
    };
    match read(entry, BitshuffleRule::Current) {
        Ok((data, _)) if is_right(&data) => Verdict::Right,
        Ok(_) => by_old_rule(),
        Err(error) => {
            assert!(!READS_OLD_ZSTD && is_old_zstd(entry, &error), "{name}: {error}");
            Verdict::OldZstd
        }
    }
}

fn is_old_zstd(entry: &Entry, error: &Error) -> bool {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let codec = text(&entry.manifest["codec"]).or_else(|| text(&entry.how["cname"]));
    let writer = text(&entry.manifest["writer"]).or_else(|| text(&entry.how["writer"])).unwrap_or_default();
    codec.as_deref() == Some("zstd") && writer.contains("2.0.0a3") && is_precise(error)
}

fn is_precise(error: &Error) -> bool {
    error.kind() == ErrorKind::Unsupported && error.to_string().contains("written by zstd 0.5,")
}

fn is_lizard(entry: &Entry) -> bool {
    entry.manifest["codec"] == "lizard" || entry.how["cname"] == "lizard"
}

#[test]
fn files_of_the_alphas_and_betas_give_what_was_put_in() {
    for (entries, expected) in sets() {
        assert_eq!(entries.len(), expected);
        let mut by_old_rule = 0;
        for entry in &entries {
            let verdict = check(entry);
            let is_marked = entry.manifest["ambiguous"] == true;
            // Those with Lizard are not marked.
            if !is_lizard(entry) {
                assert_eq!(verdict == Verdict::RightByOldRule, is_marked, "{}", entry.file);
            }
            by_old_rule += usize::from(is_marked);
        }
        if expected == SHARED_FILES {
            assert_eq!(by_old_rule, AMBIGUOUS);
        }
    }
}
