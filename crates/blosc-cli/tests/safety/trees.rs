//! A directory there and back: nothing of it gets lost, and what is not done is told.

use crate::common::{Scratch, assert_fails, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn ramp(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

/// Everything below a directory: the content of files, where links lead, and the names of
/// directories.
fn content(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_symlink() {
                all.insert(name, fs::read_link(&path).unwrap().to_str().unwrap().into());
            } else if path.is_dir() {
                all.insert(format!("{name}/"), Vec::new());
                open.push(path);
            } else {
                all.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn make(scratch: &Scratch, files: &[(&str, &[u8])]) {
    for (name, bytes) in files {
        fs::create_dir_all(scratch.join(name).parent().unwrap()).unwrap();
        scratch.write(name, bytes);
    }
}

/// A Zarr array of version 2 keeps what it is in hidden files, and its chunks are Blosc chunks.
fn zarr(scratch: &Scratch) {
    let chunk = {
        scratch.write("plain", &ramp(1000));
        assert!(run(scratch, &["c", "plain", "x.blosc1"]).status.success());
        fs::read(scratch.join("x.blosc1")).unwrap()
    };
    make(
        scratch,
        &[
            ("tree/.zgroup", b"{\"zarr_format\": 2}"),
            ("tree/a/.zarray", b"{\"shape\": [1000]}"),
            ("tree/a/.zattrs", b"{}"),
            ("tree/a/0.0", &chunk),
            ("tree/a/0.1", &chunk),
            ("tree/v3/zarr.json", b"{\"zarr_format\": 3}"),
            ("tree/v3/c/0/0", &chunk),
            ("tree/.hidden/deep/x.b2frame", b"no frame"),
            ("tree/notes.blosc", b"not what its name says"),
            ("tree/no.npy", b"not what its name says"),
            ("tree/empty.bin", b""),
        ],
    );
    fs::create_dir_all(scratch.join("tree/nothing/in it")).unwrap();
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let scratch = Scratch::new();
    zarr(&scratch);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a/0.0", scratch.join("tree/link")).unwrap();
        std::os::unix::fs::symlink("a", scratch.join("tree/to directory")).unwrap();
        std::os::unix::fs::symlink("nowhere", scratch.join("tree/dangling")).unwrap();
    }
    let output = run(&scratch, &["c", "tree", "-o", "out"]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("4 hidden"), "{output:?}");
    let output = run(&scratch, &["d", "out", "-o", "back"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(content(&scratch.join("back")), content(&scratch.join("tree")));
}

#[test]
fn a_tree_can_be_written_again() {
    let scratch = Scratch::new();
    zarr(&scratch);
    for _ in 0..2 {
        assert!(run(&scratch, &["c", "--force", "tree", "-o", "out"]).status.success());
        assert!(run(&scratch, &["d", "--force", "out", "-o", "back"]).status.success());
    }
    assert_eq!(content(&scratch.join("back")), content(&scratch.join("tree")));
    // A hidden file is no Blosc file: one with another content is not replaced by `compress`.
    scratch.write("out/.zgroup", b"other");
    let output = run(&scratch, &["c", "--force", "tree", "-o", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("out/.zgroup: this is no Blosc file"), "{output:?}");
    assert_eq!(fs::read(scratch.join("out/.zgroup")).unwrap(), b"other");
}

#[test]
fn what_is_compressed_is_told_by_content() {
    let scratch = Scratch::new();
    make(&scratch, &[("tree/plain", &ramp(100))]);
    for name in ["tree/frame", "tree/x.dat", "tree/y.b2frame"] {
        let output = run(&scratch, &["c", "tree/plain", "-o", name, "--format", "b2frame"]);
        assert!(output.status.success());
    }
    assert!(run(&scratch, &["d", "tree", "-o", "out"]).status.success());
    for name in ["out/frame", "out/x.dat", "out/y", "out/plain"] {
        assert_eq!(fs::read(scratch.join(name)).unwrap(), ramp(100), "{name}");
    }
    // In its own place such a file would have to replace itself.
    fs::remove_file(scratch.join("tree/plain")).unwrap();
    let output = run(&scratch, &["d", "--verbose", "tree"]);
    assert!(output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("tree/frame: left alone (without an extension to leave out: give -o OUTPUT)"), "{told}");
    assert!(scratch.join("tree/y").is_file());
}

#[test]
fn a_damaged_file_of_a_directory_is_an_error_and_not_left_alone() {
    let scratch = Scratch::new();
    make(&scratch, &[("tree/bad.b2frame", b"this was a frame once, and is none any more"), ("tree/plain", b"x")]);
    let output = run(&scratch, &["d", "tree", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("tree/bad.b2frame: there is no Blosc chunk"),
        "{output:?}"
    );
}

#[test]
fn nothing_done_is_no_success() {
    let scratch = Scratch::new();
    make(&scratch, &[("tree/.hidden", b"x"), ("plain/x.txt", b"x")]);
    fs::create_dir(scratch.join("none")).unwrap();
    for arguments in [
        &["c", "tree"][..],
        &["d", "tree"],
        &["c", "none"],
        &["d", "none"],
        &["d", "plain"],
        &["d", "plain", "-o", "out"],
    ] {
        let output = run(&scratch, &[arguments, &["--quiet"]].concat());
        let message = assert_fails(&output, 1, &arguments.join(" "));
        assert!(message.contains("there is nothing to"), "{message}");
    }
}

#[test]
fn what_is_in_the_way_of_another_is_an_error() {
    let scratch = Scratch::new();
    make(&scratch, &[("tree/a", &ramp(10))]);
    assert!(run(&scratch, &["c", "tree"]).status.success());
    for (command, directory) in [("c", "out"), ("d", "back")] {
        // Nothing is lost if one is what the other becomes.
        let output = run(&scratch, &[command, "tree", "-o", directory]);
        assert!(output.status.success(), "{output:?}");
        fs::remove_dir_all(scratch.join(directory)).unwrap();
    }
    make(&scratch, &[("tree/a", &ramp(11))]);
    for (command, target) in [("c", "out/a.b2frame"), ("d", "back/a")] {
        let directory = target.split('/').next().unwrap();
        // Who goes on with the copy would miss it.
        let output = run(&scratch, &[command, "tree", "-o", directory, "--quiet"]);
        let line = assert_fails(&output, 1, command);
        assert!(line.contains(&format!("not copied, another file becomes {target}")), "{line}");
        assert!(scratch.join(target).is_file());
    }
    // Two that would become one are refused before anything is made.
    make(&scratch, &[("two/a.blp/x.b2frame", b"x")]);
    assert!(run(&scratch, &["c", "tree/a", "two/a.b2frame"]).status.success());
    fs::remove_file(scratch.join("two/a.blp/x.b2frame")).unwrap();
    assert!(run(&scratch, &["c", "tree/a", "two/a.chunk"]).status.success());
    let message = assert_fails(&run(&scratch, &["d", "two", "-o", "one"]), 2, "two become one");
    assert!(message.contains("would both become") && !scratch.join("one").exists(), "{message}");
}

#[test]
fn output_inside_of_input_is_not_read() {
    let scratch = Scratch::new();
    make(&scratch, &[("tree/a", &ramp(10))]);
    for _ in 0..2 {
        assert!(run(&scratch, &["c", "--force", "tree", "-o", "tree/out"]).status.success());
    }
    assert_eq!(content(&scratch.join("tree/out")).keys().collect::<Vec<_>>(), ["a.b2frame"]);
    assert!(run(&scratch, &["c", "tree", "-o", "tree/."]).status.success(), "the same directory");
    assert!(scratch.join("tree/a.b2frame").is_file());
}

#[cfg(unix)]
#[test]
fn directories_keep_their_permissions_and_pipes_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    make(&scratch, &[("tree/private/a", &ramp(10)), ("tree/private/.b", b"x"), ("tree/c", b"x")]);
    let mode = |name: &str| fs::metadata(scratch.join(name)).unwrap().permissions().mode() & 0o777;
    let permit = |name: &str, mode| fs::set_permissions(scratch.join(name), fs::Permissions::from_mode(mode)).unwrap();
    permit("tree/private", 0o500);
    permit("tree/private/.b", 0o640);
    assert!(run(&scratch, &["c", "tree", "-o", "out"]).status.success());
    assert_eq!((mode("out/private"), mode("out/private/.b")), (0o500, 0o640));
    for name in ["tree/private", "out/private"] {
        permit(name, 0o700);
    }
    assert!(std::process::Command::new("mkfifo").arg(scratch.join("tree/pipe")).status().unwrap().success());
    let output = run(&scratch, &["c", "tree", "-o", "other"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("tree/pipe: no plain file, and not copied"), "{told}");
    assert!(scratch.join("other/c.b2frame").is_file(), "the rest is done");
}
