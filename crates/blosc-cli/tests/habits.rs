//! What every command keeps to: nothing is overwritten, nothing is left behind, memory is bounded, a closed pipe is fine.

mod common;

use common::{BLOSC, Scratch, assert_fails, blosc, blosc_with_input, good, npy, ramp, run};
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
fn an_option_that_means_nothing_for_the_format_is_refused() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    let cases: [(&[&str], &str); 9] = [
        (&["out.b2frame", "--chunks", "10,10"], "--chunks is for b2nd, and the format is b2frame"),
        (&["out.blp", "--blocks", "10"], "--blocks is for b2nd, and the format is blp"),
        (&["out.b2frame", "--blp-version", "2"], "--blp-version is for blp, and the format is b2frame"),
        (
            &["out.b2chunk", "--chunk-size", "1K"],
            "--chunk-size is for files of several chunks, and the format is chunk",
        ),
        (
            &["out.blosc1", "--chunk-size", "1K"],
            "--chunk-size is for files of several chunks, and the format is blosc1",
        ),
        (&["out.b2frame", "--chunk-size", "0"], "--chunk-size 0: a chunk can hold 1 to "),
        (&["out.b2nd", "--chunk-size", "0"], "--chunk-size 0: a chunk can hold 1 to "),
        (&["out.blp", "--chunk-size", "2G"], "--chunk-size 2147483648: a chunk can hold 1 to "),
        (&["out.b2frame", "--checksum", "md5"], "--checksum md5: for b2frame it can be none or xxh3"),
    ];
    for (arguments, why) in cases {
        let line = assert_fails(&run(&scratch, &[&["c", "data.bin"], arguments].concat()), 2, why);
        assert!(line.contains(why), "{arguments:?}: {line}");
    }
    assert_eq!(scratch.names(), ["data.bin"]);
}

#[test]
fn a_bloscpack_file_without_room_for_metadata_is_told_how_to_get_some() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    scratch.write("note.json", br#"{"note":1}"#);
    assert!(run(&scratch, &["c", "data.bin", "data.blp"]).status.success());
    let line = assert_fails(&run(&scratch, &["meta", "set", "data.blp", "metadata", "{}"]), 2, "no room");
    assert!(line.contains("`blosc convert --meta metadata=FILE` makes a file that has"), "{line}");
    assert!(run(&scratch, &["convert", "data.blp", "new.blp", "--meta", "metadata=note.json"]).status.success());
    assert!(run(&scratch, &["meta", "set", "new.blp", "metadata", "{}"]).status.success());
    assert_eq!(run(&scratch, &["meta", "get", "new.blp", "metadata"]).stdout, b"{}");
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

#[test]
fn force_replaces_a_sparse_frame_that_was_locked_once() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    assert!(run(&scratch, &["c", "data.bin", "out.sframe"]).status.success());
    scratch.write("out.sframe/.b2lock", b"");
    assert!(run(&scratch, &["c", "--force", "data.bin", "out.sframe"]).status.success());
    assert!(!scratch.join("out.sframe/.b2lock").exists());
}

#[cfg(unix)]
#[test]
fn an_ignored_signal_stays_ignored() {
    let scratch = Scratch::new();
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$@\"", "sh", BLOSC]);
    let mut child = started_by(ignoring, &scratch, &["c", "-", "out.b2frame"]);
    signal(&child, "HUP");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(scratch.names(), ["out.b2frame"]);
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

/// The binary with no signal ignored, even if the tests are run by a program that ignores some, as `nohup` does.
#[cfg(unix)]
fn unignoring() -> Command {
    let mut command = Command::new("perl");
    command.args(["-e", "$SIG{$_} = 'DEFAULT' for qw(HUP INT TERM); exec @ARGV", BLOSC]);
    command
}

/// Starts the binary on input that never ends, and gives it time to write something.
#[cfg(unix)]
fn started(scratch: &Scratch, arguments: &[&str]) -> std::process::Child {
    started_by(unignoring(), scratch, arguments)
}

#[cfg(unix)]
fn started_by(mut command: Command, scratch: &Scratch, arguments: &[&str]) -> std::process::Child {
    let mut child =
        command.args(arguments).current_dir(&scratch.0).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(&ramp(3_000_000)).unwrap();
    let start = Instant::now();
    while !is_hidden_there(scratch) && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(is_hidden_there(scratch), "it writes to a temporary file");
    child
}

/// Whether there is a temporary file.
#[cfg(unix)]
fn is_hidden_there(scratch: &Scratch) -> bool {
    scratch.names().iter().any(|name| name.starts_with('.'))
}

#[cfg(unix)]
fn signal(child: &std::process::Child, signal: &str) {
    let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// The exit code of a child that a signal has ended.
#[cfg(unix)]
fn interrupt(child: &mut std::process::Child, name: &str) -> Option<i32> {
    // If its input ended, it might be done before it takes notice.
    let _stdin = child.stdin.take();
    signal(child, name);
    child.wait().unwrap().code()
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    for signal in ["INT", "TERM"] {
        for target in ["out.b2frame", "out.sframe", "out.blp"] {
            let scratch = Scratch::new();
            let mut child = started(&scratch, &["c", "-", target]);
            assert_eq!(interrupt(&mut child, signal), Some(130), "{signal} {target}");
            assert_eq!(scratch.names(), Vec::<String>::new(), "{signal} {target}");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_append_leaves_nothing_behind() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100_000));
    assert!(run(&scratch, &["c", "data.bin", "data.blp"]).status.success());
    let before = fs::read(scratch.join("data.blp")).unwrap();
    let mut child = started(&scratch, &["append", "data.blp", "-"]);
    assert_eq!(interrupt(&mut child, "INT"), Some(130));
    assert_eq!(scratch.names(), ["data.bin", "data.blp"]);
    assert_eq!(good([std::ffi::OsStr::new("cat"), scratch.join("data.blp").as_os_str()]), ramp(100_000));
    assert!(run(&scratch, &["append", "data.blp", "data.bin"]).status.success());
    assert!(fs::read(scratch.join("data.blp")).unwrap() != before);
}

#[cfg(unix)]
#[test]
fn an_append_through_a_link_changes_the_file_that_it_leads_to() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("far")).unwrap();
    scratch.write("data.bin", &ramp(100_000));
    for name in ["data.b2frame", "data.blp", "data.b2packed"] {
        assert!(run(&scratch, &["c", "data.bin", &format!("far/{name}"), "--chunk-size", "64K"]).status.success());
        std::os::unix::fs::symlink(format!("far/{name}"), scratch.join(name)).unwrap();
        // A Bloscpack file has room for ten times as many chunks; then it is written anew.
        for _ in 0..12 {
            assert!(run(&scratch, &["append", name, "data.bin"]).status.success());
        }
        assert!(scratch.join(name).symlink_metadata().unwrap().is_symlink(), "{name}");
        let far = scratch.join("far").join(name);
        assert_eq!(good([std::ffi::OsStr::new("cat"), far.as_os_str()]), ramp(100_000).repeat(13), "{name}");
    }
    assert_eq!(fs::read_dir(scratch.join("far")).unwrap().count(), 3, "nothing is left there");
}

#[test]
fn a_file_is_not_appended_to_itself() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    for name in ["out.b2frame", "out.b2nd", "out.blp", "out.b2packed"] {
        assert!(run(&scratch, &["c", "data.bin", name]).status.success());
        let before = fs::read(scratch.join(name)).unwrap();
        let line = assert_fails(&run(&scratch, &["append", name, &format!("./{name}")]), 2, name);
        assert!(line.contains("to itself"), "{line}");
        assert!(fs::read(scratch.join(name)).unwrap() == before, "{name}");
    }
}

/// Bytes that do not get smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..len).map(next).collect()
}

/// How many bytes are in a directory and those below it.
#[cfg(unix)]
fn size_of(directory: &std::path::Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Kills an append of data that never ends when it has written something.
#[cfg(unix)]
fn kill_append(scratch: &Scratch, name: &str) {
    let before = size_of(&scratch.0);
    let mut child = Command::new(BLOSC)
        .args(["append", name, "-"])
        .current_dir(&scratch.0)
        // An array takes what comes through a pipe from a temporary file.
        .env("TMPDIR", &scratch.0)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(&noise(4 << 20)).unwrap();
    let start = Instant::now();
    while size_of(&scratch.0) == before && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(size_of(&scratch.0) > before, "{name}: nothing was written");
    assert_eq!(interrupt(&mut child, "KILL"), None);
}

#[cfg(unix)]
#[test]
fn a_killed_append_leaves_a_file_that_is_read_and_appended_to() {
    for name in ["out.b2frame", "out.sframe", "out.b2nd", "out.blp", "out.b2packed"] {
        let scratch = Scratch::new();
        scratch.write("data.bin", &ramp(100_000));
        assert!(run(&scratch, &["c", "data.bin", name, "--chunk-size", "64K"]).status.success());
        kill_append(&scratch, name);
        assert_eq!(run(&scratch, &["cat", name]).stdout, ramp(100_000), "{name}");
        if name.ends_with(".blp") {
            let line = assert_fails(&run(&scratch, &["verify", name]), 1, name);
            assert!(line.contains("`blosc repair`"), "{line}");
            assert!(run(&scratch, &["repair", name]).status.success());
        }
        let verified = run(&scratch, &["verify", name]);
        assert!(verified.status.success(), "{name}: {}", String::from_utf8_lossy(&verified.stderr));
        assert!(run(&scratch, &["append", name, "data.bin"]).status.success(), "{name}");
        assert_eq!(run(&scratch, &["cat", name]).stdout, ramp(100_000).repeat(2), "{name}");
    }
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

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_seems_empty_is_read_to_its_end() {
    let scratch = Scratch::new();
    for name in ["out.b2frame", "out.blp", "out.chunk"] {
        let made = run(&scratch, &["c", "/proc/version", name]);
        assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
        assert_eq!(run(&scratch, &["cat", name]).stdout, fs::read("/proc/version").unwrap(), "{name}");
    }
    // An array must be told how long it is, as for a pipe.
    assert!(assert_fails(&run(&scratch, &["c", "/proc/version", "out.b2nd"]), 2, "an array").contains("--shape"));
    let length = fs::read("/proc/version").unwrap().len().to_string();
    assert!(run(&scratch, &["c", "/proc/version", "out.b2nd", "--shape", &length]).status.success());
    assert_eq!(run(&scratch, &["cat", "out.b2nd"]).stdout, fs::read("/proc/version").unwrap());
    scratch.write("empty", b"");
    for name in ["empty.b2frame", "empty.b2nd", "empty.blp"] {
        assert!(run(&scratch, &["c", "empty", name]).status.success(), "{name}");
        assert!(run(&scratch, &["cat", name]).stdout.is_empty(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn standard_input_is_named_once() {
    let blp = good(["c", "/dev/null", "-"]);
    for input in [&b"this is no frame at all"[..], &[&blp[..], b"behind"].concat(), &blp[..20]] {
        let line = assert_fails(&blosc_with_input(["d", "-", "-"], input), 1, "damage");
        assert_eq!(line.matches("standard input").count(), 1, "{line}");
    }
}

#[test]
fn a_directory_with_the_name_of_a_compressed_file_is_looked_into() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.join("runs/first.blp")).unwrap();
    scratch.write("runs/first.blp/a.bin", &ramp(1000));
    assert!(run(&scratch, &["c", "runs/first.blp/a.bin", "runs/frame", "--format", "sframe"]).status.success());
    assert!(run(&scratch, &["c", "runs", "out"]).status.success());
    assert!(scratch.join("out/first.blp/a.bin.b2frame").is_file());
    assert!(!scratch.join("out/frame").exists(), "a sparse frame is compressed, whatever its name is");
}

/// Data that fails when much of it has been taken already.
fn cut_off() -> Vec<u8> {
    let mut file = npy("<i4", "(500000, 10)", &ramp(5_000_000));
    file.truncate(file.len() - 3);
    file
}

#[test]
fn a_failed_append_changes_nothing() {
    let scratch = Scratch::new();
    scratch.write("small.npy", &npy("<i4", "(1000, 10)", &ramp(10_000)));
    for name in ["out.b2frame", "out.sframe", "out.b2nd", "out.blp", "out.b2packed"] {
        assert!(run(&scratch, &["c", "small.npy", name, "--chunk-size", "64K"]).status.success());
        let target = scratch.join(name);
        let failed = blosc_with_input(["append", target.to_str().unwrap(), "-"], &cut_off());
        let line = assert_fails(&failed, 1, name);
        assert!(line.contains("cut off"), "{line}");
        assert_eq!(good(["cat", target.to_str().unwrap()]), ramp(10_000), "{name}");
        good(["-q", "verify", target.to_str().unwrap()]);
        assert!(run(&scratch, &["append", name, "small.npy"]).status.success(), "{name}");
        assert_eq!(good(["cat", target.to_str().unwrap()]), [ramp(10_000), ramp(10_000)].concat(), "{name}");
    }
}

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn results_are_as_private_as_what_they_are_made_of() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let data = scratch.write("data.bin", &ramp(100_000));
    for (wanted, of_directory) in [(0o600, 0o700), (0o640, 0o750), (0o444, 0o755)] {
        fs::set_permissions(&data, fs::Permissions::from_mode(wanted)).unwrap();
        for name in ["out.b2frame", "out.b2nd", "out.blp", "out.chunk", "out.b2packed"] {
            assert!(run(&scratch, &["c", "--force", "data.bin", name]).status.success());
            assert_eq!(mode(&scratch.join(name)), wanted, "{name}");
            assert!(run(&scratch, &["d", "--force", name, "back"]).status.success());
            assert_eq!(mode(&scratch.join("back")), wanted, "{name}");
            assert!(run(&scratch, &["convert", "--force", name, "other.b2frame"]).status.success());
            assert_eq!(mode(&scratch.join("other.b2frame")), wanted, "{name}");
        }
        assert!(run(&scratch, &["c", "--force", "data.bin", "out.sframe"]).status.success());
        assert_eq!(mode(&scratch.join("out.sframe")), of_directory);
        assert_eq!(mode(&scratch.join("out.sframe/chunks.b2frame")), wanted);
        assert!(run(&scratch, &["d", "--force", "out.sframe", "back"]).status.success());
        assert_eq!(mode(&scratch.join("back")), wanted);
    }
    let mut child = started(&scratch, &["c", "-", "late.b2frame"]);
    let hidden = scratch.names().into_iter().find(|name| name.starts_with('.')).unwrap();
    assert_eq!(mode(&scratch.join(hidden)), 0o700);
    assert_eq!(interrupt(&mut child, "TERM"), Some(130));
}

#[test]
fn two_files_do_not_become_one() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("packed")).unwrap();
    scratch.write("data.bin", &ramp(1000));
    for name in ["packed/data.b2frame", "packed/data.blp", "packed/other.blp"] {
        assert!(run(&scratch, &["c", "data.bin", name]).status.success());
    }
    let line = assert_fails(&run(&scratch, &["d", "packed", "plain"]), 2, "two of a name");
    assert!(line.contains("data.b2frame") && line.contains("data.blp"), "{line}");
    assert!(!scratch.join("plain").exists());
}

#[test]
fn files_that_are_left_alone_are_told() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("runs")).unwrap();
    scratch.write("runs/a.bin", &ramp(1000));
    scratch.write("runs/.hidden", &ramp(1000));
    assert!(run(&scratch, &["c", "runs/a.bin", "runs/b.blp"]).status.success());
    let output = run(&scratch, &["c", "runs", "out"]);
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("blosc: runs: 2 left alone") && told.lines().count() == 1, "{told}");
    let told = String::from_utf8(run(&scratch, &["--verbose", "c", "--force", "runs", "out"]).stderr).unwrap();
    assert!(told.contains("runs/.hidden: left alone") && told.contains("runs/b.blp: left alone"), "{told}");
    assert!(run(&scratch, &["-q", "c", "--force", "runs", "out"]).stderr.is_empty());
    for command in ["c", "d"] {
        let line = assert_fails(&run(&scratch, &[command, "runs", "-"]), 2, command);
        assert!(line.contains("standard output"), "{line}");
    }
    assert!(!scratch.join("-").exists());
}

#[test]
fn the_worst_of_several_inputs_is_the_exit_code() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100_000));
    assert!(run(&scratch, &["c", "data.bin", "good.b2frame"]).status.success());
    scratch.write("none.b2frame", b"this is no frame at all, only some text");
    for command in ["verify", "info"] {
        for (files, code) in [
            (["good.b2frame", "none.b2frame", "missing"], 2),
            (["missing", "none.b2frame", "good.b2frame"], 2),
            (["good.b2frame", "none.b2frame", "good.b2frame"], 1),
        ] {
            let output = run(&scratch, &[&[command][..], &files].concat());
            assert_eq!(output.status.code(), Some(code), "{command} {files:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn nothing_that_is_printed_moves_the_cursor() {
    let scratch = Scratch::new();
    let name = "red\u{1b}[31m.b2frame";
    scratch.write("data.bin", &ramp(1000));
    assert!(run(&scratch, &["c", "data.bin", name]).status.success());
    assert!(run(&scratch, &["meta", "set", name, "bell\u{7}\u{1b}[2J", "x"]).status.success());
    for arguments in [&["info", name][..], &["meta", "list", name], &["verify", name], &["compact", name]] {
        let output = run(&scratch, arguments);
        assert!(output.status.success(), "{arguments:?}");
        assert!(!output.stdout.contains(&0x1b) && !output.stdout.contains(&7), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
    let line = assert_fails(&run(&scratch, &["c", "data.bin", name]), 2, "a name");
    assert!(!line.contains('\u{1b}') && line.contains("\\u{1b}"), "{line}");
}

#[cfg(unix)]
#[test]
fn one_process_changes_a_file_at_a_time() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    for name in ["out.b2frame", "out.sframe", "out.b2nd", "out.blp", "out.b2packed"] {
        assert!(run(&scratch, &["c", "data.bin", name]).status.success());
        let other = fs::File::open(scratch.join(name)).unwrap();
        other.lock().unwrap();
        let line = assert_fails(&run(&scratch, &["append", name, "data.bin"]), 2, name);
        assert!(line.contains("another process"), "{line}");
        if !name.ends_with("packed") && !name.ends_with("blp") {
            assert_fails(&run(&scratch, &["meta", "set", name, "unit", "kelvin"]), 2, name);
            assert_fails(&run(&scratch, &["compact", name]), 2, name);
        }
        drop(other);
        assert!(run(&scratch, &["append", name, "data.bin"]).status.success());
    }
    // The lock of python-blosc2 and of the library.
    let lock = fs::File::create(scratch.join("out.b2frame.b2lock")).unwrap();
    lock.lock().unwrap();
    let line = assert_fails(&run(&scratch, &["append", "out.b2frame", "data.bin"]), 2, "a lock file");
    assert!(line.contains("b2lock"), "{line}");
    lock.unlock().unwrap();
    assert!(run(&scratch, &["append", "out.b2frame", "data.bin"]).status.success());
}

#[test]
fn man_pages_are_not_written_over_other_files() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("man")).unwrap();
    scratch.write("man/blosc-info.1", b"precious");
    assert!(assert_fails(&run(&scratch, &["man", "man"]), 2, "man").contains("--force"));
    assert_eq!(fs::read_dir(scratch.join("man")).unwrap().count(), 1);
    assert!(run(&scratch, &["man", "--force", "man"]).status.success());
}

#[cfg(unix)]
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

/// Changes the last byte of each chunk.
fn damage_frame(path: &std::path::Path) {
    let frame = blosc_oxide::Frame::open(path).unwrap();
    let last = |index| frame.chunk_position(index).unwrap().unwrap() + frame.chunk(index).unwrap().len() as u64 - 1;
    let mut bytes = fs::read(path).unwrap();
    (0..frame.nchunks()).for_each(|index| bytes[usize::try_from(last(index)).unwrap()] ^= 1);
    fs::write(path, bytes).unwrap();
}

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

/// An array of 192 MiB whose layers have 16 MiB, in chunks that are 12 layers long: a row of chunks is all of it.
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
