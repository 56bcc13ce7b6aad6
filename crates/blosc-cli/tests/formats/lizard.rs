//! Files with Lizard, through the real binary: they are named, read and converted, and never
//! written.

use crate::common::{Scratch, assert_fails, blosc, good};
use testkit::golden::{Entry, Golden};
use testkit::serde_json::{self, Value};
use testkit::sha256_hex;

fn entries() -> Vec<Entry> {
    let entries = Golden::repository().entries("old-writers");
    entries.into_iter().filter(|entry| entry.how["cname"] == "lizard").collect()
}

fn path(entry: &Entry) -> String {
    entry.path.as_deref().expect("it is stored").display().to_string()
}

fn codec(path: &str) -> Value {
    serde_json::from_slice::<Value>(&good(["info", "--json", path])).unwrap()["codec"].clone()
}

#[test]
fn info_calls_it_lizard() {
    assert_eq!(entries().len(), 13);
    for entry in entries() {
        assert_eq!(codec(&path(&entry)), "lizard", "{}", entry.file);
        let text = String::from_utf8(good(["info", &path(&entry)])).unwrap();
        assert!(text.contains("lizard"), "{text}");
    }
}

#[test]
fn writing_it_is_refused_with_a_sentence() {
    let scratch = Scratch::new();
    let source = scratch.write("data", &[7; 1000]).display().to_string();
    let target = scratch.join("data.b2frame").display().to_string();
    let output = blosc(["compress", "--codec", "lizard", &source, &target]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("lizard is read, but not written"), "{message}");
    assert!(!scratch.join("data.b2frame").exists());
}

#[test]
fn converting_takes_another_codec() {
    let scratch = Scratch::new();
    for entry in entries() {
        for format in ["b2frame", "chunk", "blp", "packed", "frame-beta1", "frame-beta5"] {
            let target = scratch.join(format!("{}.{format}", entry.file)).display().to_string();
            good(["convert", "--format", format, &path(&entry), &target]);
            assert_ne!(codec(&target), "lizard", "{target}");
            let data = good(["decompress", &target, "-"]);
            assert_eq!(Some(sha256_hex(&data)), entry.plain_sha256, "{target}");
        }
    }
}

#[test]
fn damaged_streams_are_errors_that_name_it() {
    let scratch = Scratch::new();
    let entry = entries().into_iter().find(|entry| entry.file.contains("038-c6")).expect("there is one");
    let mut chunk = entry.read();
    // Behind the header, the place of the only block and the length of its stream: the level.
    let stream = 4 + usize::try_from(u32::from_le_bytes(chunk[32..36].try_into().unwrap())).unwrap();
    chunk[stream] = 9;
    let damaged = scratch.write("damaged.b2chunk", &chunk).display().to_string();
    let message = assert_fails(&blosc(["decompress", &damaged, "-"]), 1, "a level of 9");
    assert!(message.contains("lizard: the level is 9"), "{message}");
}
