//! What an append leaves behind: all of its data or nothing of it, whatever happens.

#[cfg(unix)]
use crate::common::interruption::{interrupt, started};
use crate::common::{BLOSC, Scratch, assert_fails, blosc_with_input, good, noise, npy, ramp, run};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    for name in ["out.b2frame", "out.sframe", "out.b2nd"] {
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

/// Runs the command with a limit on the size of files, in blocks of 512 or 1024 bytes as the shell
/// counts them.
#[cfg(unix)]
fn run_limited(scratch: &Scratch, blocks: u64, arguments: &[&str]) -> std::process::Output {
    Command::new("sh")
        .args(["-c", "ulimit -f \"$0\" && exec \"$@\"", &blocks.to_string(), BLOSC])
        .args(arguments)
        .current_dir(&scratch.0)
        .output()
        .unwrap()
}

/// A limit on the size of a file takes the place of a full disk.
#[cfg(unix)]
#[test]
fn an_append_that_finds_no_room_gives_back_what_it_has_taken() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &noise(1 << 20));
    scratch.write("more.bin", &noise(8 << 20));
    scratch.write("small.bin", &noise(1000));
    for name in ["out.b2frame", "out.b2nd", "out.b2packed"] {
        assert!(run(&scratch, &["c", "data.bin", name, "--chunk-size", "256K"]).status.success());
        let before = fs::metadata(scratch.join(name)).unwrap().len();
        let line = assert_fails(&run_limited(&scratch, 6 << 10, &["append", name, "more.bin"]), 2, name);
        assert!(line.contains("too large") || line.contains("File"), "{line}");
        assert_eq!(fs::metadata(scratch.join(name)).unwrap().len(), before, "{name}: its space is not given back");
        assert!(run_limited(&scratch, 6 << 10, &["append", name, "small.bin"]).status.success(), "{name}");
        if name != "out.b2packed" {
            assert!(run_limited(&scratch, 6 << 10, &["compact", name]).status.success(), "{name}");
        }
        let expected = [noise(1 << 20), noise(1000)].concat();
        assert!(run(&scratch, &["cat", name]).stdout == expected, "{name}");
    }
}

/// Appends to a sparse frame fill up its last chunk, whose file is then another one.
#[cfg(unix)]
#[test]
fn readers_of_a_sparse_frame_see_what_was_committed_while_it_grows() {
    const PART: usize = 3000;
    let scratch = Scratch::new();
    let data = noise(100 * PART);
    scratch.write("data.bin", &data[..PART]);
    assert!(
        run(&scratch, &["c", "data.bin", "-o", "out", "--format", "sframe", "--chunk-size", "16K"]).status.success()
    );
    let done = std::sync::atomic::AtomicBool::new(false);
    let reads = std::thread::scope(|scope| {
        let reader = || {
            let mut seen = Vec::new();
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let output = run(&scratch, &["decompress", "out", "-"]);
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "after {seen:?}: {told}");
                assert!(
                    data.starts_with(&output.stdout) && output.stdout.len().is_multiple_of(PART),
                    "{}",
                    output.stdout.len()
                );
                seen.push(output.stdout.len() / PART);
            }
            assert!(seen.is_sorted(), "{seen:?}");
            seen.len()
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        for part in data.chunks(PART).skip(1) {
            let out = scratch.join("out");
            let appended = blosc_with_input(["append".as_ref(), out.as_os_str(), "-".as_ref()], part);
            assert!(appended.status.success(), "{}", String::from_utf8_lossy(&appended.stderr));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        readers.map(|reader| reader.join().unwrap())
    });
    assert!(reads.iter().all(|&reads| reads > 10), "{reads:?}");
    assert!(run(&scratch, &["cat", "out"]).stdout == data);
    assert!(run(&scratch, &["compact", "out"]).status.success());
    assert!(run(&scratch, &["verify", "out"]).status.success());
}

#[test]
fn two_appends_at_once_are_told_apart() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100_000));
    for name in ["out.b2frame", "out.b2nd", "out.b2packed", "out.d"] {
        let sparse: &[&str] = if name == "out.d" { &["--format", "sframe"] } else { &[] };
        assert!(run(&scratch, &[&["c", "data.bin", "-o", name], sparse].concat()).status.success(), "{name}");
        let mut first = Command::new(BLOSC)
            .args(["append", name, "-"])
            .current_dir(&scratch.0)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = first.stdin.take().unwrap();
        input.write_all(&noise(5 << 20)).unwrap();
        let start = Instant::now();
        // The first one has the frame as soon as it has begun; an array is read to its end before.
        let second = loop {
            let second = run(&scratch, &["append", name, "data.bin"]);
            if !second.status.success() || name == "out.b2nd" || start.elapsed() > Duration::from_secs(20) {
                break second;
            }
        };
        if name != "out.b2nd" {
            assert!(assert_fails(&second, 2, name).contains("try again"), "{name}");
        }
        drop(input);
        assert!(first.wait().unwrap().success(), "{name}");
        let all = run(&scratch, &["cat", name]).stdout;
        assert!(all.starts_with(&ramp(100_000)) && all.ends_with(&noise(5 << 20)), "{name}: {} bytes", all.len());
    }
}

/// The file is locked as by somebody who appends to it and has written its data, but not that they
/// count.
#[cfg(unix)]
#[test]
fn a_bloscpack_file_that_is_being_appended_to_is_not_called_damaged() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(100_000));
    assert!(run(&scratch, &["c", "data.bin", "data.blp", "--chunk-size", "64K"]).status.success());
    let mut bytes = fs::read(scratch.join("data.blp")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    bytes.extend(noise(1000));
    scratch.write("data.blp", &bytes);
    let commands = [&["verify", "data.blp"][..], &["cat", "data.blp"], &["d", "data.blp", "out"]];
    let commands = commands.into_iter().chain([&["convert", "data.blp", "out.b2frame"][..]]);
    for command in commands {
        let line = assert_fails(&run(&scratch, command), 1, command[0]);
        assert!(line.contains("is stored") || line.contains("belong to nothing"), "{line}");
        let appender = fs::File::open(scratch.join("data.blp")).unwrap();
        appender.lock().unwrap();
        let line = assert_fails(&run(&scratch, command), 2, command[0]);
        assert!(line.contains("another process has changed it while it was read; try again"), "{line}");
    }
}
