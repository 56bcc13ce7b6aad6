//! Damaged files: nothing of what is damaged comes out or is converted, and all of it is told.

#[cfg(unix)]
use crate::common::mode;
use crate::common::{Scratch, assert_fails, noise, npy, ramp, run};
use std::fs;

#[test]
fn a_failure_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let frame = {
        scratch.write("data.bin", &ramp(100_000));
        assert!(run(&scratch, &["c", "data.bin", "whole.b2frame", "--chunk-size", "10K"]).status.success());
        fs::read(scratch.join("whole.b2frame")).unwrap()
    };
    let mut damaged = frame.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0xff);
    scratch.write("damaged.b2frame", &damaged);
    assert_fails(&run(&scratch, &["d", "damaged.b2frame", "out.bin"]), 1, "decompress");
    assert_fails(&run(&scratch, &["convert", "damaged.b2frame", "out.blp"]), 1, "convert");
    assert_eq!(scratch.names(), ["damaged.b2frame", "data.bin", "whole.b2frame"]);
}

#[test]
fn a_damaged_chunk_is_not_converted() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100_000));
    for (from, targets) in [
        ("damaged.b2frame", &["out.b2frame", "out.sframe", "out.blp", "out.chunk"][..]),
        ("damaged.b2nd", &["out.b2nd"]),
    ] {
        assert!(run(&scratch, &["c", "--level", "0", "data.bin", from]).status.success());
        let mut bytes = fs::read(scratch.join(from)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        scratch.write(from, &bytes);
        for target in targets {
            let line = assert_fails(&run(&scratch, &["convert", from, target]), 1, target);
            assert!(line.contains("its hash is"), "{from} to {target}: {line}");
        }
    }
    assert_eq!(scratch.names(), ["damaged.b2frame", "damaged.b2nd", "data.bin"]);
}

#[test]
fn nothing_of_a_damaged_chunk_of_an_array_comes_out_on_any_number_of_threads() {
    let scratch = Scratch::new();
    scratch.write("data.npy", &npy("<i4", "(700, 500)", &ramp(350_000)));
    let chunks = ["--chunks", "300,500", "--blocks", "50,50", "--level", "0"];
    assert!(run(&scratch, &[&["c", "data.npy", "damaged.b2nd"][..], &chunks].concat()).status.success());
    let mut bytes = fs::read(scratch.join("damaged.b2nd")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    scratch.write("damaged.b2nd", &bytes);
    for threads in ["-j1", "-j2"] {
        for command in [
            &["d", "damaged.b2nd", "out.bin"][..],
            &["d", "--slice", "310,3", "damaged.b2nd", "out.bin"],
            &["d", "--bytes", "600000..600004", "damaged.b2nd", "out.bin"],
            &["d", "--npy", "damaged.b2nd", "out.npy"],
            &["cat", "damaged.b2nd"],
            &["convert", "damaged.b2nd", "out.b2frame"],
            &["convert", "damaged.b2nd", "out.blp"],
            &["convert", "--chunks", "70,70", "damaged.b2nd", "out.b2nd"],
        ] {
            let line = assert_fails(&run(&scratch, &[command, &[threads]].concat()), 1, command[0]);
            assert!(line.contains("chunk 1: its hash is"), "{command:?} {threads}: {line}");
        }
    }
    assert!(run(&scratch, &["d", "--slice", "0:300", "damaged.b2nd", "good.bin"]).status.success());
    assert_eq!(fs::read(scratch.join("good.bin")).unwrap(), ramp(150_000));
    assert_eq!(scratch.names(), ["damaged.b2nd", "data.npy", "good.bin"]);
}

#[cfg(unix)]
#[test]
fn a_bloscpack_file_is_repaired_before_it_appears() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100_000));
    assert!(run(&scratch, &["c", "data.bin", "data.blp"]).status.success());
    let whole = fs::read(scratch.join("data.blp")).unwrap();
    let longer = [&whole[..], &noise(1000)].concat();
    let path = scratch.write("longer.blp", &longer);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(run(&scratch, &["repair", "longer.blp", "mended.blp"]).status.success());
    assert!(fs::read(scratch.join("mended.blp")).unwrap() == whole);
    assert_eq!(mode(&scratch.join("mended.blp")), 0o444);
    assert!(fs::read(&path).unwrap() == longer, "the file itself stays");
    // What cannot be repaired is not published.
    let mut damaged = longer;
    damaged[whole.len() - 20] ^= 1;
    scratch.write("damaged.blp", &damaged);
    assert_fails(&run(&scratch, &["repair", "damaged.blp", "none.blp"]), 1, "damage");
    assert!(!scratch.join("none.blp").exists());
    let other = fs::File::open(scratch.join("damaged.blp")).unwrap();
    other.lock().unwrap();
    let line = assert_fails(&run(&scratch, &["repair", "damaged.blp"]), 2, "locked");
    assert!(line.contains("another process"), "{line}");
}

#[test]
fn of_many_damaged_chunks_the_first_are_named_and_the_others_counted() {
    const CHUNKS: usize = 1500;
    let scratch = Scratch::new();
    scratch.write("data.bin", &noise(CHUNKS * 100));
    for name in ["data.b2frame", "data.blp"] {
        assert!(run(&scratch, &["c", "data.bin", name, "--chunk-size", "100"]).status.success());
    }
    damage_frame(&scratch.join("data.b2frame"));
    let mut bytes = fs::read(scratch.join("data.blp")).unwrap();
    // A header of 16 bytes, 100 that do not compress, and a checksum of 4.
    bytes.iter_mut().rev().step_by(120).take(CHUNKS).for_each(|byte| *byte ^= 1);
    scratch.write("data.blp", &bytes);
    for name in ["data.b2frame", "data.blp"] {
        let line = assert_fails(&run(&scratch, &["verify", name]), 1, name);
        assert!(line.contains(": chunk 0: ") && line.contains(", and 1499 more"), "{line}");
        let all = run(&scratch, &["verify", "--verbose", name]);
        let text = String::from_utf8(all.stderr).unwrap();
        assert_eq!((all.status.code(), text.lines().count()), (Some(1), 1001), "{name}");
        assert!(text.ends_with(&format!("blosc: {name}: 500 more are damaged\n")), "{name}");
    }
    let repaired = run(&scratch, &["repair", "data.b2frame"]);
    let text = String::from_utf8(repaired.stdout).unwrap();
    assert!(text.starts_with("1500 chunks found by its header, 1500 of them damaged\n"), "{text}");
    assert!(text.contains("\ndamaged: 500 more\n"), "{text}");
}

#[test]
fn a_bloscpack_file_that_claims_a_million_million_chunks_is_verified_at_once() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &noise(10_000));
    assert!(run(&scratch, &["c", "data.bin", "data.blp"]).status.success());
    let mut bytes = fs::read(scratch.join("data.blp")).unwrap();
    // No offsets, no length of the last chunk, 2^40 chunks and no room for more; of the first
    // chunk, only its start.
    bytes[5] &= !1;
    bytes[12..16].fill(0xff);
    bytes[16..24].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    bytes[24..32].fill(0);
    bytes.truncate(132);
    scratch.write("claiming.blp", &bytes);
    let line = assert_fails(&run(&scratch, &["verify", "claiming.blp"]), 1, "claiming.blp");
    assert!(line.contains("chunk 0: "), "{line}");
}

#[test]
fn what_takes_too_much_memory_is_neither_called_damaged_nor_repaired() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &noise(8_000_000));
    for name in ["data.b2frame", "data.blp", "data.b2packed"] {
        assert!(run(&scratch, &["c", "data.bin", name, "--chunk-size", "4M"]).status.success());
        let line = assert_fails(&run(&scratch, &["verify", "--max-memory", "1M", name]), 1, name);
        assert!(line.contains("--max-memory raises the limit") && !line.contains("repair"), "{line}");
    }
    let line = assert_fails(&run(&scratch, &["repair", "--max-memory", "1M", "data.b2frame"]), 1, "repair");
    assert!(line.contains("--max-memory raises the limit"), "{line}");
    assert_eq!(scratch.names(), ["data.b2frame", "data.b2packed", "data.bin", "data.blp"]);
}

/// A frame of chunks of different sizes, with the header of one of them damaged, contiguous or
/// sparse.
#[test]
fn one_damaged_header_is_named_and_all_else_is_read() {
    use blosc_oxide::{Frame, FrameLayout, FrameOptions, Options, storage::Durability};
    let scratch = Scratch::new();
    let buffers: Vec<Vec<u8>> = (1..=5).map(|size| ramp(size * 100)).collect();
    for (name, layout) in [("data.b2frame", FrameLayout::Contiguous), ("data.sframe", FrameLayout::Sparse)] {
        let options = FrameOptions::new(Options::new(4)).with_layout(layout).with_durability(Durability::None);
        let mut frame = Frame::create(scratch.join(name), options).unwrap();
        buffers.iter().for_each(|buffer| frame.append(buffer).unwrap());
        let frame = frame.commit().unwrap();
        let position = usize::try_from(frame.chunk_position(2).unwrap().unwrap()).unwrap();
        drop(frame);
        let (file, at) = match layout {
            FrameLayout::Contiguous => (name.to_owned(), position),
            _ => (format!("{name}/{position:08X}.chunk"), 0),
        };
        let mut bytes = fs::read(scratch.join(&file)).unwrap();
        bytes[at..at + 16].fill(0xff);
        scratch.write(&file, &bytes);
        for command in [&["info", name][..], &["info", "--json", "--chunks", name], &["info", "--chunks", name]] {
            let output = run(&scratch, command);
            let line = assert_fails(&output, 1, name);
            assert!(line.contains("chunk 2: ") && line.contains("`blosc repair` saves"), "{line}");
            let text = String::from_utf8(output.stdout).unwrap();
            let is_json = command.contains(&"--json");
            let expected = if is_json { "\"damaged_chunks\": 1" } else { "1 of the chunks; the first: chunk 2: " };
            assert!(text.contains(expected) && text.contains('5'), "{command:?}: {text}");
        }
        let line = assert_fails(&run(&scratch, &["verify", name]), 1, name);
        assert!(line.contains("chunk 2: ") && !line.contains("more"), "{line}");
        // 400, 800 and 1200 bytes come before the fourth chunk.
        let output = run(&scratch, &["d", name, "-", "--bytes", "2400..4000"]);
        assert!(output.status.success() && output.stdout == buffers[3], "{name}");
        assert_fails(&run(&scratch, &["d", name, "-", "--bytes", "1199..1204"]), 1, name);
        if layout == FrameLayout::Sparse {
            fs::remove_file(scratch.join(&file)).unwrap();
            let line = assert_fails(&run(&scratch, &["info", name]), 1, name);
            assert!(line.contains("chunk 2: 00000002.chunk: its file is not there"), "{line}");
        }
    }
}

/// Changes the last byte of each chunk.
fn damage_frame(path: &std::path::Path) {
    let frame = blosc_oxide::Frame::open(path).unwrap();
    let last = |index| frame.chunk_position(index).unwrap().unwrap() + frame.chunk(index).unwrap().len() as u64 - 1;
    let mut bytes = fs::read(path).unwrap();
    (0..frame.nchunks()).for_each(|index| bytes[usize::try_from(last(index)).unwrap()] ^= 1);
    fs::write(path, bytes).unwrap();
}
