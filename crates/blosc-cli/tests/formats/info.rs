//! `blosc info` shows the fields of a chunk that change how its data are read, in text and JSON.

use crate::common::{Scratch, good, noise, ramp};
use blosc_oxide::Header;
use testkit::golden::Golden;
use testkit::serde_json::{self, Value, json};

const CODEC_META_AT: usize = 23;
const FLAGS_AT: usize = 31;
const BIG_ENDIAN: u8 = 0x02;
const INSTRUMENTED: u8 = 0x80;

/// A compressed chunk with one byte of its header changed.
fn chunk(scratch: &Scratch, name: &str, change: impl FnOnce(&mut [u8])) -> String {
    let data: Vec<u8> = (0..4000_u32).flat_map(|item| (item / 7).to_le_bytes()).collect();
    let mut chunk = blosc_oxide::compress(&data, &blosc_oxide::Options::new(4)).unwrap();
    change(&mut chunk);
    scratch.write(name, &chunk).display().to_string()
}

fn info_json(path: &str) -> Value {
    serde_json::from_slice(&good(["info", "--json", path])).unwrap()
}

fn info_text(path: &str) -> String {
    String::from_utf8(good(["info", path])).unwrap()
}

#[test]
fn an_ordinary_chunk_is_neither_instrumented_nor_big_endian() {
    let scratch = Scratch::new();
    let path = chunk(&scratch, "plain.b2chunk", |_| ());
    let info = info_json(&path);
    let counts = ["instrumented_chunks", "big_endian_chunks", "stored_chunks"].map(|key| info[key].clone());
    assert_eq!(counts, [json!(0), json!(0), json!(0)]);
    assert_eq!((&info["codec_meta"], &info["codec_version"]), (&json!(0), &json!(1)));
    let text = info_text(&path);
    for word in ["instrumented", "big-endian", "stored", "meta", "version 1,"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[test]
fn an_instrumented_chunk_is_counted() {
    let scratch = Scratch::new();
    let path = chunk(&scratch, "measured.b2chunk", |chunk| chunk[FLAGS_AT] |= INSTRUMENTED);
    assert_eq!(info_json(&path)["instrumented_chunks"], 1);
    assert!(info_text(&path).contains("1 instrumented"), "{}", info_text(&path));
}

#[test]
fn a_big_endian_chunk_is_counted() {
    let scratch = Scratch::new();
    let path = chunk(&scratch, "big.b2chunk", |chunk| chunk[FLAGS_AT] |= BIG_ENDIAN);
    assert_eq!(info_json(&path)["big_endian_chunks"], 1);
    assert!(info_text(&path).contains("1 big-endian"), "{}", info_text(&path));
}

#[test]
fn the_meta_byte_of_the_codec_is_shown() {
    let scratch = Scratch::new();
    let path = chunk(&scratch, "meta.b2chunk", |chunk| chunk[CODEC_META_AT] = 9);
    assert_eq!(info_json(&path)["codec_meta"], 9);
    assert!(info_text(&path).contains(", meta 9"), "{}", info_text(&path));
}

#[test]
fn the_version_of_the_codec_is_shown() {
    let scratch = Scratch::new();
    let path = chunk(&scratch, "version.b2chunk", |chunk| chunk[1] = 2);
    assert_eq!(info_json(&path)["codec_version"], 2);
    assert!(info_text(&path).contains(", version 2"), "{}", info_text(&path));
}

#[test]
fn a_chunk_that_is_stored_as_it_is_is_counted() {
    let scratch = Scratch::new();
    let stored = blosc_oxide::compress(&noise(4000), &blosc_oxide::Options::new(4)).unwrap();
    assert!(Header::parse(&stored).unwrap().is_memcpyed());
    let path = scratch.write("stored.b2chunk", &stored).display().to_string();
    assert_eq!(info_json(&path)["stored_chunks"], 1);
    assert!(info_text(&path).contains("1 stored"), "{}", info_text(&path));
}

#[test]
fn a_chunk_of_one_value_has_no_codec_and_no_split() {
    let scratch = Scratch::new();
    let zeros = blosc_oxide::compress(&[0; 4000], &blosc_oxide::Options::new(4)).unwrap();
    let path = scratch.write("zeros.b2chunk", &zeros).display().to_string();
    let info: Value = serde_json::from_slice(&good(["info", "--json", "--chunks", &path])).unwrap();
    assert_eq!(info["special_chunks"]["zeros"], 1);
    let of_chunk = &info["chunk_list"][0];
    assert_eq!((&info["codec"], &info["split"], &of_chunk["codec"]), (&Value::Null, &Value::Null, &Value::Null));
    assert!(!info_text(&path).contains("codec"), "{}", info_text(&path));
}

#[test]
fn the_filters_of_a_packed_super_chunk_are_shown() {
    let scratch = Scratch::new();
    let data = scratch.write("data", &ramp(4000)).display().to_string();
    let path = scratch.join("data.b2packed").display().to_string();
    good(["compress", "--typesize", "4", "--filter", "delta", "--filter", "bitshuffle", &data, &path]);
    assert_eq!(info_json(&path)["filters"], json!(["delta", "bitshuffle"]));
    assert!(info_text(&path).contains("delta, bitshuffle"), "{}", info_text(&path));
}

/// A packed super-chunk with a filters chunk and a codec chunk: each is named with its place and
/// its sizes.
#[test]
fn the_parts_of_a_packed_super_chunk_are_shown_with_their_offsets() {
    let entries = Golden::repository().entries("old-writers");
    let packed: Vec<String> = entries
        .iter()
        .filter(|entry| entry.kind == "packed")
        .map(|entry| entry.path.as_deref().expect("it is stored").display().to_string())
        .collect();
    let mut parts_seen = 0;
    for path in &packed {
        let (info, text) = (info_json(path), info_text(path));
        let file = std::fs::read(path).unwrap();
        for part in info["parts"].as_array().expect("a list of parts") {
            let number = |key: &str| part[key].as_u64().unwrap_or_else(|| panic!("{path}: {key}"));
            let header = Header::parse(&file[usize::try_from(number("offset")).unwrap()..]).unwrap();
            let stored = (header.nbytes() as u64, header.cbytes() as u64);
            assert_eq!((number("nbytes"), number("cbytes")), stored, "{path}: {part}");
            let line = format!(
                "{}: {} bytes, {} compressed, at byte {}",
                part["name"].as_str().unwrap(),
                number("nbytes"),
                number("cbytes"),
                number("offset")
            );
            assert!(text.contains(&line), "{path}: {line} is not in {text}");
            parts_seen += 1;
        }
    }
    assert!(parts_seen > 0, "none of {} files has a part", packed.len());
}
