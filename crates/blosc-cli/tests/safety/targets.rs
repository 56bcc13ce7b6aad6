//! No result of a run takes the place of another, or of an input, and `--rm` removes nothing that
//! is not in the result.

use crate::common::{Scratch, assert_fails, noise, npy, ramp, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn works(scratch: &Scratch, arguments: &[&str]) {
    let output = run(scratch, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// All files below a directory, with what they hold.
fn content(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(content(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// Checks that a run is refused, naming `names`, and changes nothing.
fn refused(scratch: &Scratch, arguments: &[&str], names: &[&str]) {
    let before = content(&scratch.0);
    let message = assert_fails(&run(scratch, arguments), 2, &arguments.join(" "));
    assert!(names.iter().all(|name| message.contains(name)), "{arguments:?}: {message}");
    assert_eq!(content(&scratch.0), before, "{arguments:?}");
}

#[test]
fn results_of_one_run_do_not_overwrite_each_other() {
    let scratch = Scratch::new();
    for (directory, data) in [("a", ramp(1000)), ("b", noise(500))] {
        fs::create_dir(scratch.join(directory)).unwrap();
        scratch.write(&format!("{directory}/x"), &data);
    }
    refused(&scratch, &["-f", "--rm", "-o", "out/", "a/x", "b/x"], &["a/x", "b/x"]);
    works(&scratch, &["a/x", "-o", "x.b2frame"]);
    works(&scratch, &["b/x", "-o", "x.blp"]);
    refused(&scratch, &["-d", "-f", "--rm", "x.b2frame", "x.blp"], &["x.b2frame", "x.blp"]);
    refused(&scratch, &["-d", "-f", "--rm", "x.b2frame", "./x.blp"], &["x.b2frame", "x.blp"]);
    refused(&scratch, &["convert", "-f", "--rm", "--format", "sframe", "-o", "a", "x.b2frame", "x.blp"], &["x.blp"]);
    refused(&scratch, &["-f", "a", "b/../a", "-o", "out/"], &["a and b/../a"]);
    // What does not meet is done.
    works(&scratch, &["convert", "--format", "sframe", "a/../x.b2frame", "-o", "a/"]);
    works(&scratch, &["-d", "-f", "--rm", "x.b2frame", "-o", "x"]);
    assert_eq!(fs::read(scratch.join("x")).unwrap(), ramp(1000));
}

#[test]
fn no_result_takes_the_place_of_another_input() {
    let scratch = Scratch::new();
    scratch.write("one", &ramp(1000));
    scratch.write("two", &noise(500));
    works(&scratch, &["one", "-o", "a.b2frame.blp"]);
    works(&scratch, &["two", "-o", "a.b2frame"]);
    for names in [["a.b2frame.blp", "a.b2frame"], ["a.b2frame", "a.b2frame.blp"]] {
        refused(&scratch, &["-d", "-f", "--rm", names[0], names[1]], &names);
        refused(&scratch, &["-d", "-f", names[0], &format!("./{}", names[1])], &names);
    }
    fs::create_dir(scratch.join("tree")).unwrap();
    for name in ["a.b2frame.blp", "a.b2frame"] {
        fs::rename(scratch.join(name), scratch.join("tree").join(name)).unwrap();
    }
    refused(&scratch, &["-d", "-f", "--rm", "tree"], &["tree/a.b2frame.blp", "tree/a.b2frame"]);
    refused(
        &scratch,
        &["-d", "-f", "--rm", "tree", "tree/a.b2frame.blp"],
        &["tree/a.b2frame: this is in the input tree"],
    );
    works(&scratch, &["-d", "-f", "--rm", "tree/a.b2frame"]);
    works(&scratch, &["-d", "-f", "--rm", "tree/a.b2frame.blp"]);
    assert_eq!(fs::read(scratch.join("tree/a")).unwrap(), noise(500));
}

#[test]
fn rm_of_a_sparse_frame_removes_nothing_else() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    works(&scratch, &["data", "-o", "d.sframe"]);
    refused(&scratch, &["-d", "--rm", "d.sframe", "-o", "d.sframe/data"], &["d.sframe/data"]);
    refused(&scratch, &["-d", "d.sframe", "-o", "d.sframe/data"], &["d.sframe/data"]);
    refused(&scratch, &["convert", "--rm", "d.sframe", "-o", "d.sframe/x.b2frame"], &["d.sframe/x.b2frame"]);
    for inside in ["sub", "chunks.b2frame.notes"] {
        fs::create_dir(scratch.join("d.sframe").join(inside)).unwrap();
        scratch.write(&format!("d.sframe/{inside}/notes"), b"precious");
        refused(&scratch, &["-d", "--rm", "d.sframe", "-o", "d.out"], &["d.sframe"]);
        refused(&scratch, &["convert", "--rm", "d.sframe", "-o", "d.b2frame"], &["d.sframe"]);
        refused(&scratch, &["-q", "-d", "--rm", "."], &["d.sframe"]);
        fs::remove_dir_all(scratch.join("d.sframe").join(inside)).unwrap();
    }
    works(&scratch, &["-d", "--rm", "d.sframe", "-o", "d.out"]);
    assert_eq!(scratch.names(), ["d.out", "data"]);
}

#[test]
fn a_second_file_of_a_glob_is_not_the_output_of_convert() {
    let scratch = Scratch::new();
    for (name, data) in [("c1", ramp(1000)), ("c2", ramp(2000))] {
        scratch.write("data.npy", &npy("<i4", &format!("({},)", data.len() / 4), &data));
        works(&scratch, &["data.npy", "-o", &format!("{name}.b2nd")]);
    }
    for force in [&["-f"][..], &[]] {
        for format in [&["--format", "blp"][..], &[]] {
            let arguments = [&["convert"][..], force, format, &["c1.b2nd", "c2.b2nd"]].concat();
            refused(&scratch, &arguments, &["c2.b2nd", "-o c2.b2nd"]);
        }
    }
    // A frame that is broken can be repaired.
    let mut broken = fs::read(scratch.join("c2.b2nd")).unwrap();
    broken[..32].fill(0);
    scratch.write("c3.b2nd", &broken);
    refused(&scratch, &["convert", "-f", "c1.b2nd", "c3.b2nd"], &["-o c3.b2nd"]);
    scratch.write("c3.b2z", &broken);
    refused(&scratch, &["convert", "-f", "--format", "blp", "c1.b2nd", "c3.b2z"], &["-o c3.b2z"]);
    works(&scratch, &["convert", "-f", "--level", "9", "c2.b2nd", "./c2.b2nd"]);
    works(&scratch, &["convert", "-f", "c1.b2nd", "-o", "c2.b2nd"]);
    works(&scratch, &["convert", "c1.b2nd", "new.b2frame"]);
}

#[test]
fn a_damaged_second_file_is_not_the_output_of_decompress() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    works(&scratch, &["data", "-o", "g1.b2frame"]);
    for name in ["g2.b2frame", "g2.b2z"] {
        let mut broken = fs::read(scratch.join("g1.b2frame")).unwrap();
        broken[..32].fill(0);
        scratch.write(name, &broken);
        let output = run(&scratch, &["-d", "-f", "g1.b2frame", name]);
        assert_fails(&output, 1, name);
        assert_eq!(fs::read(scratch.join(name)).unwrap(), broken);
        assert_eq!(fs::read(scratch.join("g1")).unwrap(), ramp(1000));
        works(&scratch, &["-d", "-f", "g1.b2frame", "-o", name]);
    }
}

#[test]
fn rm_keeps_a_file_of_which_only_the_frame_at_an_offset_was_read() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    works(&scratch, &["data", "-o", "p.b2frame"]);
    let frame = fs::read(scratch.join("p.b2frame")).unwrap();
    scratch.write("pq.b2frame", &[&frame[..], &frame].concat());
    refused(&scratch, &["-d", "--rm", "--offset", "0", "pq.b2frame", "-o", "p.out"], &["all but a part of its data"]);
    works(&scratch, &["-d", "--offset", "0", "pq.b2frame", "-o", "p.out"]);
}

#[test]
fn the_json_of_a_bloscpack_file_is_metadata() {
    let scratch = Scratch::new();
    scratch.write("data", &ramp(1000));
    scratch.write("m.json", b"{\"site\": \"north\"}");
    works(&scratch, &["data", "-o", "m.blp", "--meta", "metadata=m.json"]);
    works(&scratch, &["data", "-o", "plain.blp"]);
    refused(&scratch, &["-d", "--rm", "m.blp", "-o", "m.out"], &["its metadata (metadata)"]);
    let output = run(&scratch, &["diff", "m.blp", "plain.blp"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("metadata of 16 bytes and no metadata"), "{text}");
    works(&scratch, &["diff", "m.blp", "m.blp"]);
    // What the result says itself is not lost.
    scratch.write("a.npy", &npy("<i4", "(10, 20)", &ramp(200)));
    works(&scratch, &["--rm", "--format", "blp", "a.npy"]);
    refused(&scratch, &["-d", "--rm", "a.npy.blp", "-o", "a.bin"], &["the shape and type of the array"]);
    works(&scratch, &["-d", "--rm", "a.npy.blp"]);
}

#[test]
fn rm_keeps_what_a_lossy_codec_or_filter_would_change() {
    let scratch = Scratch::new();
    let values: Vec<u8> = (0..600_u16).flat_map(|i| (f32::from(i) * 0.37).sin().to_le_bytes()).collect();
    scratch.write("az.npy", &npy("<f4", "(20, 30)", &values));
    refused(&scratch, &["--rm", "--codec", "zfp_acc:2", "az.npy", "-o", "az.b2nd"], &["precision, by zfp_acc"]);
    works(&scratch, &["az.npy", "-o", "a2.b2nd"]);
    for lossy in [["--filter", "trunc_prec:2"], ["--codec", "zfp_acc:2"]] {
        for target in ["a3.b2nd", "a3.zarr"] {
            let arguments = ["convert", "--rm", lossy[0], lossy[1], "a2.b2nd", "-o", target];
            if target == "a3.b2nd" || lossy[0] == "--filter" {
                refused(&scratch, &arguments, &["precision, by"]);
            }
        }
        refused(&scratch, &["convert", "-f", lossy[0], lossy[1], "a2.b2nd", "-o", "a2.b2nd"], &["precision, by"]);
        works(&scratch, &["convert", "-f", lossy[0], lossy[1], "a2.b2nd", "-o", "a4.b2nd"]);
        // Chunks that are copied as they are lose no more.
        works(&scratch, &["convert", "-f", "--rm", "a4.b2nd", "-o", "a5.b2nd"]);
    }
    scratch.write("values", &values);
    works(&scratch, &["--typesize", "4", "--filter", "trunc_prec:2", "values", "-o", "a6.b2frame"]);
    works(&scratch, &["convert", "--level", "9", "--rm", "a6.b2frame", "-o", "a7.b2frame"]);
    let again = ["convert", "--rm", "--typesize", "8", "a7.b2frame", "-o", "a8.b2frame"];
    refused(&scratch, &again, &["precision, by trunc_prec:2"]);
    works(&scratch, &["convert", "--rm", "--level", "9", "a2.b2nd", "-o", "a3.b2nd"]);
}

#[test]
fn a_fixed_metalayer_is_not_lost_on_the_way_to_zarr() {
    let scratch = Scratch::new();
    scratch.write("f", b"mine");
    scratch.write("a.npy", &npy("<i4", "(10, 20)", &ramp(200)));
    works(&scratch, &["a.npy", "-o", "am2.b2nd", "--meta", "mine=f"]);
    refused(&scratch, &["convert", "--rm", "am2.b2nd", "-o", "am2.zarr"], &["no place for mine"]);
    let output = run(&scratch, &["convert", "am2.b2nd", "am2.zarr"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Zarr has no place for mine; left out"));
    works(&scratch, &["a.npy", "-o", "plain.b2nd"]);
    works(&scratch, &["convert", "--rm", "plain.b2nd", "plain.zarr"]);
}
