//! What every command keeps to: nothing is overwritten, nothing is left behind, a closed pipe is
//! fine.

#[cfg(unix)]
use crate::common::interruption::{interrupt, signal, started, started_by};
#[cfg(unix)]
use crate::common::mode;
use crate::common::{BLOSC, Scratch, assert_fails, blosc, blosc_with_input, good, noise, ramp, run};
use std::fs;
use std::process::{Command, Output};

#[test]
fn nothing_is_overwritten_without_force() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    assert!(run(&scratch, &["c", "data.bin", "out.b2frame"]).status.success());
    let precious = fs::read(scratch.join("out.b2frame")).unwrap();
    for arguments in [&["c", "data.bin", "out.b2frame"][..], &["d", "out.b2frame", "data.bin"]] {
        assert!(assert_fails(&run(&scratch, arguments), 2, "overwriting").contains("--force"));
    }
    assert_eq!(fs::read(scratch.join("out.b2frame")).unwrap(), precious);
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
fn a_directory_is_a_place_to_write_to_and_is_never_replaced() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    fs::create_dir(scratch.join("results")).unwrap();
    scratch.write("results/thesis.txt", b"years of work");
    assert!(run(&scratch, &["c", "--force", "data.bin", "-o", "results"]).status.success());
    assert!(scratch.join("results/data.bin.b2frame").is_file());
    // Where the result itself would be a directory that holds something else, it is refused.
    fs::create_dir(scratch.join("results/data.bin.sframe")).unwrap();
    scratch.write("results/data.bin.sframe/notes.txt", b"not of a frame");
    let into = ["c", "--force", "--format", "sframe", "data.bin", "-o", "results/"];
    let line = assert_fails(&run(&scratch, &into), 2, "a directory");
    assert!(line.contains("no sparse frame"), "{line}");
    assert!(run(&scratch, &["c", "--format", "sframe", "data.bin", "-o", "frame"]).status.success());
    scratch.write("frame/notes.txt", b"not of the frame");
    assert_fails(&run(&scratch, &["c", "--force", "data.bin", "-o", "frame"]), 2, "a frame and something else");
    assert_eq!(fs::read(scratch.join("results/thesis.txt")).unwrap(), b"years of work");
    assert_eq!(fs::read(scratch.join("results/data.bin.sframe/notes.txt")).unwrap(), b"not of a frame");
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
    let line = assert_fails(&run(&scratch, &["c", "--force", "data.bin", "-o", "/dev/null"]), 2, "a device");
    assert!(line.contains("no regular file"), "{line}");
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
    assert!(run(&scratch, &["c", "runs/first.blp/a.bin", "-o", "runs/frame", "--format", "sframe"]).status.success());
    assert!(run(&scratch, &["c", "runs", "-o", "out"]).status.success());
    assert!(scratch.join("out/first.blp/a.bin.b2frame").is_file());
    assert!(scratch.join("out/frame/chunks.b2frame").is_file(), "a sparse frame is compressed, whatever its name is");
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
            assert!(run(&scratch, &["convert", "--force", name, "-o", "other.b2frame"]).status.success());
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
    let line = assert_fails(&run(&scratch, &["d", "packed", "-o", "plain"]), 2, "two of a name");
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
    let output = run(&scratch, &["c", "runs", "-o", "out"]);
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("blosc: runs: 2 copied as they are: 1 compressed already, 1 hidden;"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    let told = String::from_utf8(run(&scratch, &["--verbose", "c", "--force", "runs", "-o", "out"]).stderr).unwrap();
    assert!(told.contains("runs/.hidden: copied as it is (hidden)"), "{told}");
    assert!(told.contains("runs/b.blp: copied as it is (compressed already)"), "{told}");
    let told = String::from_utf8(run(&scratch, &["--verbose", "c", "runs"]).stderr).unwrap();
    assert!(told.contains("runs/.hidden: left alone (hidden)"), "{told}");
    assert!(run(&scratch, &["-q", "c", "--force", "runs", "-o", "out"]).stderr.is_empty());
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
        let file = if name == "out.sframe" { "out.sframe/chunks.b2frame" } else { name };
        let other = fs::File::open(scratch.join(file)).unwrap();
        other.lock().unwrap();
        let line = assert_fails(&run(&scratch, &["append", name, "data.bin"]), 2, name);
        assert!(line.contains("another process"), "{line}");
        if !name.ends_with("packed") && !name.ends_with("blp") {
            assert_fails(&run(&scratch, &["meta", "set", name, "unit", "kelvin"]), 2, name);
            assert_fails(&run(&scratch, &["compact", name]), 2, name);
        }
        // Closing it would not do: a process that another test is just starting still has a copy of
        // it.
        other.unlock().unwrap();
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

#[test]
fn help_has_the_options_of_a_command_before_those_of_all() {
    for (name, last) in [("decompress", "--force"), ("info", "--offset"), ("tune", "--force"), ("convert", "--force")] {
        let text = String::from_utf8(good([name, "--help"])).unwrap();
        let place = |option: &str| text.find(&format!(" {option}")).unwrap();
        assert!(place(last) < place("-q, --quiet") && place("--max-memory") < place("-h, --help"), "{text}");
    }
}

#[test]
fn an_option_of_another_compressor_is_not_taken_for_a_file() {
    let scratch = Scratch::new();
    scratch.write("data", b"data");
    for arguments in [["c", "-x", "data"], ["c", "-S", "data"], ["d", "-L", "data"]] {
        let line = assert_fails(&run(&scratch, &arguments), 2, "an option that there is not");
        assert!(line.ends_with(&format!("unexpected argument '{}' found; try --help\n", arguments[1])), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_no_success() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(100));
    assert!(run(&scratch, &["c", "data", "data.b2frame"]).status.success());
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["--version", "--verbose"],
        &["completions", "bash"],
        &["info", "data.b2frame"],
        &["info", "--json", "data.b2frame"],
        &["verify", "data.b2frame"],
        &["cat", "data.b2frame"],
        &["d", "data.b2frame", "-"],
        &["c", "data", "-"],
        &["convert", "data.b2frame", "-"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(BLOSC).args(arguments).current_dir(&scratch.0).stdout(full).output().unwrap();
        let line = assert_fails(&output, 2, &format!("{arguments:?}"));
        assert!(line.contains("No space left on device"), "{line}");
    }
}

/// A run whose output nobody reads.
fn run_unread(scratch: &Scratch, arguments: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    Command::new(BLOSC).args(arguments).current_dir(&scratch.0).stdout(writer).output().unwrap()
}

#[test]
fn that_nobody_reads_what_is_told_makes_nothing_good() {
    let scratch = Scratch::new();
    scratch.write("data", &noise(100_000));
    assert!(run(&scratch, &["c", "data", "good.b2frame", "--chunk-size", "10K"]).status.success());
    let mut bytes = fs::read(scratch.join("good.b2frame")).unwrap();
    bytes[55_000] ^= 1;
    scratch.write("bad.b2frame", &bytes);
    for arguments in [
        &["verify", "bad.b2frame"][..],
        &["verify", "bad.b2frame", "good.b2frame"],
        &["verify", "good.b2frame", "bad.b2frame"],
        &["repair", "bad.b2frame", "mended.b2frame"],
    ] {
        let output = run_unread(&scratch, arguments);
        assert_fails(&output, 1, &format!("{arguments:?}"));
    }
    assert!(scratch.join("mended.b2frame").is_file());
    let at = bytes.windows(4).position(|header| header == [5, 1, 0x87, 1]).expect("a stored chunk");
    bytes[at..at + 16].fill(0xff);
    scratch.write("bad.b2frame", &bytes);
    for arguments in [&["info", "bad.b2frame"][..], &["info", "--chunks", "bad.b2frame", "good.b2frame"]] {
        assert_fails(&run_unread(&scratch, arguments), 1, &format!("{arguments:?}"));
    }
    // What is to be written is written.
    let tuned = run_unread(&scratch, &["tune", "--sample", "1K", "--html", "page.html", "data"]);
    assert!(tuned.status.success() && scratch.join("page.html").is_file(), "{tuned:?}");
}
