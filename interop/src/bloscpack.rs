//! Bloscpack files for bloscpack 0.16.0 to read, and those that it wrote or appended to.

use blosc_oxide::bloscpack::{self, AppendOptions, Bloscpack, BloscpackOptions, Checksum, MetadataOptions};
use blosc_oxide::{Codec, Filter, Options, storage::MemoryStorage};
use std::fs;
use std::path::Path;
use testkit::formula::generate;
use testkit::serde_json::{self, Value, json};
use testkit::sha256_hex;

const MANIFEST: &str = "manifest.json";

fn data(nbytes: usize) -> Vec<u8> {
    let mut data = generate(&json!([
        {"kind": "walk", "n": nbytes / 16 + 1, "w": 8, "seed": 1},
        {"kind": "rand", "nbytes": nbytes, "seed": 2},
    ]))
    .expect("a formula");
    data.truncate(nbytes);
    data
}

/// One file: how it is written, and what it must hold.
struct Case {
    name: String,
    options: BloscpackOptions,
    plain: Vec<u8>,
    /// What is appended afterwards, piece by piece.
    appended: Vec<Vec<u8>>,
    metadata: Value,
}

impl Case {
    fn new(name: impl Into<String>, plain: Vec<u8>, options: BloscpackOptions) -> Self {
        Self { name: name.into(), options, plain, appended: Vec::new(), metadata: Value::Null }
    }

    fn metadata(mut self, metadata: Value, how: MetadataOptions) -> Self {
        self.options = self.options.with_metadata(metadata.to_string()).with_metadata_options(how);
        self.metadata = metadata;
        self
    }

    fn append(mut self, plain: Vec<u8>) -> Self {
        self.appended.push(plain);
        self
    }

    fn write(&self, directory: &Path) -> Value {
        let mut storage =
            MemoryStorage::new(bloscpack::pack_slice(&self.plain, &self.options).expect("it can be packed"));
        let mut plain = self.plain.clone();
        for part in &self.appended {
            bloscpack::append(&mut storage, &part[..], &AppendOptions::new()).expect("it can be appended");
            plain.extend(part);
        }
        let name = format!("{}.blp", self.name);
        fs::write(directory.join(&name), storage.to_bytes()).expect("the file can be written");
        json!({"file": name, "sha256": sha256_hex(&plain), "nbytes": plain.len(), "metadata": self.metadata})
    }
}

fn cases() -> Vec<Case> {
    let base = || BloscpackOptions::new(Options::new(8)).with_chunk_size(4096);
    let mut cases = Vec::new();
    for checksum in Checksum::ALL {
        for offsets in [false, true] {
            let options = base().with_checksum(checksum).with_offsets(offsets);
            cases.push(Case::new(format!("{checksum}-{offsets}"), data(20_000), options.clone()));
            let appended = Case::new(format!("appended-{checksum}-{offsets}"), data(10_000), options);
            cases.push(appended.append(data(500)).append(data(30_000)));
        }
        for level in [0, 6] {
            let how = MetadataOptions::new().with_checksum(checksum).with_level(level).with_room(2000);
            let metadata =
                json!({"gr\u{f6}\u{df}e": "\u{2603}", "list": [1, 2.5, null, true], "text": "x".repeat(100)});
            let case = Case::new(format!("meta-{checksum}-{level}"), data(5_000), base());
            cases.push(case.metadata(metadata, how));
        }
    }
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            for level in [0, 1, 5, 9] {
                let chunk = Options::new(8).with_codec(codec).with_filters(filters.clone()).with_level(level);
                let name = format!("{codec}-{}-{level}", filters.first().map_or("none".to_owned(), Filter::to_string));
                cases.push(Case::new(name, data(100_000), BloscpackOptions::new(chunk).with_chunk_size(40_000)));
            }
        }
    }
    for nbytes in [0, 1, 4095, 4096, 4097] {
        cases.push(Case::new(format!("length-{nbytes}"), data(nbytes), base()));
        cases.push(Case::new(format!("length-{nbytes}-appended"), data(nbytes), base()).append(data(9_000)));
        let large = BloscpackOptions::new(Options::new(4));
        cases.push(Case::new(format!("length-{nbytes}-1M"), data(nbytes), large));
    }
    for typesize in [1, 3, 16, 255] {
        let options = BloscpackOptions::new(Options::new(typesize)).with_chunk_size(5000);
        cases.push(Case::new(format!("typesize-{typesize}"), data(30_000), options));
    }
    for room in [0, 1, 1000] {
        cases.push(Case::new(format!("room-{room}"), data(20_000), base().with_room(room)));
    }
    cases
}

/// Writes files, and a manifest of what they must hold. How many there are.
pub(crate) fn write(directory: &str) -> usize {
    let directory = Path::new(directory);
    fs::create_dir_all(directory).expect("the directory can be made");
    let mut rows: Vec<Value> = cases().iter().map(|case| case.write(directory)).collect();
    rows.push(write_reader_of_unknown_length(directory));
    write_manifest(directory, &rows);
    rows.len()
}

/// Written to a file by someone who did not know how long it would be.
fn write_reader_of_unknown_length(directory: &Path) -> Value {
    let plain = data(50_000);
    let path = directory.join("unknown-length.blp");
    let options = BloscpackOptions::new(Options::new(8)).with_chunk_size(1000);
    bloscpack::pack_to_file(&plain[..], &path, &options).expect("it can be packed");
    json!({"file": "unknown-length.blp", "sha256": sha256_hex(&plain), "nbytes": plain.len(), "metadata": null})
}

fn write_manifest(directory: &Path, rows: &[Value]) {
    let text = serde_json::to_vec(rows).expect("rows are JSON");
    fs::write(directory.join(MANIFEST), text).expect("the manifest can be written");
}

fn read_manifest(directory: &Path) -> Vec<Value> {
    let text = fs::read(directory.join(MANIFEST)).expect("there is a manifest");
    serde_json::from_slice(&text).expect("the manifest is JSON")
}

/// Turns every .npy file of a directory into a Bloscpack file, and back under another name. How
/// many there were.
pub(crate) fn convert_npy(directory: &str) -> usize {
    let mut converted = 0;
    for entry in fs::read_dir(directory).expect("the directory can be listed") {
        let path = entry.expect("the directory can be listed").path();
        let is_theirs = path.extension().is_some_and(|extension| extension == "npy")
            && !path.to_string_lossy().ends_with(".back.npy");
        if is_theirs {
            convert(&path);
            converted += 1;
        }
    }
    converted
}

fn convert(npy: &Path) {
    let options = BloscpackOptions::new(Options::new(1)).with_chunk_size(4096);
    let mut storage = MemoryStorage::default();
    bloscpack::pack_npy(fs::File::open(npy).expect("it can be opened"), &mut storage, &options)
        .expect("it is an array");
    fs::write(npy.with_extension("blp"), storage.to_bytes()).expect("it can be written");
    let mut back = Vec::new();
    let file = Bloscpack::from_storage(storage).expect("what was packed can be read");
    file.copy_to_npy(&mut back).expect("it holds an array");
    fs::write(npy.with_extension("back.npy"), back).expect("it can be written");
}

/// Reads files that bloscpack wrote, appends to them, and says in the manifest what they hold now.
pub(crate) fn read_and_append(directory: &str) -> (usize, Vec<String>) {
    let directory = Path::new(directory);
    let mut rows = read_manifest(directory);
    let problems = rows.iter_mut().filter_map(|row| read_one(directory, row).err()).collect();
    write_manifest(directory, &rows);
    (rows.len(), problems)
}

fn read_one(directory: &Path, row: &mut Value) -> Result<(), String> {
    let name = row["file"].as_str().expect("a row has a file").to_owned();
    let path = directory.join(&name);
    let fail = |error: blosc_oxide::Error| format!("{name}: {error}");
    let file = Bloscpack::open(&path).map_err(fail)?;
    let mut plain = Vec::new();
    file.copy_to(&mut plain).map_err(fail)?;
    if row["sha256"] != sha256_hex(&plain) {
        return Err(format!("{name}: other bytes"));
    }
    let metadata = file
        .metadata()
        .map_or(Value::Null, |metadata| serde_json::from_str(metadata.text()).expect("metadata is JSON"));
    if row["metadata"] != metadata {
        return Err(format!("{name}: other metadata, {metadata}"));
    }
    let room = file.header().max_app_chunks().min(2);
    let chunk_size = file.header().chunk_size().unwrap_or_default() as u64;
    let added = data(usize::try_from(room * chunk_size).unwrap_or_default());
    drop(file);
    bloscpack::append_to_file(&path, &added[..], &AppendOptions::new()).map_err(fail)?;
    plain.extend(added);
    row["sha256"] = sha256_hex(&plain).into();
    row["nbytes"] = plain.len().into();
    Ok(())
}
