//! Files that the alphas and betas of C-Blosc2 wrote themselves, through the real binary: the right
//! bytes by themselves, or with `--old-bitshuffle` and named as ambiguous, or an error in one line.

use crate::common::{Scratch, assert_fails, blosc, good};
use std::path::Path;
use testkit::golden::{Entry, Golden};
use testkit::serde_json::{self, Value};
use testkit::sha256_hex;

const SHARED_FILES: usize = 1040;
const REPOSITORY_FILES: usize = 64;

fn entries() -> Vec<Entry> {
    Golden::all().iter().flat_map(|golden| golden.entries("old-writers")).collect()
}

fn path(entry: &Entry) -> String {
    entry.path.as_deref().map(Path::display).expect("it is stored").to_string()
}

fn text<'a>(entry: &'a Entry, name: &str, how: &str) -> &'a str {
    entry.manifest[name].as_str().or(entry.how[how].as_str()).unwrap_or_default()
}

fn is_lizard(entry: &Entry) -> bool {
    text(entry, "codec", "cname") == "lizard"
}

fn is_zstd_0_5(entry: &Entry) -> bool {
    text(entry, "codec", "cname") == "zstd" && text(entry, "writer", "writer").contains("2.0.0a3")
}

fn is_named_ambiguous(path: &str, option: &[&str]) -> bool {
    let arguments = |command: &[&str]| -> Vec<String> {
        command.iter().chain(option).chain(&[path]).map(|&argument| argument.to_owned()).collect()
    };
    let json: Value = serde_json::from_slice(&good(arguments(&["info", "--json"]))).unwrap();
    let printed = |command: &[&str]| String::from_utf8(good(arguments(command))).unwrap().contains("ambiguous");
    let named = [json["ambiguous_chunks"].as_u64() > Some(0), printed(&["info"]), printed(&["verify"])];
    assert!(named.iter().all(|each| *each == named[0]), "{path}: {named:?}");
    named[0]
}

fn check(entry: &Entry) {
    let (name, path) = (&entry.file, path(entry));
    let expected = entry.plain_sha256.as_deref();
    let output = blosc(["decompress", &path, "-"]);
    if is_zstd_0_5(entry) && !output.status.success() {
        let message = assert_fails(&output, 1, name);
        assert!(message.contains("written by zstd 0.5,"), "{message}");
        return;
    }
    let is_right = |bytes: &[u8]| Some(sha256_hex(bytes).as_str()) == expected;
    if is_right(&output.stdout) && output.status.success() {
        return;
    }
    assert!(is_right(&good(["decompress", "--old-bitshuffle", &path, "-"])), "{name}: other bytes by both rules");
    assert!(is_right(&good(["cat", "--old-bitshuffle", &path])), "{name}: cat");
    assert!(is_named_ambiguous(&path, &[]) && is_named_ambiguous(&path, &["--old-bitshuffle"]), "{name}");
    assert!(entry.manifest["ambiguous"] == true || is_lizard(entry), "{name}");
}

#[test]
fn old_files_give_what_was_put_in() {
    let shared = Golden::shared().map_or(0, |_| SHARED_FILES);
    assert_eq!(entries().len(), REPOSITORY_FILES + shared, "fewer files mean that this test has lost its eyes");
    entries().iter().for_each(check);
}

#[test]
fn what_is_converted_by_the_old_rule_is_the_same_by_the_current_one() {
    let scratch = Scratch::new();
    let mut converted = 0;
    let is_read = |entry: &&Entry| !is_zstd_0_5(entry) && entry.kind != "packed";
    let of_repository = Golden::repository().entries("old-writers");
    for entry in of_repository.iter().filter(is_read) {
        let old = ["--old-bitshuffle"];
        let option: &[&str] = if entry.manifest["ambiguous"] == true { &old } else { &[] };
        for format in ["chunk", "b2frame", "packed", "frame-beta1", "frame-beta5"] {
            let target = scratch.join(format!("{}.{format}", entry.file)).display().to_string();
            let arguments = ["convert", "--force", "--format", format, &path(entry), "-o", &target];
            let output = blosc(arguments.iter().chain(option));
            if !output.status.success() {
                assert_fails(&output, 2, &entry.file);
                continue;
            }
            converted += 1;
            let data = good(["decompress", target.as_str(), "-"]);
            assert_eq!(Some(&sha256_hex(&data)), entry.plain_sha256.as_ref(), "{} as {format}", entry.file);
        }
    }
    assert!(converted >= 100, "{converted} files converted");
}

#[test]
fn a_frame_with_a_header_of_64_bytes_keeps_its_filters_when_it_is_converted() {
    let scratch = Scratch::new();
    let is_early = |entry: &&Entry| entry.kind == "frame" && matches!(entry.read()[0], 0x9b | 0x9c);
    let mut filtered = 0;
    for entry in Golden::repository().entries("old-writers").iter().filter(is_early).filter(|entry| !is_lizard(entry)) {
        let target = scratch.join("target.b2frame").display().to_string();
        good(["convert", "--force", &path(entry), "-o", &target]);
        let filters = |path: &str| -> Value {
            let facts: Value = serde_json::from_slice(&good(["info", "--json", path])).unwrap();
            facts["filters"].clone()
        };
        assert_eq!(filters(&target), filters(&path(entry)), "{}", entry.file);
        filtered += usize::from(filters(&target).as_array().is_some_and(|filters| !filters.is_empty()));
    }
    assert!(filtered >= 3, "{filtered} frames with filters");
}
