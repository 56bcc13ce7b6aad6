//! For every file that others wrote, the real binary gives the right bytes and the right facts; for
//! every damaged or hostile one, an error in one line, or data.

use crate::common::{assert_fails, blosc, blosc_with_input, for_each, good};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::golden::{Compat, Entry, Golden};
use testkit::patience::Patience;
use testkit::serde_json::{self, Value, json};
use testkit::sha256_hex;

/// What a damaged or hostile file may take, with the start of the program.
const PATIENCE: Duration = Duration::from_secs(1);

/// Layouts of Python that are no formats of ours, though some are frames inside.
const PYTHON_KINDS: [&str; 11] = [
    "pack_tensor",
    "pack_array2",
    "pack_array",
    "save_tensor",
    "embedstore",
    "dictstore.b2d",
    "dictstore.b2z",
    "treestore.b2d",
    "treestore.b2z",
    "ctable",
    "objectarray",
];

fn info(path: &Path, offset: Option<u64>) -> Value {
    let mut arguments = vec!["info".to_owned(), "--json".to_owned(), path.display().to_string()];
    arguments.extend(offset.map(|offset| format!("--offset={offset}")));
    let text = good(&arguments);
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decompress(path: &Path, offset: Option<u64>) -> std::process::Output {
    let mut arguments = vec!["decompress".to_owned(), path.display().to_string(), "-".to_owned()];
    arguments.extend(offset.map(|offset| format!("--offset={offset}")));
    blosc(&arguments)
}

/// Checks one entry: its bytes, or a clear error where a codec is not supported, and its facts.
fn check(entry: &Entry) {
    let name = &entry.file;
    let path = entry.path.as_ref().unwrap_or_else(|| panic!("{name} is not stored here"));
    let offset = entry.how["offset"].as_u64();
    let output = decompress(path, offset);
    if entry.kind == "lazychunk" || needs_unsupported_codec(entry) {
        assert_fails(&output, 1, name);
    } else {
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        if let Some(expected) = &entry.plain_sha256 {
            assert_eq!(&sha256_hex(&output.stdout), expected, "{name}");
        }
        if let Some(nbytes) = entry.plain_nbytes {
            assert_eq!(output.stdout.len(), nbytes, "{name}");
        }
    }
    check_facts(name, entry, &info(path, offset));
}

/// A build can be without zfp.
fn needs_unsupported_codec(entry: &Entry) -> bool {
    let name = &entry.file;
    entry.kind.starts_with("b2nd") && (name.contains("zfp") || name.contains("ndlz")) && {
        let path = entry.path.as_ref().expect("arrays are stored");
        let array = blosc_oxide::NdArray::open(path).expect("it opens");
        matches!(array.to_vec(), Err(error) if error.kind() == blosc_oxide::ErrorKind::Unsupported)
    }
}

fn check_facts(name: &str, entry: &Entry, info: &Value) {
    if let Some(nbytes) = entry.plain_nbytes {
        assert_eq!(info["nbytes"], json!(nbytes), "{name}");
    }
    match entry.kind.as_str() {
        "blosc1-chunk" | "blosc1-pack_array" | "chunk" | "vlchunk" | "lazychunk" => {
            check_chunk(name, &entry.facts, info);
        }
        "bloscpack" => check_bloscpack(name, entry, info),
        _ => check_frame(name, entry, info),
    }
}

fn check_chunk(name: &str, facts: &Value, info: &Value) {
    let is_extended = facts["extended_header"] == true;
    if facts.is_null() {
        return;
    }
    assert_eq!(info["format"], if is_extended { "chunk" } else { "blosc1" }, "{name}");
    for key in ["version", "typesize", "nbytes", "cbytes"] {
        assert_eq!(info[key], facts[key], "{name}: {key}");
    }
    let is_special = facts["special"].as_u64() > Some(0);
    assert_eq!((info["codec"].is_null(), info["split"].is_null()), (is_special, is_special), "{name}");
    let codec = info["codec"].as_str().unwrap_or_default().replace("lz4hc", "lz4");
    let is_stored = facts["memcpyed"] == true && !is_special;
    assert_eq!(info["stored_chunks"].as_u64(), Some(u64::from(is_stored)), "{name}");
    // What is only stored is in no codec's format.
    if facts["memcpyed"] == false
        && !is_special
        && facts["codec_format"].as_str().is_some_and(|format| !format.starts_with("udcodec"))
        && facts["udcodec"].as_u64().is_none_or(|id| id <= 5)
    {
        assert_eq!(codec, facts["codec_format"].as_str().unwrap().replace("lz4hc", "lz4"), "{name}");
    }
    if let Some(ids) = facts["filters"].as_array() {
        let expected: Vec<&str> = ids.iter().filter_map(|id| filter_name(id.as_u64()?)).collect();
        assert_eq!(filter_names(info), expected, "{name}");
        assert!(info["dict"] == facts["dict"] || facts["memcpyed"] == true, "{name}");
        assert_eq!(info["vlblocks"], facts["vlblocks"], "{name}");
        let special =
            ["none", "zeros", "nan", "value", "uninit"][usize::try_from(facts["special"].as_u64().unwrap()).unwrap()];
        if special != "none" {
            assert_eq!(info["special_chunks"][special], 1, "{name}");
        }
    }
}

fn filter_names(info: &Value) -> Vec<&str> {
    let names = info["filters"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().split(':').next().unwrap()).collect()
}

fn filter_name(id: u64) -> Option<&'static str> {
    blosc_oxide::Filter::name_of(u8::try_from(id).unwrap()).filter(|_| id > 0)
}

fn check_bloscpack(name: &str, entry: &Entry, info: &Value) {
    let facts = &entry.facts;
    let chunks = facts["chunks[pos,flags,typesize,nbytes,blocksize,cbytes]"].as_array().unwrap();
    let cbytes: u64 = chunks.iter().map(|chunk| chunk[5].as_u64().unwrap()).sum();
    let checksum =
        blosc_oxide::bloscpack::Checksum::from_id(u8::try_from(facts["checksum_id"].as_u64().unwrap()).unwrap())
            .unwrap();
    let has_checksum = checksum != blosc_oxide::bloscpack::Checksum::None;
    let chunksize = Some(&facts["chunk_size"]).filter(|size| **size != json!(-1)).cloned().unwrap_or(Value::Null);
    let expected = [
        ("format", json!("blp")),
        ("version", facts["version"].clone()),
        ("nchunks", json!(chunks.len())),
        ("cbytes", json!(cbytes)),
        ("chunksize", chunksize),
        ("checksum", if has_checksum { json!(checksum.name()) } else { Value::Null }),
    ];
    for (key, value) in expected {
        assert_eq!(info[key], value, "{name}: {key}");
    }
    let metadata = info["metadata"].as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap());
    assert_eq!(metadata, entry.manifest["metadata"], "{name}");
    let numpy = &entry.manifest["numpy"];
    if !numpy.is_null() {
        for key in ["dtype", "shape", "order"] {
            assert_eq!(info[key], numpy[key], "{name}: {key}");
        }
    }
}

fn check_frame(name: &str, entry: &Entry, info: &Value) {
    let (facts, manifest) = (&entry.facts, &entry.manifest);
    let formats: &[&str] = match entry.kind.as_str() {
        "cframe" | "cframe-at-offset" => &["b2frame"],
        "sframe" => &["sframe"],
        "early-frame" => &["frame-beta1", "frame-beta5"],
        _ => &["b2nd"],
    };
    assert!(formats.contains(&info["format"].as_str().unwrap()), "{name}: {}", info["format"]);
    for key in ["nchunks", "shape", "chunks", "blocks"] {
        if !manifest[key].is_null() {
            assert_eq!(info[key], manifest[key], "{name}: {key}");
        }
    }
    if entry.kind == "early-frame" {
        assert_eq!(info["codec"], entry.how["cname"], "{name}");
    } else if !facts.is_null() {
        check_frame_header(name, facts, info);
    }
    let layers = facts["metalayers_hex"].as_object();
    let names: Vec<&str> =
        info["metalayers"].as_array().unwrap().iter().map(|layer| layer["name"].as_str().unwrap()).collect();
    for layer in layers.into_iter().flatten().map(|(layer, _)| layer.as_str()) {
        assert!(names.contains(&layer), "{name}: {layer}");
    }
    if let Some(expected) = manifest["vlmeta_names"].as_array() {
        assert_eq!(info["vlmetalayers"].as_array().unwrap().len(), expected.len(), "{name}");
    }
}

fn check_frame_header(name: &str, facts: &Value, info: &Value) {
    let is_variable = facts["variable_chunks"] == true;
    let chunksize = if is_variable || facts["chunksize"] == -1 { Value::Null } else { facts["chunksize"].clone() };
    let expected = [
        ("version", facts["format_version"].clone()),
        ("cbytes", facts["compressed"].clone()),
        ("typesize", facts["typesize"].clone()),
        ("vlblocks", facts["all_vlblocks"].clone()),
        ("layout", json!(if facts["sparse"] == true { "sparse" } else { "contiguous" })),
    ];
    for (key, value) in expected {
        assert_eq!(info[key], value, "{name}: {key}");
    }
    if info["nchunks"] != 0 {
        assert_eq!(info["chunksize"], chunksize, "{name}: chunksize");
    }
    if facts["blocksize"] != 0 {
        assert_eq!(info["blocksize"], facts["blocksize"], "{name}: blocksize");
    }
    let stored = facts["filters_ext_hex"].as_str().unwrap();
    let byte = |place: usize| u64::from_str_radix(&stored[2 * place..2 * place + 2], 16).unwrap();
    let filters: Vec<&str> = (0..6).filter_map(|slot| filter_name(byte(slot))).collect();
    assert_eq!(filter_names(info), filters, "{name}");
    let codec = blosc_oxide::Codec::from_code(u8::try_from(byte(6)).unwrap()).to_string();
    assert_eq!(info["codec"], codec, "{name}");
    let flags = facts["flags_hex"].as_str().unwrap();
    assert_eq!(info["level"], json!(u64::from_str_radix(&flags[4..5], 16).unwrap()), "{name}");
}

fn entries(golden: &Golden, set: &str) -> Vec<Entry> {
    let mut entries = golden.entries(set);
    entries.retain(|entry| {
        entry.path.is_some() && !PYTHON_KINDS.contains(&entry.kind.as_str()) && entry.kind != "batcharray"
    });
    entries
}

#[test]
fn every_file_of_the_repository_decompresses_and_is_described() {
    let golden = Golden::repository();
    for set in ["blosc1", "blosc2", "bloscpack", "early", "extra"] {
        for_each(&entries(&golden, set), check);
    }
}

#[test]
fn every_file_of_the_whole_set_decompresses_and_is_described() {
    let Some(golden) = Golden::shared() else { return };
    let mut count = 0;
    for set in ["blosc1", "blosc2", "bloscpack"] {
        let entries = entries(&golden, set);
        for_each(&entries, check);
        count += entries.len();
    }
    assert!(count >= 1070, "{count} files were checked");
}

/// The chunks of Zarr arrays are files of their own; HDF5 files are none of ours.
#[test]
fn chunks_of_other_containers_decompress() {
    let Some(golden) = Golden::shared() else { return };
    for_each(&golden.entries("containers"), |entry| {
        let path = entry.path.as_ref().unwrap();
        if !entry.kind.starts_with("zarr") {
            let message = assert_fails(&decompress(path, None), 1, &entry.file);
            assert!(message.contains("no Blosc"), "{message}");
            return;
        }
        for name in entry.manifest["dir_files"]
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| name.ends_with(|c: char| c.is_ascii_digit()))
            .take(2)
        {
            let output = decompress(&path.join(name), None);
            if entry.file.contains("sharded") {
                // A shard is several chunks and an index, of which the first chunk alone would be a
                // part.
                let message = assert_fails(&output, 1, &entry.file);
                assert!(message.contains("bytes follow the chunk"), "{message}");
                continue;
            }
            assert!(output.status.success(), "{}: {name}", entry.file);
            assert_eq!(info(&path.join(name), None)["nbytes"], json!(output.stdout.len()), "{}: {name}", entry.file);
        }
    });
}

#[test]
fn layouts_of_python_give_data_or_an_error() {
    let Some(golden) = Golden::shared() else { return };
    for entry in golden.entries("blosc2").iter().filter(|entry| PYTHON_KINDS.contains(&entry.kind.as_str())) {
        let path = entry.path.as_ref().unwrap();
        if path.is_file() {
            gives_data_or_one_line(&Patience::new(PATIENCE), path);
        }
    }
}

fn gives_data_or_one_line(patience: &Patience, path: &Path) {
    for command in ["decompress", "info", "verify"] {
        let mut arguments = vec![command.to_owned(), path.display().to_string()];
        arguments.extend((command == "decompress").then(|| "-".to_owned()));
        let output = patience.run(&arguments.join(" "), || blosc(&arguments));
        if !output.status.success() {
            assert_fails(&output, 1, &format!("{command} {}", path.display()));
        }
    }
}

#[test]
fn hostile_files_give_data_or_one_line() {
    let patience = Patience::new(PATIENCE);
    for golden in Golden::all() {
        for_each(&golden.entries("hostile"), |entry| gives_data_or_one_line(&patience, entry.path.as_ref().unwrap()));
    }
    eprintln!("hostile files: {patience}");
}

/// The streaming reader sees the same.
#[test]
fn damaged_bloscpack_files_give_data_or_one_line() {
    let patience = Patience::new(PATIENCE);
    for golden in Golden::all() {
        let directory = golden.root().join("bloscpack");
        let manifest: Value = serde_json::from_slice(&fs::read(directory.join("manifest.json")).unwrap()).unwrap();
        for_each(manifest["bad"].as_array().unwrap(), |entry| {
            let path = directory.join(entry["file"].as_str().unwrap());
            gives_data_or_one_line(&patience, &path);
            let name = format!("blosc d - < {}", path.display());
            let output = patience.run(&name, || blosc_with_input(["d", "-"], &fs::read(&path).unwrap()));
            if !output.status.success() {
                assert_fails(&output, 1, entry["file"].as_str().unwrap());
            }
        });
    }
    eprintln!("damaged Bloscpack files: {patience}");
}

fn assert_decompresses(path: &Path, expected: &[u8]) {
    let output = decompress(path, None);
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == expected, "{}: other bytes", path.display());
    assert_eq!(info(path, None)["nbytes"], json!(expected.len()), "{}", path.display());
}

fn ramps(factors: std::ops::RangeInclusive<i32>, count: i32) -> Vec<u8> {
    factors.flat_map(|factor| (0..count).flat_map(move |i| (i * factor).to_le_bytes())).collect()
}

#[test]
fn chunks_of_every_release_decompress() {
    let Some(compat) = Compat::shared() else { return };
    for_each(&compat.chunks(), |file| {
        let output = decompress(&file.path, None);
        if file.raw_filter {
            assert_fails(&output, 1, &file.name);
        } else {
            assert!(output.status.success(), "{}", file.name);
            assert!(output.stdout[..file.compared] == file.plain()[..file.compared], "{}", file.name);
        }
    });
}

#[test]
fn frames_and_arrays_of_every_release_decompress() {
    let Some(compat) = Compat::shared() else { return };
    let expected = ramps(0..=9, 50_000);
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        assert_decompresses(&compat.directory("frames").join(format!("frame_simple-{codec}.b2frame")), &expected);
    }
    for path in [compat.directory("frames"), compat.directory("b2nd")].iter().flat_map(|directory| files_of(directory))
    {
        let output = decompress(&path, None);
        assert!(output.status.success(), "{}", path.display());
        assert_eq!(info(&path, None)["nbytes"], json!(output.stdout.len()), "{}", path.display());
        good([&PathBuf::from("verify"), &path]);
    }
}

fn files_of(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn files_of_early_releases_decompress() {
    let Some(compat) = Compat::shared() else { return };
    let directory = compat.directory("legacy");
    let expected = ramps(1..=3, 5000);
    for path in files_of(&directory).iter().filter(|path| path.extension().is_some_and(|extension| extension != "json"))
    {
        if path.extension().is_some_and(|extension| extension == "blp") {
            continue;
        }
        assert_decompresses(path, &expected);
    }
    let manifest: Value = serde_json::from_slice(&fs::read(directory.join("bloscpack-legacy.json")).unwrap()).unwrap();
    for entry in manifest["files"].as_array().unwrap() {
        let plain = testkit::formula::generate(&entry["data"]).unwrap();
        assert_decompresses(&directory.join(entry["file"].as_str().unwrap()), &plain);
    }
}
