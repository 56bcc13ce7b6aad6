//! Sessions with the real binary: what is typed, what is printed, and the exit code.
//!
//! A file in `transcripts` has commands after `$ `, each followed by all that it prints and by
//! `[exit N]` if it fails. How small something has become is not compared. With
//! `BLOSC_TRANSCRIPTS=write` the files are written anew from what the binary does now.

mod common;

use common::{Scratch, npy, ramp};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// The files that every session starts with.
fn prepare(scratch: &Scratch) {
    let data = ramp(100_000);
    scratch.write("data.bin", &data);
    scratch.write("cube.npy", &npy("<i4", "(10, 20, 30)", &ramp(6000)));
    scratch.write("note.txt", b"measured in kelvin\n");
}

fn run(command: &str, scratch: &Scratch) -> String {
    let bin = Path::new(common::BLOSC).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .env("PATH", path)
        .env("LC_ALL", "C")
        .current_dir(&scratch.0)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        code => writeln!(text, "[exit {}]", code.unwrap_or(-1)).unwrap(),
    }
    text
}

/// The session again, with what is printed now.
fn replayed(session: &str, scratch: &Scratch) -> String {
    let mut found = String::new();
    for line in session.lines().filter(|line| line.starts_with("$ ") || line.starts_with("# ")) {
        writeln!(found, "{line}").unwrap();
        if let Some(command) = line.strip_prefix("$ ") {
            found.push_str(&run(command, scratch));
        }
    }
    found
}

/// Lines with these words tell how well something was compressed, which is free to become better.
const ABOUT_SIZES: [&str; 16] = [
    "  b2nd  ",
    "  b2frame  ",
    "  npy  ",
    " files  ",
    "  compressed ",
    "dead bytes",
    "ratio ",
    "\"cbytes\"",
    "\"ratio\"",
    "\"dead_bytes\"",
    "its hash is",
    "announced",
    "given back",
    "adler32 of",
    "not recognised",
    "  lz4      ",
];

/// The text without the numbers, and the units behind them, of such lines.
fn without_sizes(text: &str) -> String {
    let words = |line: &str| {
        let is_size = |word: &&str| {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            bare.chars().any(|c| c.is_ascii_digit()) || ["B", "KiB", "MiB"].contains(&bare) || bare.ends_with("/s")
        };
        line.split_whitespace().filter(|word| !is_size(word)).collect::<Vec<_>>().join(" ")
    };
    let is_about_sizes = |line: &str| ABOUT_SIZES.iter().any(|about| line.contains(about)) && !line.starts_with("$ ");
    let lines = text.lines().map(|line| if is_about_sizes(line) { words(line) } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

fn compare(path: &Path, expected: &str, found: &str) {
    if std::env::var_os("BLOSC_TRANSCRIPTS").is_some_and(|how| how == "write") {
        fs::write(path, found).unwrap();
        return;
    }
    assert!(
        without_sizes(found) == without_sizes(expected),
        "{}: expected\n{expected}\nfound\n{found}",
        path.display()
    );
}

fn replay(name: &str) {
    let path = directory().join(format!("{name}.txt"));
    let expected = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scratch = Scratch::new();
    prepare(&scratch);
    compare(&path, &expected, &replayed(&expected, &scratch));
}

/// The tour of the README is one session, block after block, which makes the files that it needs.
#[test]
fn the_tour_of_the_readme_is_what_happens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let expected = fs::read_to_string(&path).unwrap();
    let scratch = Scratch::new();
    let (mut found, mut rest) = (String::new(), expected.as_str());
    let (start, end) = ("```console\n", "```\n");
    let mut blocks = 0;
    while let Some(at) = rest.find(start) {
        let (before, block) = rest.split_at(at + start.len());
        let (session, after) = block.split_at(block.find(end).expect("a block ends"));
        found.push_str(before);
        found.push_str(&replayed(session, &scratch));
        rest = after;
        blocks += 1;
    }
    found.push_str(rest);
    assert!(blocks >= 3, "{blocks} blocks were found");
    compare(&path, &expected, &found);
}

macro_rules! sessions {
    ($($name:ident),+ $(,)?) => {
        $(#[test] fn $name() { replay(stringify!($name)); })+

        #[test]
        fn every_session_is_replayed() {
            let names = [$(stringify!($name)),+];
            for entry in fs::read_dir(directory()).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                assert!(names.contains(&name.as_str()), "{name} is replayed by no test");
            }
        }
    };
}

sessions! {
    append,
    cat,
    compact,
    completions,
    compress,
    compress_failures,
    convert,
    decompress,
    decompress_failures,
    diff,
    foreign,
    habits_keep,
    habits_names,
    habits_streams,
    habits_threads,
    head,
    info,
    ls,
    man,
    meta,
    mistakes,
    repair,
    verify,
    verify_damage,
    words,
    zarr,
}
