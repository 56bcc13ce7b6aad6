//! A set of chunks in one directory: `chunks.bin`, one after another, and `index.json`, a list that
//! says where each is.

use crate::cases::Case;
use std::fs;
use std::path::Path;
use testkit::serde_json::{self, Value, json};
use testkit::sha256_hex;

/// Collects chunks and writes them out together.
#[derive(Default)]
pub(crate) struct Writer {
    rows: Vec<Value>,
    chunks: Vec<u8>,
}

impl Writer {
    pub(crate) fn add(&mut self, case: &Case) {
        let tail = case.plain.len() % usize::from(case.chunk[3]);
        self.rows.push(json!({
            "name": case.name,
            "format": case.format,
            "offset": self.chunks.len(),
            "length": case.chunk.len(),
            "nbytes": case.plain.len(),
            "sha256": sha256_hex(&case.plain),
            // What is after the last whole item, which one reader returns wrong.
            "tail": hex(&case.plain[case.plain.len() - tail..]),
        }));
        self.chunks.extend(&case.chunk);
    }

    pub(crate) fn finish(self, directory: &str) -> usize {
        fs::create_dir_all(directory).expect("the directory can be made");
        fs::write(Path::new(directory).join("chunks.bin"), self.chunks).expect("chunks can be written");
        let count = self.rows.len();
        let index = Value::Array(self.rows).to_string();
        fs::write(Path::new(directory).join("index.json"), index).expect("the index can be written");
        count
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A chunk with what it should decode to.
pub(crate) struct Row {
    name: String,
    chunk: Vec<u8>,
    sha256: String,
}

/// Every chunk of the set in `directory`.
pub(crate) fn read(directory: &str) -> Vec<Row> {
    let chunks = fs::read(Path::new(directory).join("chunks.bin")).expect("chunks can be read");
    let index = fs::read(Path::new(directory).join("index.json")).expect("the index can be read");
    let index: Value = serde_json::from_slice(&index).expect("the index is JSON");
    index.as_array().expect("the index is a list").iter().map(|row| Row::new(row, &chunks)).collect()
}

impl Row {
    fn new(row: &Value, chunks: &[u8]) -> Self {
        let size = |name: &str| usize::try_from(row[name].as_u64().expect("a size")).expect("a size fits");
        let text = |name: &str| row[name].as_str().expect("a text").to_owned();
        let chunk = chunks[size("offset")..size("offset") + size("length")].to_vec();
        Self { name: text("name"), chunk, sha256: text("sha256") }
    }

    /// What is wrong with our reading of it, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        match blosc_oxide::decompress(&self.chunk) {
            Ok(plain) if sha256_hex(&plain) == self.sha256 => None,
            Ok(_) => Some(format!("{}: other bytes", self.name)),
            Err(error) => Some(format!("{}: {error}", self.name)),
        }
    }
}
