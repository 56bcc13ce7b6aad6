//! Memory is bounded, whatever the input is and however many files there are.

mod common;

use common::{BLOSC, Scratch, assert_fails, noise, ramp, run};
use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The most memory that a finished run has used, in KiB, on systems that tell.
#[cfg(target_os = "linux")]
fn peak_memory(arguments: &[&str], feed: usize, scratch: &Scratch) -> u64 {
    let mut child = Command::new(BLOSC)
        .args(arguments)
        .current_dir(&scratch.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let piece = ramp(1 << 18);
            for _ in 0..feed / piece.len() {
                if stdin.write_all(&piece).is_err() {
                    return;
                }
            }
        });
        scope.spawn(move || {
            let mut buffer = vec![0; 1 << 20];
            while stdout.read(&mut buffer).is_ok_and(|count| count > 0) {}
        });
        while child.try_wait().unwrap().is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
            let found = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
            peak = peak.max(found);
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    assert!(child.wait().unwrap().success(), "{arguments:?}");
    peak
}

/// 192 MiB go through; a program that kept them would show it.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_whatever_the_length_of_the_input() {
    const FEED: usize = 192 << 20;
    let scratch = Scratch::new();
    let options = ["--codec", "lz4", "--level", "1", "--typesize", "4"];
    for (target, ceiling) in [("-", 80_000), ("out.blp", 80_000), ("out.b2frame", 80_000), ("out.b2packed", 80_000)] {
        let arguments = [&["-j2", "c", "-", target][..], &options].concat();
        let peak = peak_memory(&arguments, FEED, &scratch);
        assert!(peak < ceiling, "compressing to {target} took {peak} KiB");
    }
    for (source, ceiling) in [("out.blp", 80_000), ("out.b2frame", 80_000), ("out.b2packed", 80_000)] {
        let peak = peak_memory(&["-j2", "d", source, "-"], 0, &scratch);
        assert!(peak < ceiling, "decompressing {source} took {peak} KiB");
    }
    let peak = peak_memory(&["-j2", "convert", "out.b2frame", "again.blp"], 0, &scratch);
    assert!(peak < 100_000, "converting took {peak} KiB");
}

/// An array of 192 MiB whose layers have 16 MiB, in chunks that are 12 layers long: a row of chunks
/// is all of it.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_whatever_the_size_of_arrays() {
    let scratch = Scratch::new();
    let options = ["--codec", "lz4", "--level", "1", "--dtype", "<u4", "--shape", "12,2048,2048"];
    let cells = ["--chunks", "12,128,128", "--blocks", "2,128,128"];
    let arguments = [&["-j2", "c", "-", "out.b2nd"][..], &options, &cells].concat();
    let peak = peak_memory(&arguments, 192 << 20, &scratch);
    assert!(peak < 300_000, "compressing a pipe took {peak} KiB");
    for (arguments, ceiling) in [
        (&["-j2", "d", "out.b2nd", "plain.bin"][..], 100_000),
        (&["-j2", "d", "out.b2nd", "-", "--slice", ":,1:,::-1"], 100_000),
        (&["-j2", "d", "out.b2nd", "-", "--bytes", "1000..150M"], 100_000),
        (&["-j2", "convert", "out.b2nd", "other.b2nd", "--chunks", "3,256,256"], 100_000),
        (&["-j2", "convert", "out.b2nd", "flat.b2frame"], 120_000),
        (&["-j2", "append", "out.b2nd", "plain.bin"], 100_000),
    ] {
        let peak = peak_memory(arguments, 0, &scratch);
        assert!(peak < ceiling, "{arguments:?} took {peak} KiB");
    }
    let arguments = [&["-j2", "c", "plain.bin", "again.b2nd"][..], &options, &cells].concat();
    let peak = peak_memory(&arguments, 0, &scratch);
    assert!(peak < 100_000, "compressing a file took {peak} KiB");
    let facts = String::from_utf8(run(&scratch, &["info", "--json", "again.b2nd"]).stdout).unwrap();
    assert!(facts.contains("\"dead_bytes\": 0"), "{facts}");
}

#[test]
fn a_hostile_size_does_not_get_its_memory() {
    let scratch = Scratch::new();
    scratch.write("zeros.bin", &vec![0; 40 << 20]);
    assert!(run(&scratch, &["c", "zeros.bin", "zeros.chunk"]).status.success());
    assert!(fs::metadata(scratch.join("zeros.chunk")).unwrap().len() < 100);
    let message =
        assert_fails(&run(&scratch, &["--max-memory", "1M", "d", "zeros.chunk", "out"]), 1, "a chunk of zeros");
    assert!(message.contains("--max-memory"), "{message}");
}

/// Compresses files of one chunk each, of this many MiB, into `packed`.
fn pack(scratch: &Scratch, files: &[(&str, usize)]) {
    fs::create_dir(scratch.join("packed")).unwrap();
    for (name, mib) in files {
        let plain = scratch.write("plain", &vec![7; mib << 20]);
        let target = format!("packed/{name}.b2frame");
        let arguments = ["c", "plain", &target, "--chunk-size", "64M", "--codec", "lz4", "--filter", "none"];
        assert!(run(scratch, &arguments).status.success(), "{name}");
        fs::remove_file(plain).unwrap();
    }
}

#[test]
fn a_file_of_a_directory_that_needs_more_than_its_share_of_the_memory_has_it_all() {
    let scratch = Scratch::new();
    pack(&scratch, &[("a", 1), ("large", 8), ("z", 1)]);
    let output = run(&scratch, &["-j4", "--max-memory", "36M", "d", "packed", "-o", "out"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (name, mib) in [("a", 1), ("large", 8), ("z", 1)] {
        assert_eq!(fs::metadata(scratch.join("out").join(name)).unwrap().len(), mib << 20, "{name}");
    }
    let line =
        assert_fails(&run(&scratch, &["-j4", "--max-memory", "28M", "d", "packed", "-o", "less"]), 1, "too little");
    assert!(line.contains("large") && line.contains("--max-memory raises the limit"), "{line}");
    assert!(scratch.join("less/a").exists() && scratch.join("less/z").exists() && !scratch.join("less/large").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn the_files_of_a_directory_share_the_memory() {
    let scratch = Scratch::new();
    pack(&scratch, &[("a", 64), ("b", 64), ("c", 64), ("d", 64)]);
    let peak = peak_memory(&["-j4", "--max-memory", "280M", "d", "packed", "-o", "out"], 0, &scratch);
    assert!(peak < 150_000, "four files of 64 MiB took {peak} KiB");
}

/// Chunks of 15 MiB are nearly a quarter of the memory, in small blocks or in one that is as large,
/// on four threads.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_is_for_the_whole_command() {
    const CEILING: u64 = (64 << 10) + 100_000;
    let scratch = Scratch::new();
    scratch.write("plain", &noise(40 << 20));
    let memory = ["-j4", "--max-memory", "64M"];
    for (name, block) in [("small", 64 << 10), ("large", 15 << 20)] {
        let block = block.to_string();
        for extension in ["b2frame", "sframe", "blp", "b2packed", "b2nd"] {
            let file = format!("{name}.{extension}");
            let sizes = match extension {
                "b2nd" => {
                    ["--shape", "10485760", "--dtype", "<u4", "--chunk-size", "15M", "--block-size", &block].to_vec()
                }
                _ => ["--typesize", "4", "--chunk-size", "15M", "--block-size", &block].to_vec(),
            };
            let (copy, out) = (format!("{file}.copy.b2frame"), format!("{file}.out"));
            for arguments in [
                &[&["c", "--codec", "lz4", "plain", &file][..], &sizes].concat()[..],
                &["d", &file, &out],
                &["d", &file, "-", "--bytes", "10..30M"],
                &["cat", &file],
                &["verify", &file],
                &["convert", &file, &copy],
                &["append", &file, "plain"],
            ] {
                // The journal of such a file has the last chunk twice.
                if extension == "blp" && arguments[0] == "append" {
                    continue;
                }
                let peak = peak_memory(&[&memory[..], arguments].concat(), 0, &scratch);
                assert!(peak < CEILING, "{arguments:?} took {peak} KiB");
            }
        }
    }
    assert!(run(&scratch, &["c", "plain", "larger.b2frame", "--chunk-size", "17M"]).status.success());
    for command in [&["d", "larger.b2frame", "out"][..], &["verify", "larger.b2frame"], &["cat", "larger.b2frame"]] {
        let line = assert_fails(&run(&scratch, &[&memory[..], command].concat()), 1, "a chunk of 17 MiB");
        assert!(line.contains("the limit is 16777216; --max-memory raises the limit"), "{line}");
    }
}
