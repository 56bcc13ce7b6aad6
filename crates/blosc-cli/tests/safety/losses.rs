//! What ends with exit code 0 has lost nothing, and what would lose something says what.

use crate::common::{Scratch, assert_fails, blosc_with_input, noise, npy, ramp, run};
use std::fs;

fn works(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = run(scratch, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_file_comes_back_whatever_its_name_says_about_numpy() {
    let array = npy("<i4", "(10, 20)", &ramp(200));
    for (name, content) in [("x.npy", &b"no array"[..]), ("x.npy", &array), ("x.dat", &array), ("x.npy", b"")] {
        for format in ["b2frame", "blp", "b2packed", "default"] {
            let scratch = Scratch::new();
            scratch.write(name, content);
            let format_name = if format == "b2packed" { "packed" } else { format };
            match format {
                "default" => works(&scratch, &["c", name]),
                _ => works(&scratch, &["c", name, "--format", format_name]),
            };
            fs::remove_file(scratch.join(name)).unwrap();
            let compressed = scratch.names().remove(0);
            works(&scratch, &["d", &compressed]);
            assert_eq!(fs::read(scratch.join(name)).unwrap(), content, "{name} by {compressed}");
        }
    }
}

#[test]
fn a_chunk_that_may_have_been_an_array_is_not_guessed() {
    let scratch = Scratch::new();
    scratch.write("x.npy", b"no array");
    works(&scratch, &["c", "x.npy", "x.npy.chunk"]);
    fs::remove_file(scratch.join("x.npy")).unwrap();
    let message = assert_fails(&run(&scratch, &["d", "x.npy.chunk"]), 2, "x.npy.chunk");
    assert!(message.contains("a chunk does not say whether x.npy was an array"), "{message}");
    works(&scratch, &["d", "x.npy.chunk", "x"]);
    assert_eq!(fs::read(scratch.join("x")).unwrap(), b"no array");
    works(&scratch, &["d", "x.npy.chunk", "--npy"]);
}

#[test]
fn bytes_behind_a_chunk_are_not_dropped_without_a_word() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    works(&scratch, &["c", "data", "x.chunk"]);
    let mut bytes = fs::read(scratch.join("x.chunk")).unwrap();
    bytes.extend(b"precious");
    scratch.write("x.chunk", &bytes);
    for arguments in
        [&["d", "x.chunk", "out"][..], &["cat", "x.chunk"], &["verify", "x.chunk"], &["convert", "x.chunk", "y.blp"]]
    {
        let message = assert_fails(&run(&scratch, arguments), 1, &arguments.join(" "));
        assert!(message.contains("8 bytes follow the chunk of"), "{message}");
    }
    assert!(works(&scratch, &["info", "x.chunk"]).contains("behind        8 bytes"));
    works(&scratch, &["d", "x.chunk", "out", "--offset", "0"]);
    assert_eq!(fs::read(scratch.join("out")).unwrap(), ramp(1000));
}

/// gzip and zstd read files that `cat` has put one behind the other.
#[test]
fn a_file_behind_another_is_not_dropped_without_a_word() {
    let scratch = Scratch::new();
    scratch.write("one", &ramp(5_000));
    scratch.write("two", &noise(3_000));
    let made = [
        ("b2frame", "frame"),
        ("b2nd", "frame"),
        ("frame-beta1", "frame"),
        ("frame-beta5", "frame"),
        ("blp", "Bloscpack file"),
    ];
    for (format, what) in made {
        let name = format!("one.{format}");
        works(&scratch, &["c", "--format", format, "one", "-o", &name]);
        // Changed in place, a frame has copies of its header behind it.
        if matches!(format, "b2frame" | "b2nd") {
            works(&scratch, &["meta", "set", &name, "note", "changed"]);
            works(&scratch, &["meta", "set", &name, "note", "changed again"]);
        }
        works(&scratch, &["verify", &name]);
        let first = fs::read(scratch.join(&name)).unwrap();
        for other in ["b2frame", "blp"] {
            works(&scratch, &["c", "--force", "--format", other, "two", "-o", "second"]);
            let both = [first.clone(), fs::read(scratch.join("second")).unwrap()].concat();
            scratch.write("both", &both);
            for arguments in [
                &["d", "both", "out"][..],
                &["cat", "both"],
                &["verify", "both"],
                &["convert", "both", "out.blp"],
                &["append", "both", "two"],
                &["meta", "list", "both"],
                &["compact", "both"],
            ] {
                if what != "frame" && arguments[0] == "compact" {
                    continue;
                }
                let line = assert_fails(&run(&scratch, arguments), 1, &format!("{format} {other} {arguments:?}"));
                assert!(line.contains(&format!("another Blosc file follows the {what}")), "{line}");
            }
            assert_eq!(fs::read(scratch.join("both")).unwrap(), both);
            let line = assert_fails(&run(&scratch, &["verify", "both"]), 1, other);
            let at = line.rsplit("--offset ").next().unwrap().split(' ').next().unwrap().to_owned();
            assert_eq!(run(&scratch, &["d", "both", "-", "--offset", "0"]).stdout, ramp(5_000), "{format} {other}");
            assert_eq!(run(&scratch, &["d", "both", "-", "--offset", &at]).stdout, noise(3_000), "{format} {other}");
        }
        // What belongs to nothing, as an append leaves it that was killed, does no harm.
        scratch.write("both", &[first.clone(), noise(500)].concat());
        assert_eq!(run(&scratch, &["d", "both", "-"]).stdout, ramp(5_000), "{format}");
    }
    let streams = [["c", "one", "-"], ["c", "two", "-"]].map(|arguments| run(&scratch, &arguments).stdout);
    let piped = blosc_with_input(["d", "-", "-"], &streams.concat());
    assert_eq!(piped.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&piped.stderr).contains("another Bloscpack file follows at byte"), "{piped:?}");
}

#[test]
fn input_is_not_replaced_by_less_than_it_holds() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    scratch.write("note", b"measured");
    works(&scratch, &["c", "data", "x.b2frame", "--vlmeta", "note=note"]);
    let before = fs::read(scratch.join("x.b2frame")).unwrap();
    for (arguments, lost) in [
        (&["d", "--force", "--bytes", "0..10", "x.b2frame", "-o", "x.b2frame"][..], "all but a part of its data"),
        (&["d", "--force", "x.b2frame", "-o", "./x.b2frame"], "its metadata (note)"),
        (&["convert", "--force", "--quiet", "--format", "blp", "x.b2frame", "x.b2frame"], "has no place for note"),
    ] {
        let message = assert_fails(&run(&scratch, arguments), 2, &arguments.join(" "));
        assert!(message.contains(lost) && message.contains("give another OUTPUT"), "{message}");
        assert_eq!(fs::read(scratch.join("x.b2frame")).unwrap(), before);
    }
    works(&scratch, &["c", "data", "a.b2nd", "--dtype", "<i4", "--shape", "40,25"]);
    let message = assert_fails(&run(&scratch, &["d", "--force", "a.b2nd", "-o", "a.b2nd"]), 2, "an array");
    assert!(message.contains("the shape and type of the array"), "{message}");
    assert!(works(&scratch, &["info", "a.b2nd"]).contains("40 x 25 of int32"));
    works(&scratch, &["d", "--force", "--npy", "a.b2nd", "-o", "a.b2nd"]);
    works(&scratch, &["convert", "--force", "--quiet", "--level", "9", "x.b2frame", "x.b2frame"]);
    assert_eq!(works(&scratch, &["meta", "get", "x.b2frame", "note"]), "measured");
}

/// A loop of links cannot be looked at, as a disk that fails cannot.
#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_an_error_and_not_a_directory_of_files() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    works(&scratch, &["c", "data", "x.sframe"]);
    fs::remove_file(scratch.join("x.sframe/chunks.b2frame")).unwrap();
    std::os::unix::fs::symlink("chunks.b2frame", scratch.join("x.sframe/chunks.b2frame")).unwrap();
    for command in ["d", "info", "verify"] {
        let message = assert_fails(&run(&scratch, &[command, "x.sframe"]), 2, command);
        assert!(message.contains("chunks.b2frame"), "{message}");
    }
    assert_eq!(scratch.names(), ["data", "x.sframe"]);
}

#[test]
fn the_chunks_of_a_sparse_frame_without_its_index_are_not_files_by_themselves() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(5000));
    fs::create_dir(scratch.join("tree")).unwrap();
    works(&scratch, &["c", "data", "tree/x.sframe", "--chunk-size", "1K"]);
    works(&scratch, &["c", "data", "tree/good.b2frame"]);
    fs::remove_file(scratch.join("tree/x.sframe/chunks.b2frame")).unwrap();
    let message = assert_fails(&run(&scratch, &["d", "tree/x.sframe", "out"]), 1, "the frame");
    assert!(message.contains("a directory without a sparse frame in it"), "{message}");
    let message = assert_fails(&run(&scratch, &["d", "tree", "-o", "out"]), 1, "a tree with it");
    assert!(message.contains("x.sframe: a directory without a sparse frame in it"), "{message}");
    assert_eq!(fs::read(scratch.join("out/good")).unwrap(), ramp(5000));
    assert!(!scratch.join("out/x.sframe").exists() && !scratch.join("out/x").exists());
    let message = assert_fails(&run(&scratch, &["repair", "--quiet", "tree/x.sframe", "saved.sframe"]), 1, "repair");
    assert!(message.contains("something may be missing"), "{message}");
    assert_eq!(works(&scratch, &["verify", "saved.sframe"]).lines().count(), 1);
}

#[test]
fn advice_is_what_helps() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    let message = assert_fails(&run(&scratch, &["c", "data", "x.b2nd", "--dtype", "quaternion"]), 2, "quaternion");
    assert!(message.contains("write a word of NumPy, such as float32"), "{message}");
}

#[test]
fn why_a_header_is_refused_is_told() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    works(&scratch, &["c", "data", "x.chunk"]);
    let mut bytes = fs::read(scratch.join("x.chunk")).unwrap();
    bytes[0] = 9;
    scratch.write("x.chunk", &bytes);
    for command in ["info", "verify", "cat"] {
        let message = assert_fails(&run(&scratch, &[command, "x.chunk"]), 1, command);
        assert!(message.contains("chunk header: version 9 is not one of 2 to 6"), "{message}");
    }
}

#[test]
fn what_is_appended_to_a_small_file_is_cut_into_chunks_of_the_usual_size() {
    for name in ["x.b2frame", "x.sframe"] {
        let scratch = Scratch::new();
        scratch.write("small", b"0123456789");
        scratch.write("more", &ramp(100_000));
        works(&scratch, &["c", "small", name]);
        works(&scratch, &["append", name, "more"]);
        assert!(works(&scratch, &["info", name]).contains("chunks        1 of 400010 bytes"), "{name}");
        works(&scratch, &["d", name, "out"]);
        assert_eq!(fs::read(scratch.join("out")).unwrap(), [b"0123456789", &ramp(100_000)[..]].concat());
        works(&scratch, &["verify", name]);
    }
}

#[test]
fn a_description_does_not_become_wrong_by_an_append() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(200));
    works(&scratch, &["c", "data", "x.b2frame", "--dtype", "<u4", "--shape", "20,10"]);
    works(&scratch, &["append", "x.b2frame", "data"]);
    assert!(works(&scratch, &["info", "x.b2frame"]).contains("array         40 x 10 of uint32"));
    scratch.write("layer.npy", &npy("<u4", "(1, 10)", &ramp(10)));
    works(&scratch, &["append", "x.b2frame", "layer.npy"]);
    assert!(works(&scratch, &["info", "x.b2frame"]).contains("array         41 x 10 of uint32"));
    scratch.write("odd", b"odd");
    scratch.write("other.npy", &npy("<f4", "(1, 10)", &ramp(10)));
    for name in ["odd", "other.npy"] {
        assert_fails(&run(&scratch, &["append", "x.b2frame", name]), 2, name);
        works(&scratch, &["d", "--force", "x.b2frame", "out"]);
        assert_eq!(fs::read(scratch.join("out")).unwrap(), [ramp(200), ramp(200), ramp(10)].concat());
        assert!(works(&scratch, &["info", "x.b2frame"]).contains("array         41 x 10 of uint32"));
    }
    for name in ["x.blp", "x.b2packed"] {
        let scratch = Scratch::new();
        scratch.write("data", &ramp(200));
        works(&scratch, &["c", "data", name, "--dtype", "<u4", "--shape", "20,10"]);
        let before = fs::read(scratch.join(name)).unwrap();
        let message = assert_fails(&run(&scratch, &["append", name, "data"]), 2, name);
        assert!(message.contains("an array of shape [20, 10], which would be wrong"), "{message}");
        assert_eq!(fs::read(scratch.join(name)).unwrap(), before);
    }
}

#[test]
fn an_npy_file_is_appended_to_plain_data_with_all_of_its_bytes() {
    let scratch = Scratch::new();
    let array = npy("<i4", "(10, 20)", &ramp(200));
    scratch.write("x.npy", &array);
    scratch.write("data", b"before");
    works(&scratch, &["c", "data", "x.b2frame"]);
    works(&scratch, &["append", "x.b2frame", "x.npy"]);
    works(&scratch, &["d", "x.b2frame", "out"]);
    assert_eq!(fs::read(scratch.join("out")).unwrap(), [b"before", &array[..]].concat());
}

#[test]
fn tune_suggests_to_convert_what_is_compressed_already() {
    let scratch = Scratch::new();
    scratch.write("x.npy", &npy("<i4", "(40, 50)", &ramp(2000)));
    scratch.write("data", &ramp(2000));
    works(&scratch, &["c", "x.npy", "x.b2nd"]);
    works(&scratch, &["c", "data", "y.blp"]);
    for (name, wanted) in [("x.b2nd", "x.tuned.b2nd"), ("y.blp", "y.tuned.b2frame")] {
        let text = works(&scratch, &["tune", name]);
        let line = text.lines().find(|line| line.starts_with("best for size")).unwrap();
        let command = line.trim_start_matches("best for size").trim();
        assert!(command.starts_with("blosc convert ") && command.ends_with(&format!(" {name} {wanted}")), "{command}");
        works(&scratch, &command.split(' ').skip(1).collect::<Vec<_>>());
        assert_eq!(works(&scratch, &["cat", wanted]), works(&scratch, &["cat", name]));
    }
    assert!(works(&scratch, &["tune", "data"]).contains("blosc compress "));
}
