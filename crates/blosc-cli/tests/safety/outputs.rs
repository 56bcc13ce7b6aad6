//! What is at the target, whatever happens: the old or the new, on the disk, and never over
//! something else.
#![cfg(unix)]

use crate::common::interruption::{interrupt, is_hidden_there, started_by};
use crate::common::{BLOSC, Scratch, assert_fails, mode, noise, ramp, run};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

/// Runs a line of the shell in a directory, with `blosc` standing for the binary.
fn shell(scratch: &Scratch, line: &str) -> std::process::Output {
    let line = format!("blosc() {{ {BLOSC} \"$@\"; }}; {line}");
    Command::new("bash").args(["-c", &line]).current_dir(&scratch.0).output().unwrap()
}

/// The system calls of a run that concern files, one a line; `None` if there is no strace to tell.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
fn system_calls(scratch: &Scratch, arguments: &[&str]) -> Option<Vec<String>> {
    let calls = "trace=openat,fsync,rename,renameat,renameat2,link,linkat,mkdir";
    let log = scratch.join("strace.log");
    let strace = Command::new("strace")
        .args(["-f", "-y", "-qq", "-e", calls, "-o"])
        .arg(&log)
        .arg(BLOSC)
        .args(arguments)
        .current_dir(&scratch.0)
        .output();
    let Ok(output) = strace else {
        eprintln!("SKIPPED: strace is not installed; the order of system calls is not checked");
        return None;
    };
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&log).unwrap();
    fs::remove_file(log).unwrap();
    Some(text.lines().filter(|line| !line.contains("ENOENT")).map(str::to_owned).collect())
}

fn position(calls: &[String], what: &str, is_it: impl Fn(&str) -> bool) -> usize {
    calls.iter().position(|call| is_it(call)).unwrap_or_else(|| panic!("{what} is missing in {calls:#?}"))
}

#[test]
fn results_are_on_the_disk_before_they_get_their_name_and_so_is_the_name() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(10_000));
    for arguments in
        [&["c", "data.bin", "out.b2frame"][..], &["c", "data.bin", "out.blp"], &["c", "data.bin", "o.b2nd"]]
    {
        assert!(run(&scratch, arguments).status.success());
    }
    assert!(run(&scratch, &["c", "data.bin", "old.b2frame"]).status.success());
    let runs: [&[&str]; 8] = [
        &["c", "data.bin", "new.b2frame"],
        &["c", "--force", "data.bin", "old.b2frame"],
        &["d", "out.b2frame", "plain"],
        &["d", "--force", "out.b2frame", "plain"],
        &["convert", "out.b2frame", "new.blp"],
        &["convert", "--force", "--level", "9", "o.b2nd", "o.b2nd"],
        &["repair", "out.b2frame", "mended.b2frame"],
        &["tune", "--sample", "1K", "--html", "page.html", "data.bin"],
    ];
    let directory = scratch.0.canonicalize().unwrap();
    for arguments in runs {
        let Some(calls) = system_calls(&scratch, arguments) else { return };
        let written =
            position(&calls, "fsync of the file", |call| call.contains("fsync(") && call.contains(".tmp/new>"));
        // Not the one that gives a new frame its name in the temporary directory.
        let renamed = position(&calls, "rename", |call| {
            call.contains("rename") && [".tmp/new\", AT_FDCWD", ".tmp/new\", \""].iter().any(|from| call.contains(from))
        });
        let named = position(&calls, "fsync of the directory", |call| {
            call.contains("fsync(") && call.contains(&format!("<{}>", directory.display()))
        });
        assert!(written < renamed && renamed < named, "{arguments:?}: {calls:#?}");
        let is_free = !arguments.contains(&"--force");
        assert_eq!(calls[renamed].contains("RENAME_NOREPLACE"), is_free, "{arguments:?}: {}", calls[renamed]);
    }
    let Some(calls) = system_calls(&scratch, &["c", "--no-sync", "data.bin", "quick.b2frame"]) else { return };
    assert!(!calls.iter().any(|call| call.contains("fsync(")), "{calls:#?}");
}

#[test]
fn a_directory_is_replaced_in_one_step_when_all_of_it_is_on_the_disk() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(10_000));
    assert!(run(&scratch, &["c", "data.bin", "out.sframe"]).status.success());
    let Some(calls) = system_calls(&scratch, &["c", "--force", "data.bin", "out.sframe"]) else { return };
    let exchanged = position(&calls, "exchange", |call| call.contains("RENAME_EXCHANGE"));
    for synced in ["/new/chunks.b2frame>", "/new/00000000.chunk>", "/new>"] {
        assert!(position(&calls, synced, |call| call.contains("fsync(") && call.contains(synced)) < exchanged);
    }
    let renames = calls.iter().filter(|call| call.contains("rename") && call.contains("\"out.sframe\""));
    assert_eq!(renames.count(), 1, "{calls:#?}");
    assert_eq!(scratch.names(), ["data.bin", "out.sframe"]);
}

/// What a run ends with if system calls fail as strace's `inject` says; `None` if there is no
/// strace to make them fail.
#[cfg(target_arch = "x86_64")]
fn with_faults(scratch: &Scratch, faults: &[&str], arguments: &[&str]) -> Option<std::process::Output> {
    let injected = faults.iter().flat_map(|fault| ["-e".to_owned(), format!("inject={fault}")]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null"]).args(injected);
    strace.arg(BLOSC).args(arguments).current_dir(&scratch.0).output().ok()
}

/// Files and sparse frames that are there already, with what makes them, and what they are replaced
/// by.
#[cfg(target_arch = "x86_64")]
const REPLACED: [[&str; 4]; 4] = [
    ["data.bin", "old.b2frame", "new.b2frame", "file by file"],
    ["data.bin", "old.sframe", "new.sframe", "directory by directory"],
    ["data.bin", "file.sframe", "new.sframe", "file by directory"],
    ["data.bin", "directory.b2frame", "new.b2frame", "directory by file"],
];

/// Runs `check` for each of them with the old at the target, `faults` and the arguments that
/// replace it.
#[cfg(target_arch = "x86_64")]
fn replace_each(check: impl Fn(&Scratch, &str, &[&str])) {
    for [data, old, new, what] in REPLACED {
        let scratch = Scratch::new();
        scratch.write(data, &ramp(10_000));
        scratch.write("other.bin", &noise(9_000));
        let format = if what.starts_with("directory") { "sframe" } else { "b2frame" };
        assert!(run(&scratch, &["c", "--format", format, data, old]).status.success(), "{what}");
        assert!(run(&scratch, &["c", "other.bin", new]).status.success(), "{what}");
        let format = if what.ends_with("directory") { "sframe" } else { "b2frame" };
        check(&scratch, old, &["convert", "--force", "--format", format, new, "-o", old]);
    }
}

#[cfg(target_arch = "x86_64")]
fn content(scratch: &Scratch, name: &str) -> Vec<u8> {
    let output = run(scratch, &["cat", name]);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Linux before 3.15, or a file system that knows neither `RENAME_NOREPLACE` nor `RENAME_EXCHANGE`,
/// perhaps without links.
#[test]
#[cfg(target_arch = "x86_64")]
fn results_get_their_place_where_names_cannot_be_exchanged() {
    let old_systems: [&[&str]; 4] = [
        &["renameat2:error=ENOSYS"],
        &["renameat2:error=EINVAL"],
        &["renameat2:error=EOPNOTSUPP"],
        &["renameat2:error=EINVAL", "link:error=EPERM", "linkat:error=EPERM"],
    ];
    for faults in old_systems {
        let is_missing = std::cell::Cell::new(false);
        replace_each(|scratch, old, arguments| {
            let names = scratch.names();
            let Some(output) = with_faults(scratch, faults, arguments) else { return is_missing.set(true) };
            assert!(output.status.success(), "{faults:?} {old}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(content(scratch, old), noise(9_000), "{faults:?} {old}");
            assert_eq!(scratch.names(), names, "{faults:?} {old}");
            for free in ["free.b2frame", "free.sframe"] {
                let output = with_faults(scratch, faults, &["c", "data.bin", free]).unwrap();
                assert!(output.status.success(), "{faults:?} {free}: {}", String::from_utf8_lossy(&output.stderr));
                assert_eq!(content(scratch, free), ramp(10_000));
                let output = with_faults(scratch, faults, &["c", "other.bin", free]).unwrap();
                assert_fails(&output, 2, "without --force");
                assert_eq!(content(scratch, free), ramp(10_000), "{faults:?}");
            }
            assert_eq!(scratch.names().len(), names.len() + 2, "{faults:?} {old}: {:?}", scratch.names());
        });
        if is_missing.get() {
            return;
        }
    }
}

/// The directory cannot be synced, which is found out when the new is at its place.
#[test]
#[cfg(target_arch = "x86_64")]
fn what_was_there_comes_back_where_names_cannot_be_exchanged() {
    for links in [true, false] {
        replace_each(|scratch, old, arguments| {
            let names = scratch.names();
            // Without links a file has no second name, and is gone when another is renamed over it.
            let is_over = !links && !scratch.join(old).is_dir() && arguments.contains(&"b2frame");
            // A run that nothing disturbs tells how many syncs there are; then all is as before.
            assert!(shell(scratch, &format!("cp -a {old} saved")).status.success());
            let Some(calls) = system_calls(scratch, arguments) else { return };
            assert!(shell(scratch, &format!("rm -r {old} && mv saved {old}")).status.success());
            let syncs = calls.iter().filter(|call| call.contains("fsync(")).count();
            let last = format!("fsync:error=EIO:when={syncs}");
            let mut faults = vec!["renameat2:error=ENOSYS", last.as_str()];
            if !links {
                faults.extend(["link:error=EPERM", "linkat:error=EPERM"]);
            }
            let output = with_faults(scratch, &faults, arguments).unwrap();
            let line = assert_fails(&output, 2, old);
            assert_eq!(line.contains("the result is there, but a power cut may lose it"), is_over, "{old}: {line}");
            assert_eq!(content(scratch, old), if is_over { noise(9_000) } else { ramp(10_000) }, "{old}");
            assert_eq!(scratch.names(), names, "{old}");
        });
    }
}

#[test]
fn a_link_as_output_is_replaced_and_not_followed() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    assert!(run(&scratch, &["c", "data.bin", "real.b2frame"]).status.success());
    let before = fs::read(scratch.join("real.b2frame")).unwrap();
    symlink("real.b2frame", scratch.join("link.b2frame")).unwrap();
    symlink("nowhere", scratch.join("dangling.b2frame")).unwrap();
    for name in ["link.b2frame", "dangling.b2frame"] {
        assert_fails(&run(&scratch, &["c", "data.bin", name]), 2, name);
        assert!(run(&scratch, &["c", "--force", "--level", "9", "data.bin", name]).status.success());
        assert!(scratch.join(name).symlink_metadata().unwrap().is_file(), "{name}");
    }
    assert!(!scratch.join("nowhere").exists());
    assert_eq!(fs::read(scratch.join("real.b2frame")).unwrap(), before);
}

#[test]
fn what_has_no_source_keeps_the_mode_of_what_it_replaces() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    scratch.write("-", b"a file whose name is that of standard input");
    fs::set_permissions(scratch.join("-"), fs::Permissions::from_mode(0o777)).unwrap();
    scratch.write("page.html", b"old");
    fs::set_permissions(scratch.join("page.html"), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(run(&scratch, &["tune", "--sample", "1K", "data.bin", "--html", "page.html", "--force"]).status.success());
    assert_eq!(mode(&scratch.join("page.html")), 0o600);
    assert!(shell(&scratch, "umask 027; blosc c - out.blp <data.bin").status.success());
    assert_eq!(mode(&scratch.join("out.blp")), 0o640);
}

#[test]
fn a_file_size_limit_is_an_error_and_leaves_nothing_behind() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &noise(400_000));
    for name in ["out.b2frame", "out.sframe", "out.b2nd", "out.blp", "out.chunk", "out.b2packed"] {
        let output = shell(&scratch, &format!("ulimit -f 100; blosc c data.bin {name}"));
        let line = assert_fails(&output, 2, name);
        assert!(line.contains("File too large"), "{line}");
    }
    assert_eq!(scratch.names(), ["data.bin"]);
    assert!(run(&scratch, &["c", "data.bin", "out.b2frame"]).status.success());
    for line in ["blosc d out.b2frame back", "blosc d out.b2frame - >back", "blosc append out.b2frame data.bin"] {
        let line = assert_fails(&shell(&scratch, &format!("ulimit -f 100; {line}")), 2, line);
        assert!(line.contains("File too large"), "{line}");
    }
    assert!(run(&scratch, &["d", "out.b2frame", "whole"]).status.success());
    assert_eq!(fs::read(scratch.join("whole")).unwrap(), noise(400_000));
}

#[test]
fn a_background_job_of_a_script_cleans_up_when_it_is_terminated() {
    let scratch = Scratch::new();
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' INT; exec \"$@\"", "sh", BLOSC]);
    let mut child = started_by(ignoring, &scratch, &["c", "-", "out.b2frame"]);
    assert_eq!(interrupt(&mut child, "TERM"), Some(130));
    assert!(!is_hidden_there(&scratch), "{:?}", scratch.names());
}

#[test]
fn compress_overwrites_no_file_that_is_no_blosc_file() {
    let scratch = Scratch::new();
    let (first, second) = (ramp(1000), noise(1000));
    scratch.write("first", &first);
    scratch.write("second", &second);
    symlink("second", scratch.join("third")).unwrap();
    for arguments in [
        &["c", "--force", "first", "-o", "second"][..],
        &["c", "first", "-o", "second"],
        &["c", "--force", "first", "-o", "third"],
        &["c", "--force", "first", "-o", "first"],
        &["c", "--force", "--format", "sframe", "first", "-o", "second"],
    ] {
        let line = assert_fails(&run(&scratch, arguments), 2, "another file");
        assert!(line.contains("no Blosc file") && line.contains("remove it first"), "{line}");
    }
    assert_eq!(fs::read(scratch.join("first")).unwrap(), first);
    assert_eq!(fs::read(scratch.join("second")).unwrap(), second);
    // An empty file has nothing to lose, and `decompress` may overwrite anything.
    scratch.write("empty", b"");
    assert!(run(&scratch, &["c", "--force", "first", "-o", "empty"]).status.success());
    for format in ["b2frame", "blp", "chunk", "blosc1", "packed", "frame-beta5", "b2nd"] {
        let made = run(&scratch, &["c", "--force", "--format", format, "first", "-o", "empty"]);
        assert!(made.status.success(), "{format}: {}", String::from_utf8_lossy(&made.stderr));
    }
    assert!(run(&scratch, &["d", "--force", "empty", "second"]).status.success());
    assert_eq!(fs::read(scratch.join("second")).unwrap(), first);
}

#[test]
fn a_compressed_file_does_not_replace_another_by_being_compressed_again() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    for name in ["a.b2nd", "b.b2nd"] {
        assert!(run(&scratch, &["c", "data.bin", name]).status.success());
    }
    let before = fs::read(scratch.join("b.b2nd")).unwrap();
    let line = assert_fails(&shell(&scratch, "blosc c --force *.b2nd"), 2, "two arrays");
    assert!(line.contains("blosc convert"), "{line}");
    assert_eq!(fs::read(scratch.join("b.b2nd")).unwrap(), before);
}

/// The reader has read the first chunks, and waits until somebody takes what it has written.
#[test]
fn a_frame_that_is_replaced_while_it_is_read_is_not_called_damaged() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &noise(4 << 20));
    scratch.write("other.bin", &ramp(10));
    for (name, format) in [("out", "sframe"), ("out.b2frame", "b2frame")] {
        let arguments = ["c", "data.bin", "-o", name, "--format", format, "--chunk-size", "64K"];
        assert!(run(&scratch, &arguments).status.success());
        let mut reader = Command::new(BLOSC)
            .args(["cat", name])
            .current_dir(&scratch.0)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        reader.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        assert!(run(&scratch, &["c", "--force", "other.bin", "-o", name, "--format", format]).status.success());
        let output = reader.wait_with_output().unwrap();
        if format == "b2frame" {
            assert!(output.status.success() && output.stdout == noise(4 << 20)[1..], "a file lives on");
            continue;
        }
        let line = assert_fails(&output, 2, name);
        assert!(line.contains("replaced by another one") && !line.contains("repair"), "{line}");
    }
}
