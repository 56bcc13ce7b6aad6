//! Sessions with the real binary: what is typed, what is printed, and the exit code.
//!
//! A file in `transcripts` has commands after `$ `, each followed by all that it prints and by `[exit N]` if it fails.
//! With `BLOSC_TRANSCRIPTS=write` the files are written anew from what the binary does now.

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

fn replay(name: &str) {
    let path = directory().join(format!("{name}.txt"));
    let expected = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scratch = Scratch::new();
    prepare(&scratch);
    let mut found = String::new();
    for line in expected.lines().filter(|line| line.starts_with("$ ") || line.starts_with("# ")) {
        writeln!(found, "{line}").unwrap();
        if let Some(command) = line.strip_prefix("$ ") {
            found.push_str(&run(command, &scratch));
        }
    }
    if std::env::var_os("BLOSC_TRANSCRIPTS").is_some_and(|how| how == "write") {
        fs::write(&path, &found).unwrap();
        return;
    }
    assert!(found == expected, "{name}: expected\n{expected}\nfound\n{found}");
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
    compress,
    compress_failures,
    convert,
    decompress,
    decompress_failures,
    info,
    meta,
    repair,
    verify,
    verify_damage,
}
