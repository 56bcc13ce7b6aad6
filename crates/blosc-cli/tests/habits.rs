//! What every command keeps to: nothing is overwritten, nothing is left behind, memory is bounded, a closed pipe is fine.

mod common;

use common::{BLOSC, Scratch, assert_fails, blosc, blosc_with_input, good, ramp, run};
use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn nothing_is_overwritten_without_force() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    scratch.write("out.b2frame", b"precious");
    for arguments in [&["c", "data.bin", "out.b2frame"][..], &["c", "data.bin", "data.bin"]] {
        assert!(assert_fails(&run(&scratch, arguments), 2, "overwriting").contains("--force"));
    }
    assert_eq!(fs::read(scratch.join("out.b2frame")).unwrap(), b"precious");
    assert!(run(&scratch, &["c", "--force", "data.bin", "out.b2frame"]).status.success());
    assert!(run(&scratch, &["c", "--force", "--format", "sframe", "data.bin", "out.b2frame"]).status.success());
    assert!(run(&scratch, &["c", "--force", "data.bin", "out.b2frame"]).status.success());
    assert_eq!(scratch.names(), ["data.bin", "out.b2frame"]);
}

#[test]
fn force_does_not_remove_directories_of_other_things() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    fs::create_dir(scratch.join("results")).unwrap();
    scratch.write("results/thesis.txt", b"years of work");
    for arguments in
        [&["c", "--force", "data.bin", "results"][..], &["c", "--force", "--format", "sframe", "data.bin", "results"]]
    {
        let line = assert_fails(&run(&scratch, arguments), 2, "a directory");
        assert!(line.contains("no sparse frame"), "{line}");
    }
    assert!(run(&scratch, &["c", "--format", "sframe", "data.bin", "frame"]).status.success());
    scratch.write("frame/notes.txt", b"not of the frame");
    assert_fails(&run(&scratch, &["c", "--force", "data.bin", "frame"]), 2, "a frame and something else");
    assert_eq!(fs::read(scratch.join("results/thesis.txt")).unwrap(), b"years of work");
    assert_eq!(scratch.names(), ["data.bin", "frame", "results"]);
}

#[cfg(unix)]
#[test]
fn force_does_not_replace_devices() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    let line = assert_fails(&run(&scratch, &["c", "--force", "data.bin", "/dev/null"]), 2, "a device");
    assert!(line.contains("no regular file"), "{line}");
}

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

/// Starts the binary on input that never ends, and gives it time to write something.
#[cfg(unix)]
fn started(scratch: &Scratch, target: &str) -> std::process::Child {
    let mut child = Command::new(BLOSC)
        .args(["c", "-", target])
        .current_dir(&scratch.0)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(&ramp(3_000_000)).unwrap();
    let start = Instant::now();
    while scratch.names().is_empty() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_ne!(scratch.names(), Vec::<String>::new(), "it writes to a temporary file");
    child
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    for signal in ["INT", "TERM"] {
        for target in ["out.b2frame", "out.sframe", "out.blp"] {
            let scratch = Scratch::new();
            let mut child = started(&scratch, target);
            let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
            assert!(kill.success());
            let status = child.wait().unwrap();
            assert_eq!(status.code(), Some(130), "{signal} {target}");
            assert_eq!(scratch.names(), Vec::<String>::new(), "{signal} {target}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1_000_000));
    assert!(run(&scratch, &["c", "data.bin", "--chunk-size", "100K"]).status.success());
    assert!(run(&scratch, &["c", "data.bin", "data.blp"]).status.success());
    for command in [
        "blosc d data.bin.b2frame - | head -c 10",
        "blosc d data.blp - | head -c 10",
        "blosc cat data.bin.b2frame data.blp | head -c 10",
        "blosc info --chunks data.bin.b2frame data.bin.b2frame data.bin.b2frame | head -1",
        "blosc c data.bin - | head -c 10",
        "blosc --help | head -1",
    ] {
        let (program, consumer) = command.split_once(" | ").unwrap();
        let script = format!("{{ {}; echo $? >code; }} | {consumer} >/dev/null", program.replacen("blosc", BLOSC, 1));
        let output = Command::new("sh").args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
        assert_eq!(fs::read_to_string(scratch.join("code")).unwrap().trim(), "0", "{command}");
    }
}

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

#[test]
fn a_frame_can_come_through_a_pipe() {
    let scratch = Scratch::new();
    let data = ramp(100_000);
    for format in ["b2frame", "b2nd", "blp", "chunk", "packed", "frame-beta5"] {
        scratch.write("data.bin", &data);
        let packed = run(&scratch, &["c", "data.bin", "-", "--format", format]);
        assert!(packed.status.success(), "{format}");
        let output = blosc_with_input(["d", "-", "-"], &packed.stdout);
        assert!(output.status.success() && output.stdout == data, "{format}");
        let output = blosc_with_input(["info", "--json", "-"], &packed.stdout);
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("\"format\": \"{format}\"")), "{format}");
        assert_eq!(blosc_with_input(["cat", "-"], &packed.stdout).stdout, data, "{format}");
    }
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

#[test]
fn help_is_there_for_every_command() {
    let names = ["compress", "decompress", "info", "verify", "convert", "append", "meta", "compact", "repair", "cat"];
    for name in names {
        let text = String::from_utf8(good([name, "--help"])).unwrap();
        assert!(text.contains(&format!("Usage: blosc {name}")), "{name}");
    }
    for (alias, name) in [("c", "compress"), ("d", "decompress"), ("i", "info"), ("v", "verify")] {
        assert_eq!(good([alias, "--help"]), good([name, "--help"]));
    }
    assert_fails(&blosc(["compres"]), 2, "a misspelt command");
}
