//! Every pair of formats converts there and back: the data is the same, and so is the metadata that
//! both have.

use crate::common::{Scratch, for_each, good, npy, ramp};
use std::path::Path;
use testkit::serde_json::{self, Value};

const FORMATS: [&str; 9] =
    ["b2frame", "sframe", "b2nd", "blp", "chunk", "blosc1", "packed", "frame-beta1", "frame-beta5"];
/// Formats that say of an array what it is, themselves or in a description. They are those of
/// several chunks.
const DESCRIBING: [&str; 7] = ["b2frame", "sframe", "b2nd", "blp", "packed", "frame-beta1", "frame-beta5"];
const WITH_METALAYERS: [&str; 5] = ["b2frame", "sframe", "b2nd", "frame-beta1", "frame-beta5"];
const WITH_VLMETALAYERS: [&str; 3] = ["b2frame", "sframe", "b2nd"];

fn run(arguments: &[&str], scratch: &Scratch) -> Vec<u8> {
    let output =
        std::process::Command::new(crate::common::BLOSC).args(arguments).current_dir(&scratch.0).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    output.stdout
}

fn info(path: &Path) -> Value {
    serde_json::from_slice(&good([Path::new("info"), Path::new("--json"), path])).unwrap()
}

fn pairs() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().flat_map(|from| FORMATS.iter().map(move |to| (*from, *to))).collect()
}

/// Converts `first` of format `from` to `to` and back, and checks that the data came through.
fn there_and_back(scratch: &Scratch, from: &str, to: &str, plain: &[u8]) {
    let (first, second, third) = (format!("0.{from}"), format!("1-{from}.{to}"), format!("2-{to}.{from}"));
    run(&["-q", "convert", &first, &second, "--format", to], scratch);
    assert!(run(&["d", &second, "-"], scratch) == plain, "{from} to {to}");
    assert_eq!(info(&scratch.join(&second))["format"], to, "{from} to {to}");
    run(&["-q", "convert", &second, &third, "--format", from], scratch);
    assert!(run(&["d", &third, "-"], scratch) == plain, "{from} to {to} and back");
    run(&["-q", "verify", &second, &third], scratch);
}

#[test]
fn data_comes_back_from_every_format() {
    let scratch = Scratch::new();
    let plain = &ramp(30_000)[..119_997];
    scratch.write("data.bin", plain);
    for format in FORMATS {
        let name = format!("0.{format}");
        let sizes: &[&str] = if DESCRIBING.contains(&format) { &["--chunk-size", "50000"] } else { &[] };
        run(&[&["c", "data.bin", "-o", &name, "--format", format, "--codec", "lz4"], sizes].concat(), &scratch);
    }
    for_each(&pairs(), |(from, to)| there_and_back(&scratch, from, to, plain));
}

#[test]
fn no_data_comes_back_from_every_format() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &[]);
    for format in FORMATS {
        run(&["c", "data.bin", "-o", &format!("0.{format}"), "--format", format], &scratch);
    }
    for_each(&pairs(), |(from, to)| there_and_back(&scratch, from, to, &[]));
}

#[test]
fn arrays_and_metadata_come_back_from_every_format_that_has_a_place_for_them() {
    let scratch = Scratch::new();
    let plain = ramp(6000);
    scratch.write("cube.npy", &npy("<i4", "(10, 20, 30)", &plain));
    scratch.write("note.txt", b"a note");
    for format in FORMATS {
        let name = format!("0.{format}");
        let mut arguments = vec!["-q", "c", "cube.npy", "-o", &name, "--format", format, "--codec", "lz4"];
        if WITH_METALAYERS.contains(&format) {
            arguments.extend(["--meta", "kind=note.txt"]);
        }
        if WITH_VLMETALAYERS.contains(&format) {
            arguments.extend(["--vlmeta", "note=note.txt"]);
        }
        run(&arguments, &scratch);
    }
    for_each(&pairs(), |(from, to)| {
        there_and_back(&scratch, from, to, &plain);
        let (second, third) = (format!("1-{from}.{to}"), format!("2-{to}.{from}"));
        for (name, format) in [(&second, to), (&third, from)] {
            let found = info(&scratch.join(name));
            if DESCRIBING.contains(from) && DESCRIBING.contains(to) && *format != "packed" {
                assert_eq!(found["shape"], serde_json::json!([10, 20, 30]), "{from} to {to}: {name}");
                assert_eq!(found["dtype"], "<i4", "{from} to {to}: {name}");
            }
            if WITH_METALAYERS.contains(from) && WITH_METALAYERS.contains(to) {
                assert_eq!(run(&["meta", "get", name, "kind"], &scratch), b"a note", "{from} to {to}: {name}");
            }
            if WITH_VLMETALAYERS.contains(from) && WITH_VLMETALAYERS.contains(to) {
                assert_eq!(run(&["meta", "get", name, "note"], &scratch), b"a note", "{from} to {to}: {name}");
            }
        }
        if DESCRIBING.contains(from) && DESCRIBING.contains(to) {
            let npy = format!("3-{from}-{to}.npy");
            run(&["d", &third, &npy], &scratch);
            assert!(
                std::fs::read(scratch.join(&npy)).unwrap() == std::fs::read(scratch.join("cube.npy")).unwrap(),
                "{from} to {to}"
            );
        }
    });
}

/// Chunks that both formats have are not compressed again.
#[test]
fn chunks_are_copied_as_they_are() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(30_000));
    run(&["c", "data.bin", "0.b2frame", "--codec", "lz4hc", "--level", "9", "--chunk-size", "50000"], &scratch);
    run(&["convert", "0.b2frame", "1.sframe"], &scratch);
    run(&["convert", "1.sframe", "2.b2frame"], &scratch);
    let read = |name: &str| std::fs::read(scratch.join(name)).unwrap();
    assert_eq!(read("0.b2frame"), read("2.b2frame"));
    run(&["c", "data.bin", "0.chunk", "--codec", "zlib"], &scratch);
    run(&["convert", "0.chunk", "1.b2frame"], &scratch);
    run(&["convert", "1.b2frame", "2.chunk"], &scratch);
    assert_eq!(read("0.chunk"), read("2.chunk"));
}

/// What has no place is named.
#[test]
fn what_is_left_out_is_told() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100));
    scratch.write("note.txt", b"a note");
    run(&["c", "data.bin", "0.b2frame", "--vlmeta", "note=note.txt"], &scratch);
    let output = std::process::Command::new(crate::common::BLOSC)
        .args(["convert", "0.b2frame", "1.chunk"])
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    assert_eq!(message, "blosc: 0.b2frame: a file of format chunk has no place for note; left out\n");
}
