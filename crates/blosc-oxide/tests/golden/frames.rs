//! Every frame that others wrote, of today and of the first betas, gives the bytes and the metadata
//! that it was made of.

use blosc_oxide::{Codec, Frame, Location, Special, SplitMode, storage::FileStorage};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use testkit::golden::{Compat, Entry, Golden};
use testkit::serde_json::Value;
use testkit::sha256_hex;

/// What the sets hold; fewer checked frames mean that this test has lost its eyes.
const SHARED_FRAMES: usize = 47;
const REPOSITORY_FRAMES: usize = 44;
const COMPAT_FRAMES: usize = 8;
const EARLY_FRAMES: usize = 6;

const FRAME_KINDS: [&str; 3] = ["cframe", "sframe", "cframe-at-offset"];

fn check_set(golden: &Golden) -> usize {
    let mut entries = golden.entries("blosc2");
    entries.retain(|entry| FRAME_KINDS.contains(&entry.kind.as_str()));
    entries.iter().for_each(check_entry);
    entries.len()
}

fn check_entry(entry: &Entry) {
    let name = &entry.file;
    let frame = open(entry).unwrap_or_else(|error| panic!("{name}: {error}"));
    let plain = whole(&frame, name);
    assert_eq!(Some(&sha256_hex(&plain)), entry.plain_sha256.as_ref(), "{name}: other bytes");
    assert_eq!(Some(plain.len()), entry.plain_nbytes, "{name}");
    check_chunks(name, entry, &frame);
    check_special(name, entry, &frame);
    check_metadata(name, entry, &frame);
    if !entry.facts.is_null() {
        check_facts(name, &entry.facts, &frame);
    }
}

fn open(entry: &Entry) -> blosc_oxide::Result<Frame> {
    let path = entry.path.as_ref().expect("frames are stored");
    match entry.how["offset"].as_u64() {
        Some(offset) => Frame::open(Location::source_at(FileStorage::open(path)?, offset)),
        None => Frame::open(path),
    }
}

fn whole(frame: &Frame, name: &str) -> Vec<u8> {
    frame.bytes(0..frame.nbytes()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn check_chunks(name: &str, entry: &Entry, frame: &Frame) {
    let manifest = &entry.manifest;
    if let Some(nchunks) = manifest["nchunks"].as_u64() {
        assert_eq!(frame.nchunks() as u64, nchunks, "{name}");
    }
    let sizes = manifest["chunk_nbytes"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, size) in sizes.iter().enumerate() {
        assert_eq!(Some(frame.chunk_nbytes(index).unwrap() as u64), size.as_u64(), "{name}: chunk {index}");
    }
    let hashes = manifest["chunk_sha256"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, hash) in hashes.iter().enumerate() {
        assert_eq!(sha256_hex(&frame.decompress(index).unwrap()), *hash, "{name}: chunk {index}");
        let chunk = frame.chunk(index).unwrap();
        assert_eq!(sha256_hex(&blosc_oxide::decompress(&chunk).unwrap()), *hash, "{name}: chunk {index}");
    }
}

fn check_special(name: &str, entry: &Entry, frame: &Frame) {
    for (index, info) in entry.manifest["chunks_info"].as_array().into_iter().flatten().enumerate() {
        let expected = match info["special"].as_str().unwrap() {
            "ZERO" => Some(Special::Zeros),
            "NAN" => Some(Special::NaN),
            "VALUE" => Some(Special::Value),
            "UNINIT" => Some(Special::Uninit),
            _ => None,
        };
        assert_eq!(frame.chunk_special(index).unwrap(), expected, "{name}: chunk {index}");
    }
}

fn check_metadata(name: &str, entry: &Entry, frame: &Frame) {
    let stored = entry.facts["metalayers_hex"].as_object().into_iter().flatten();
    for (layer, content) in stored {
        let found = frame.metalayers().get(layer).unwrap_or_else(|| panic!("{name}: no metalayer {layer}"));
        assert_eq!(hex(found), *content, "{name}: {layer}");
    }
    let texts = |key: &str| entry.manifest[key].as_object().into_iter().flatten();
    for (layer, text) in texts("meta_repr") {
        check_repr(&format!("{name}: {layer}"), frame.metalayers().get(layer).unwrap(), text);
    }
    for (layer, text) in texts("vlmeta_repr") {
        check_repr(&format!("{name}: {layer}"), &frame.vlmetalayers().get(layer).unwrap().unwrap(), text);
    }
    if let Some(names) = entry.manifest["vlmeta_names"].as_array() {
        let mut found: Vec<&str> = frame.vlmetalayers().names().collect();
        let mut expected: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
}

/// The manifest has what Python prints of the content, up to 200 characters.
fn check_repr(name: &str, content: &[u8], text: &Value) {
    let mut printed = String::new();
    python_repr(&mut &content[..], &mut printed);
    assert_eq!(printed.chars().take(200).collect::<String>(), text.as_str().unwrap(), "{name}");
}

/// Prints one msgpack value as Python does.
fn python_repr(bytes: &mut &[u8], out: &mut String) {
    let marker = take(bytes, 1)[0];
    match marker {
        0..0x80 => write!(out, "{marker}").unwrap(),
        0x80..0x90 => {
            out.push('{');
            for pair in 0..marker & 0x0f {
                out.push_str(if pair > 0 { ", " } else { "" });
                python_repr(bytes, out);
                out.push_str(": ");
                python_repr(bytes, out);
            }
            out.push('}');
        }
        0x90..0xa0 => python_list(bytes, usize::from(marker & 0x0f), out),
        0xa0..0xc0 => python_str(bytes, usize::from(marker & 0x1f), out),
        0xc3 => out.push_str("True"),
        0xc4 => {
            let len = usize::from(take(bytes, 1)[0]);
            write!(out, "b'{}'", String::from_utf8_lossy(take(bytes, len))).unwrap();
        }
        0xcc => write!(out, "{}", take(bytes, 1)[0]).unwrap(),
        0xcd => write!(out, "{}", length16(bytes)).unwrap(),
        0xda => {
            let len = length16(bytes);
            python_str(bytes, len, out);
        }
        0xdc => {
            let len = length16(bytes);
            python_list(bytes, len, out);
        }
        other => panic!("no golden file has a value that starts with {other:#04x}"),
    }
}

fn python_list(bytes: &mut &[u8], len: usize, out: &mut String) {
    out.push('[');
    for place in 0..len {
        out.push_str(if place > 0 { ", " } else { "" });
        python_repr(bytes, out);
    }
    out.push(']');
}

fn python_str(bytes: &mut &[u8], len: usize, out: &mut String) {
    write!(out, "'{}'", String::from_utf8_lossy(take(bytes, len))).unwrap();
}

fn length16(bytes: &mut &[u8]) -> usize {
    usize::from(u16::from_be_bytes(take(bytes, 2).try_into().unwrap()))
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(len);
    *bytes = rest;
    taken
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn check_facts(name: &str, facts: &Value, frame: &Frame) {
    let flags = facts["flags_hex"].as_str().unwrap();
    let codec_flags = u8::from_str_radix(&flags[4..6], 16).unwrap();
    let split = [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat]
        [usize::from_str_radix(&flags[6..8], 16).unwrap() & 3];
    assert_eq!(frame.split(), split, "{name}");
    assert_eq!(frame.level(), codec_flags >> 4, "{name}");
    let is_variable = facts["variable_chunks"] == true;
    let chunksize = frame.chunksize().map_or(if is_variable { 0 } else { -1 }, |size| i64::try_from(size).unwrap());
    let found: [(&str, Value); 8] = [
        ("uncompressed", frame.nbytes().into()),
        ("compressed", frame.cbytes().into()),
        ("typesize", frame.typesize().into()),
        ("blocksize", frame.blocksize().unwrap_or(0).into()),
        ("chunksize", chunksize.into()),
        ("has_vlmeta", (!frame.vlmetalayers().is_empty()).into()),
        ("all_vlblocks", frame.has_vlblocks().into()),
        ("filters_ext_hex", stored_filters(frame).into()),
    ];
    for (fact, value) in found {
        assert_eq!(value, facts[fact], "{name}: {fact}");
    }
}

fn stored_filters(frame: &Frame) -> String {
    let pipeline = frame.pipeline();
    let dict = u8::from(frame.has_dict());
    hex(&[&pipeline.ids()[..], &[frame.codec().code(), 0], &pipeline.metas(), &[dict, 0]].concat())
}

#[test]
fn frames_of_the_repository() {
    assert_eq!(check_set(&Golden::repository()), REPOSITORY_FRAMES);
}

#[test]
fn frames_of_the_whole_set() {
    if let Some(golden) = Golden::shared() {
        assert_eq!(check_set(&golden), SHARED_FRAMES);
    }
}

/// 50,000 integers in each of 10 chunks: chunk `c` holds `i * c`.
#[test]
fn frames_of_release_2_0() {
    let Some(compat) = Compat::shared() else { return };
    let codecs = [
        ("blosclz", Codec::BloscLz),
        ("lz4", Codec::Lz4),
        ("lz4hc", Codec::Lz4Hc),
        ("zlib", Codec::Zlib),
        ("zstd", Codec::Zstd),
    ];
    let expected: Vec<u8> =
        (0..10_i32).flat_map(|factor| (0..50_000).flat_map(move |i: i32| (i * factor).to_le_bytes())).collect();
    for (name, codec) in codecs {
        let frame = Frame::open(compat.directory("frames").join(format!("frame_simple-{name}.b2frame"))).unwrap();
        assert_eq!((frame.nchunks(), frame.typesize(), frame.level()), (10, 4, 5), "{name}");
        assert_eq!(frame.chunksize(), Some(200_000), "{name}");
        assert_eq!(frame.codec(), codec, "{name}");
        assert_eq!(frame.chunk_header(1).unwrap().unwrap().version(), 4, "{name}");
        assert!(whole(&frame, name) == expected, "{name}: other bytes");
        let layer = frame.vlmetalayers().names().next().unwrap();
        assert!(frame.vlmetalayers().get(layer).unwrap().is_some_and(|content| !content.is_empty()), "{name}");
    }
}

#[test]
fn frames_of_release_3_0() {
    let Some(compat) = Compat::shared() else { return };
    let directory = compat.directory("frames");
    let frame = Frame::open(directory.join("varchunks-lz4-3.0.0.b2frame")).unwrap();
    assert_eq!((frame.nchunks(), frame.nbytes(), frame.chunksize()), (5, 4321, None));
    let sizes: usize = (0..5).map(|index| frame.decompress(index).unwrap().len()).sum();
    assert_eq!(sizes, 4321);
    for (name, is_variable) in [("fixed", false), ("variable", true)] {
        let frame = Frame::open(directory.join(format!("vlblocks-lz4-{name}-3.0.0.b2frame"))).unwrap();
        assert!(frame.has_vlblocks(), "{name}");
        assert_eq!(frame.chunksize().is_none(), is_variable, "{name}");
        check_vlblocks(&frame, name);
    }
}

/// Blocks read one by one are what the chunk holds, and they are text.
fn check_vlblocks(frame: &Frame, name: &str) {
    let mut all = Vec::new();
    for index in 0..frame.nchunks() {
        let nblocks = frame.chunk_header(index).unwrap().unwrap().nblocks();
        let blocks: Vec<Vec<u8>> = (0..nblocks).map(|block| frame.block(index, block).unwrap()).collect();
        assert_eq!(blocks.concat(), frame.decompress(index).unwrap(), "{name}: chunk {index}");
        assert!(blocks.iter().all(|block| !block.is_empty() && std::str::from_utf8(block).is_ok()), "{name}");
        all.extend(blocks.concat());
    }
    assert_eq!(all, whole(frame, name), "{name}");
}

#[test]
fn the_compat_directory_is_covered() {
    let Some(compat) = Compat::shared() else { return };
    assert_eq!(std::fs::read_dir(compat.directory("frames")).unwrap().count(), COMPAT_FRAMES);
}

fn early_directory() -> PathBuf {
    Golden::repository().root().join("early")
}

#[test]
fn frames_of_the_betas() {
    let mut checked = 0;
    for writer in ["e87dd0af", "v2.0.0-beta.1", "v2.0.0.beta.5"] {
        for has_layers in [false, true] {
            let name = format!("frame-{writer}-{}.b2frame", if has_layers { "meta" } else { "nometa" });
            check_early(&early_directory().join(&name), has_layers, writer.ends_with("beta.5"));
            checked += 1;
        }
    }
    assert_eq!(checked, EARLY_FRAMES);
}

fn check_early(path: &Path, has_layers: bool, has_trailer: bool) {
    let name = path.display().to_string();
    let frame = Frame::open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let expected: Vec<u8> =
        (1..=3_i32).flat_map(|factor| (0..5000).flat_map(move |i: i32| (i * factor).to_le_bytes())).collect();
    assert!(whole(&frame, &name) == expected, "{name}: other bytes");
    assert_eq!((frame.nchunks(), frame.typesize(), frame.chunksize()), (3, 4, Some(20_000)), "{name}");
    assert_eq!((frame.codec(), frame.level()), (if has_layers { Codec::Zlib } else { Codec::Lz4 }, 5), "{name}");
    let layers: Vec<(&str, &[u8])> = frame.metalayers().iter().collect();
    let in_file: [(&str, &[u8]); 2] = [("mymeta", b"hello"), ("n2", &[0x93, 1, 2, 3])];
    assert_eq!(layers, if has_layers { &in_file[..] } else { &[] }, "{name}");
    let usermeta = frame.vlmetalayers().get("usermeta").unwrap();
    let has_usermeta = has_layers && has_trailer;
    assert_eq!(usermeta.as_deref(), has_usermeta.then_some(&b"user meta"[..]), "{name}");
}
