//! `blosc repair`: what is whole stays what it is, and what is lost is named.

use crate::common::{Scratch, assert_fails, blosc, noise, npy, ramp, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use testkit::Rng;
use testkit::golden::Golden;

/// All frames and arrays of the golden sets: files, and directories of sparse frames.
fn golden_frames() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for golden in Golden::all() {
        for folder in ["blosc2/frames", "blosc2/b2nd"] {
            let Ok(entries) = fs::read_dir(golden.root().join(folder)) else { continue };
            found.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "b2frame" || extension == "b2nd"));
    assert!(found.len() > 10, "{} frames", found.len());
    found
}

/// The data and the shape of a file, if it can be read.
fn content(path: &Path) -> Option<(Vec<u8>, String)> {
    let data = blosc(["d".as_ref(), path.as_os_str(), "-".as_ref()]);
    let facts = blosc(["info".as_ref(), "--json".as_ref(), path.as_os_str()]);
    if !data.status.success() || !facts.status.success() {
        return None;
    }
    let facts = String::from_utf8(facts.stdout).unwrap();
    let wanted = ["\"format\"", "\"shape\"", "\"chunks\"", "\"blocks\"", "\"dtype\"", "\"typesize\"", "\"nbytes\""];
    let kept = facts.lines().filter(|line| wanted.iter().any(|key| line.trim_start().starts_with(key)));
    Some((data.stdout, kept.collect::<Vec<_>>().join("\n")))
}

fn repair(scratch: &Scratch, from: &Path) -> (Output, PathBuf) {
    let target = scratch.join(format!("out.{}", from.extension().unwrap_or_default().to_string_lossy()));
    let output = blosc(["repair".as_ref(), "--force".as_ref(), from.as_os_str(), target.as_os_str()]);
    (output, target)
}

fn is_early(facts: &str) -> bool {
    facts.contains("\"frame-beta")
}

#[test]
fn every_golden_frame_and_array_that_is_whole_is_repaired_to_the_same() {
    let scratch = Scratch::new();
    let mut arrays = 0;
    for path in golden_frames() {
        let Some((data, facts)) = content(&path) else { continue };
        let (output, target) = repair(&scratch, &path);
        let message = String::from_utf8_lossy(&output.stderr);
        if facts.contains("\"nbytes\": 0,") || data.is_empty() {
            continue;
        }
        assert!(output.status.success(), "{}: {message}", path.display());
        let (repaired, now) = content(&target).unwrap_or_else(|| panic!("{} is unreadable afterwards", path.display()));
        assert!(repaired == data, "{}: other data", path.display());
        if !is_early(&facts) {
            assert_eq!(now, facts, "{}", path.display());
        }
        arrays += usize::from(facts.contains("\"b2nd\""));
    }
    assert!(arrays > 3, "{arrays} arrays");
}

/// An array of ours in ten chunks, with a fixed and a variable metalayer beside that of the array.
fn array(scratch: &Scratch) -> Vec<u8> {
    scratch.write("data.npy", &npy("<i4", "(100, 50)", &ramp(5000)));
    let options = ["--chunks", "10,50", "--blocks", "5,50", "--codec", "lz4"];
    assert!(run(scratch, &[&["c", "data.npy", "whole.b2nd"][..], &options].concat()).status.success());
    assert!(run(scratch, &["meta", "set", "whole.b2nd", "fixed", "f", "--fixed"]).status.success());
    assert!(run(scratch, &["meta", "set", "whole.b2nd", "note", "n"]).status.success());
    assert!(run(scratch, &["compact", "whole.b2nd"]).status.success());
    fs::read(scratch.join("whole.b2nd")).unwrap()
}

/// Where the chunks of a frame are.
fn offsets(scratch: &Scratch, name: &str) -> Vec<usize> {
    let facts = String::from_utf8(run(scratch, &["info", "--json", "--chunks", name]).stdout).unwrap();
    let texts = facts.split("\"offset\": ").skip(1);
    texts.map(|text| text.split(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn an_array_damaged_in_header_index_trailer_or_chunk_stays_an_array() {
    let scratch = Scratch::new();
    let whole = array(&scratch);
    let offsets = offsets(&scratch, "whole.b2nd");
    let last = offsets.iter().max().copied().unwrap();
    let cbytes = u32::from_le_bytes(whole[last + 12..last + 16].try_into().unwrap());
    let index = last + cbytes as usize;
    for (what, place, code) in [
        ("header", 0..60, 0),
        ("index", index + 32..index + 48, 1),
        ("trailer", whole.len() - 120..whole.len(), 1),
        ("chunk", offsets[3] + 40..offsets[3] + 60, 1),
    ] {
        let mut bytes = whole.clone();
        bytes[place].fill(0xa5);
        let damaged = scratch.write("damaged.b2nd", &bytes);
        let (output, target) = repair(&scratch, &damaged);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{what}: {message}");
        let (data, facts) = content(&target).unwrap_or_else(|| panic!("{what}: unreadable afterwards"));
        assert!(facts.contains("\"b2nd\""), "{what}: {facts}");
        let mut expected = ramp(5000);
        if what == "chunk" {
            assert!(message.contains("1 of 10 chunks are damaged"), "{what}: {message}");
            expected[3 * 2000..4 * 2000].fill(0);
        }
        assert!(data == expected, "{what}: other data");
    }
}

#[test]
fn an_array_that_is_cut_off_stays_an_array_and_what_is_lost_is_named() {
    let scratch = Scratch::new();
    let whole = array(&scratch);
    let offsets = offsets(&scratch, "whole.b2nd");
    for chunks in [1, 4, 9] {
        let damaged = scratch.write("damaged.b2nd", &whole[..offsets[chunks]]);
        let (output, target) = repair(&scratch, &damaged);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(&format!("{} of 10 chunks are damaged", 10 - chunks)), "{message}");
        let (data, facts) = content(&target).unwrap_or_else(|| panic!("{chunks} chunks: unreadable afterwards"));
        assert!(facts.contains("\"b2nd\""), "{facts}");
        let mut expected = ramp(5000);
        expected[chunks * 2000..].fill(0);
        assert!(data == expected, "{chunks} chunks: other data");
    }
}

/// Arrays of python-blosc2 have no checksums: what is changed may go unseen, but what does not open
/// is never called saved.
#[test]
fn no_damaged_array_of_others_is_repaired_to_one_that_cannot_be_opened_without_saying_so() {
    let scratch = Scratch::new();
    let mut random = Rng::new(7);
    let mut places = [0_usize; 3];
    for path in golden_frames().into_iter().filter(|path| path.is_file()) {
        let whole = fs::read(&path).unwrap();
        if whole.is_empty() || content(&path).is_none_or(|(data, _)| data.is_empty()) || whole.len() > 50_000 {
            continue;
        }
        for (kind, count) in places.iter_mut().enumerate() {
            let mut bytes = whole.clone();
            let at = random.below(bytes.len());
            match kind {
                0 => bytes.truncate(at),
                1 => bytes[at.min(200)] ^= 1 << random.below(8),
                _ => bytes.iter_mut().skip(at).take(40).for_each(|byte| *byte = 0),
            }
            let name = format!("damaged.{}", path.extension().unwrap().to_string_lossy());
            let (output, target) = repair(&scratch, &scratch.write(&name, &bytes));
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1)), "{}, {kind} at {at}: {code:?}", path.display());
            // What has a filter that is not known is copied as it is, and that is said.
            let is_examined = !String::from_utf8_lossy(&output.stdout).contains("not examined");
            if code == Some(0) && is_examined {
                *count += 1;
                assert!(content(&target).is_some(), "{}, {kind} at {at}: unreadable afterwards", path.display());
            }
        }
    }
    assert!(places.iter().sum::<usize>() > 10, "{places:?}");
}

/// Of a chunk that holds zeros afterwards nothing could be got back.
#[test]
fn a_damaged_file_is_not_replaced_by_what_could_be_saved_of_it() {
    let scratch = Scratch::new();
    scratch.write("data", &noise(100_000));
    for (name, format) in [("bad.b2frame", "b2frame"), ("bad", "sframe"), ("bad.blp", "blp")] {
        let arguments = ["c", "data", "-o", name, "--format", format, "--chunk-size", "10K"];
        assert!(run(&scratch, &arguments).status.success());
        let file = if format == "sframe" { "bad/00000003.chunk" } else { name };
        let mut bytes = fs::read(scratch.join(file)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        scratch.write(file, &bytes);
        let line = assert_fails(&run(&scratch, &["repair", "--force", name, &format!("./{name}")]), 2, name);
        assert!(line.contains("OUTPUT is the damaged file itself"), "{line}");
        assert_eq!(fs::read(scratch.join(file)).unwrap(), bytes, "{name}");
    }
}
