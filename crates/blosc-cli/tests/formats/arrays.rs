//! Arrays and .npy files that are not what they say, and what becomes of them.

use crate::common::{Scratch, assert_fails, blosc_with_input, npy, ramp, run};
use std::fs;

/// 2^61 bytes in a file of 129.
fn huge_npy() -> Vec<u8> {
    npy("|u1", "(2305843009213693952,)", &[7])
}

#[test]
fn an_npy_file_that_claims_exabytes_is_refused_in_one_line() {
    let scratch = Scratch::new();
    scratch.write("huge.npy", &huge_npy());
    for target in ["out.b2nd", "out.b2frame", "out.blp"] {
        let line = assert_fails(&run(&scratch, &["c", "huge.npy", target]), 1, target);
        assert!(line.contains("announced"), "{line}");
        let piped = blosc_with_input(["c", "-", scratch.join(target).to_str().unwrap()], &huge_npy());
        assert_fails(&piped, 1, target);
    }
    assert_eq!(scratch.names(), ["huge.npy"]);
}

#[test]
fn metadata_that_claims_exabytes_is_refused_in_one_line() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(1000));
    let json = r#"{"dtype": "|u1", "shape": [2305843009213693952], "order": "C", "container": "numpy"}"#;
    scratch.write("meta.json", json.as_bytes());
    assert!(run(&scratch, &["c", "data.bin", "data.blp", "--meta", "bloscpack=meta.json"]).status.success());
    let line = assert_fails(&run(&scratch, &["convert", "data.blp", "out.b2nd"]), 1, "metadata");
    assert!(line.contains("2305843009213693952"), "{line}");
    // What the metadata says of the shape can be corrected.
    let shaped = ["convert", "data.blp", "out.b2nd", "--shape", "4000", "--dtype", "|u1", "--typesize", "1"];
    assert!(run(&scratch, &shaped).status.success());
    let line = assert_fails(&run(&scratch, &["c", "data.bin", "x.b2nd", "--shape", "2305843009213693952"]), 2, "shape");
    assert!(line.contains("there are 4000"), "{line}");
}

#[test]
fn an_npy_file_with_bytes_missing_or_left_over_is_an_error_in_every_format() {
    let scratch = Scratch::new();
    let whole = npy("<i4", "(10, 20, 30)", &ramp(6000));
    scratch.write("short.npy", &whole[..whole.len() - 1]);
    scratch.write("long.npy", &[&whole[..], b"x"].concat());
    for format in ["b2frame", "sframe", "b2nd", "blp", "chunk", "blosc1", "packed", "frame-beta5"] {
        for (name, why) in [("short.npy", "cut off"), ("long.npy", "behind the array")] {
            let line = assert_fails(&run(&scratch, &["c", name, "-o", "out", "--format", format]), 1, format);
            assert!(line.contains(why), "{format}: {line}");
            let bytes = fs::read(scratch.join(name)).unwrap();
            let target = scratch.join("out");
            let piped = blosc_with_input(["c", "-", "-o", target.to_str().unwrap(), "--format", format], &bytes);
            let line = assert_fails(&piped, 1, format);
            assert!(line.contains(why), "{format}, through a pipe: {line}");
        }
    }
    assert_eq!(scratch.names(), ["long.npy", "short.npy"]);
}

#[test]
fn floats_with_zfp_come_back_within_the_bound_that_was_asked_for() {
    let scratch = Scratch::new();
    let floats: Vec<f32> = (0..40 * 50 * 6).map(|i| (i as f32 / 90.0).sin() * 10.0).collect();
    let plain: Vec<u8> = floats.iter().flat_map(|item| item.to_le_bytes()).collect();
    scratch.write("wave.npy", &npy("<f4", "(40, 50, 6)", &plain));
    let packed = run(&scratch, &["c", "wave.npy", "wave.b2nd", "--codec", "zfp_acc:-2"]);
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    assert!(run(&scratch, &["verify", "wave.b2nd"]).status.success());
    // Another file of it loses nothing more.
    assert!(run(&scratch, &["convert", "wave.b2nd", "again.b2nd", "--level", "1"]).status.success());
    for name in ["wave.b2nd", "again.b2nd"] {
        assert!(run(&scratch, &["d", "--force", name, "back.npy"]).status.success());
        let back = fs::read(scratch.join("back.npy")).unwrap();
        let back = back[back.len() - plain.len()..].as_chunks().0.iter().copied().map(f32::from_le_bytes);
        let worst = back.zip(&floats).map(|(found, item)| (found - item).abs()).fold(0.0, f32::max);
        assert!(worst > 0.0 && worst <= 0.01, "{name}: {worst}");
    }
    assert!(fs::metadata(scratch.join("wave.b2nd")).unwrap().len() * 2 < plain.len() as u64);
    let line = assert_fails(&run(&scratch, &["c", "wave.npy", "x.b2frame", "--codec", "zfp_acc:-2"]), 2, "b2frame");
    assert!(line.contains("is for arrays"), "{line}");
    let line = assert_fails(&run(&scratch, &["c", "wave.npy", "x.b2nd", "--codec", "zfp_rate"]), 2, "no number");
    assert!(line.contains("zfp_rate:25"), "{line}");
    scratch.write("ints.npy", &npy("<i2", "(40, 50, 12)", &plain));
    let line = assert_fails(&run(&scratch, &["c", "ints.npy", "x.b2nd", "--codec", "zfp_acc:-2"]), 2, "integers");
    assert!(line.contains("floats of 4 or 8"), "{line}");
}

/// The bytes of a frame with others in place of some of its array metalayer.
fn with_other_meta(frame: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = frame.windows(from.len()).position(|window| window == from).expect("it is there");
    let mut changed = frame.to_vec();
    changed[at..at + to.len()].copy_from_slice(to);
    changed
}

fn cube(scratch: &Scratch) -> Vec<u8> {
    scratch.write("cube.npy", &npy("<i4", "(10, 20, 30)", &ramp(6000)));
    let made = run(scratch, &["c", "cube.npy", "cube.b2nd", "--chunks", "5,20,30", "--blocks", "5,10,30"]);
    assert!(made.status.success());
    fs::read(scratch.join("cube.b2nd")).unwrap()
}

#[test]
fn shapes_that_cannot_be_are_damage() {
    let scratch = Scratch::new();
    let frame = cube(&scratch);
    let blocks = [0xd2, 0, 0, 0, 5, 0xd2, 0, 0, 0, 10, 0xd2, 0, 0, 0, 30];
    let longer = [0xd2, 0, 0, 0, 99, 0xd2, 0, 0, 0, 10, 0xd2, 0, 0, 0, 30];
    scratch.write("bad.b2nd", &with_other_meta(&frame, &blocks, &longer));
    for arguments in [&["d", "bad.b2nd", "-"][..], &["info", "bad.b2nd"], &["verify", "bad.b2nd"], &["cat", "bad.b2nd"]]
    {
        assert_fails(&run(&scratch, arguments), 1, arguments[0]);
    }
}

#[test]
fn an_npy_file_of_items_with_another_type_than_their_size_can_be_read() {
    let scratch = Scratch::new();
    let frame = cube(&scratch);
    for (dtype, name) in [(b"<i8", "wrong.b2nd"), (b"???", "unknown.b2nd")] {
        scratch.write(name, &with_other_meta(&frame, b"<i4", dtype));
        assert!(run(&scratch, &["d", name, "out.npy", "--force"]).status.success());
        assert_eq!(fs::read(scratch.join("out.npy")).unwrap(), npy("|V4", "(10, 20, 30)", &ramp(6000)));
        assert!(run(&scratch, &["d", name, "out.npy", "--force", "--slice", "9,19"]).status.success());
        assert_eq!(fs::read(scratch.join("out.npy")).unwrap(), npy("|V4", "(30,)", &ramp(6000)[4 * 5970..]));
    }
}

fn facts(scratch: &Scratch, name: &str) -> String {
    String::from_utf8(run(scratch, &["info", "--json", name]).stdout).unwrap()
}

#[test]
fn converting_to_other_chunks_chooses_blocks_anew_and_keeps_everything_else() {
    let scratch = Scratch::new();
    cube(&scratch);
    assert!(run(&scratch, &["meta", "set", "cube.b2nd", "unit", "kelvin"]).status.success());
    assert!(run(&scratch, &["meta", "set", "cube.b2nd", "fixed", "abc", "--fixed"]).status.success());
    scratch.write("other", b"celsius and more");
    let convert = ["convert", "cube.b2nd", "out.b2nd", "--chunks", "2,3,4", "--meta", "fixed=other"];
    assert!(run(&scratch, &convert).status.success());
    let found = facts(&scratch, "out.b2nd");
    assert!(found.contains("\"chunks\": [2, 3, 4]") && found.contains("\"blocks\": [2, 3, 4]"), "{found}");
    assert!(found.contains("\"dtype\": \"<i4\"") && found.contains("\"shape\": [10, 20, 30]"), "{found}");
    assert_eq!(run(&scratch, &["cat", "out.b2nd"]).stdout, ramp(6000));
    assert_eq!(run(&scratch, &["meta", "get", "out.b2nd", "unit"]).stdout, b"kelvin");
    assert_eq!(run(&scratch, &["meta", "get", "out.b2nd", "fixed"]).stdout, b"celsius and more");
}

#[test]
fn another_type_keeps_the_shape() {
    let scratch = Scratch::new();
    cube(&scratch);
    for (dtype, shape) in [("<f4", "[10, 20, 30]"), ("<i2", "[10, 20, 60]"), ("<f8", "[10, 20, 15]")] {
        for (source, command) in [("cube.b2nd", "convert"), ("cube.npy", "compress")] {
            let arguments = [command, source, "-o", "out.b2nd", "--force", "--dtype", dtype];
            let output = run(&scratch, &arguments);
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            let found = facts(&scratch, "out.b2nd");
            assert!(found.contains(&format!("\"shape\": {shape}")), "{arguments:?}: {found}");
            assert_eq!(run(&scratch, &["cat", "out.b2nd"]).stdout, ramp(6000));
        }
    }
    let line = assert_fails(&run(&scratch, &["convert", "cube.b2nd", "x.b2nd", "--dtype", "|V7"]), 2, "odd");
    assert!(line.contains("--shape"), "{line}");
}

#[test]
fn the_sizes_of_chunks_and_blocks_count_for_arrays_too() {
    let scratch = Scratch::new();
    cube(&scratch);
    let sizes = ["c", "cube.npy", "out.b2nd", "--chunk-size", "6000", "--block-size", "1500"];
    assert!(run(&scratch, &sizes).status.success());
    let found = facts(&scratch, "out.b2nd");
    assert!(found.contains("\"chunks\": [10, 10, 16]") && found.contains("\"blocks\": [5, 5, 8]"), "{found}");
    let convert = ["convert", "cube.b2nd", "-o", "out.b2nd", "--force", "--block-size", "1500"];
    assert!(run(&scratch, &convert).status.success());
    let found = facts(&scratch, "out.b2nd");
    assert!(found.contains("\"chunks\": [5, 20, 30]") && found.contains("\"blocks\": [5, 5, 8]"), "{found}");
    let both = ["c", "cube.npy", "x.b2nd", "--chunk-size", "1M", "--chunks", "1,2,3"];
    assert_fails(&run(&scratch, &both), 2, "both");
}

#[test]
fn what_a_bloscpack_file_cannot_say_is_told() {
    let scratch = Scratch::new();
    cube(&scratch);
    for version in ["1", "2"] {
        let output = run(&scratch, &["c", "cube.npy", "out.blp", "--force", "--blp-version", version]);
        assert!(output.status.success());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("no place for the description"), "{told}");
    }
    scratch.write("meta.json", b"{\"unit\":\"kelvin\"}");
    let named = ["c", "cube.npy", "out.blp", "--force", "--meta", "metadata=meta.json"];
    assert!(run(&scratch, &named).stderr.is_empty());
    assert_eq!(run(&scratch, &["meta", "get", "out.blp", "metadata"]).stdout, b"{\"unit\":\"kelvin\"}");
}

#[test]
fn an_array_grows_by_layers_of_its_own_shape_only() {
    let scratch = Scratch::new();
    cube(&scratch);
    scratch.write("layer.npy", &npy("<i4", "(20, 30)", &ramp(600)));
    scratch.write("turned.npy", &npy("<i4", "(2, 30, 20)", &ramp(1200)));
    let mut fortran = npy("<i4", "(2, 20, 30)", &ramp(1200));
    let at = fortran.windows(5).position(|window| window == b"False").unwrap();
    fortran[at..at + 5].copy_from_slice(b"True ");
    scratch.write("fortran.npy", &fortran);
    assert!(run(&scratch, &["append", "cube.b2nd", "layer.npy"]).status.success());
    assert!(facts(&scratch, "cube.b2nd").contains("\"shape\": [11, 20, 30]"));
    assert!(assert_fails(&run(&scratch, &["append", "cube.b2nd", "turned.npy"]), 2, "turned").contains("shape"));
    assert_eq!(run(&scratch, &["cat", "cube.b2nd"]).stdout, [ramp(6000), ramp(600)].concat());
    assert!(run(&scratch, &["append", "cube.b2nd", "fortran.npy"]).status.success());
    assert!(run(&scratch, &["d", "cube.b2nd", "last.npy", "--slice", "-2:"]).status.success());
    let items = ramp(1200);
    let last = fs::read(scratch.join("last.npy")).unwrap();
    // The item behind the first one along the last axis is a whole layer away in Fortran order.
    assert_eq!(last[last.len() - 4800..][4..8], items[2 * 20 * 4..][..4]);
}

#[test]
fn nothing_is_appended_to_an_array_of_nothing() {
    let scratch = Scratch::new();
    scratch.write("none.npy", &npy("<i4", "(5, 0)", &[]));
    assert!(run(&scratch, &["c", "none.npy", "none.b2nd"]).status.success());
    let output = run(&scratch, &["append", "none.b2nd", "none.npy"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let facts = String::from_utf8(run(&scratch, &["info", "--json", "none.b2nd"]).stdout).unwrap();
    assert!(facts.contains("\"shape\": [5, 0]"), "{facts}");
}

/// Formats that have a place for the type and shape of an array.
const DESCRIBED: [&str; 7] = ["b2frame", "sframe", "b2nd", "blp", "packed", "frame-beta1", "frame-beta5"];

#[test]
fn a_description_on_the_command_line_is_kept_by_every_format_that_has_a_place_for_it() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(6000));
    for format in DESCRIBED {
        let command = ["c", "data.bin", "-o", format, "--format", format, "--shape", "60,100", "--dtype", "<i4"];
        assert!(run(&scratch, &command).status.success(), "{format}");
        let back = run(&scratch, &["d", format, "-", "--npy"]).stdout;
        assert_eq!(back, npy("<i4", "(60, 100)", &ramp(6000)), "{format}");
        let command = ["convert", format, "-o", "seen.blp", "--force", "--dtype", "<i2"];
        assert!(run(&scratch, &command).status.success(), "{format}");
        let back = run(&scratch, &["d", "seen.blp", "-", "--npy"]).stdout;
        assert_eq!(back, npy("<i2", "(60, 200)", &ramp(6000)), "{format}, seen as something else");
    }
}

#[test]
fn a_shape_that_the_data_does_not_have_is_refused_for_every_format() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(6000));
    for format in DESCRIBED {
        let command = ["c", "data.bin", "-o", "out", "--format", format, "--shape", "60,99", "--dtype", "<i4"];
        let line = assert_fails(&run(&scratch, &command), 2, format);
        assert!(line.contains("an array of 23760 bytes is described, there are 24000"), "{format}: {line}");
    }
    let line = assert_fails(&run(&scratch, &["c", "data.bin", "out.b2nd", "--shape", "60,100"]), 2, "no type");
    assert!(line.contains("its items are |u1, unless --dtype says what"), "{line}");
    assert_eq!(scratch.names(), ["data.bin"]);
}

#[test]
fn another_json_text_is_not_replaced_by_a_description() {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(6000));
    scratch.write("note.json", br#"{"note":1}"#);
    let command = ["c", "data.bin", "out.blp", "--dtype", "<i4", "--meta", "metadata=note.json"];
    assert!(run(&scratch, &command).status.success());
    assert_eq!(run(&scratch, &["meta", "get", "out.blp", "metadata"]).stdout, br#"{"note":1}"#);
}

/// The same .npy file with the flag of Fortran order.
fn in_fortran_order(mut npy: Vec<u8>) -> Vec<u8> {
    let at = npy.windows(5).position(|window| window == b"False").unwrap();
    npy.splice(at..at + 5, *b"True");
    let end = npy.iter().position(|&byte| byte == b'\n').unwrap();
    npy.insert(end, b' ');
    npy
}

#[test]
fn an_npy_file_in_fortran_order_comes_back_byte_by_byte_from_every_format_that_holds_arrays() {
    let scratch = Scratch::new();
    let cube = in_fortran_order(npy("<i4", "(10, 20, 30)", &ramp(6000)));
    let row = in_fortran_order(npy("<i4", "(6000,)", &ramp(6000)));
    let item = in_fortran_order(npy("<i4", "()", &ramp(1)));
    let none = in_fortran_order(npy("<i4", "(3, 0)", &[]));
    for (name, whole) in [("cube", cube), ("row", row), ("item", item), ("none", none)] {
        let source = format!("{name}.npy");
        scratch.write(&source, &whole);
        for first in ["b2nd", "blp", "sframe", "b2frame"] {
            for second in ["b2nd", "blp", "sframe", "b2frame"] {
                let (one, two) = (format!("{name}-{first}.{first}"), format!("{name}-{first}-{second}.{second}"));
                assert!(run(&scratch, &["c", &source, &one, "--force"]).status.success(), "{one}");
                assert!(run(&scratch, &["convert", &one, &two]).status.success(), "{two}");
                assert!(run(&scratch, &["d", &two, "back.npy", "--force"]).status.success(), "{two}");
                assert!(fs::read(scratch.join("back.npy")).unwrap() == whole, "{two}");
            }
        }
        let (one, other) = (format!("{name}-b2nd.b2nd"), format!("{name}-level.b2nd"));
        assert!(run(&scratch, &["convert", &one, &other, "--level", "9"]).status.success());
        assert!(run(&scratch, &["d", &other, "back.npy", "--force"]).status.success());
        assert!(fs::read(scratch.join("back.npy")).unwrap() == whole, "{name}, compressed anew");
    }
    assert!(facts(&scratch, "cube-b2nd.b2nd").contains(r#""order": "F""#));
}

#[test]
fn what_becomes_an_npy_file_is_called_so() {
    let scratch = Scratch::new();
    scratch.write("cube.npy", &npy("<i4", "(10, 20)", &ramp(200)));
    assert!(run(&scratch, &["c", "cube.npy"]).status.success());
    assert!(run(&scratch, &["c", "cube.npy", "plain.b2nd"]).status.success());
    fs::remove_file(scratch.join("cube.npy")).unwrap();
    for file in ["cube.npy.b2nd", "plain.b2nd"] {
        assert!(run(&scratch, &["d", file, "--npy"]).status.success(), "{file}");
    }
    assert_eq!(scratch.names(), ["cube.npy", "cube.npy.b2nd", "plain.b2nd", "plain.npy"]);
    assert!(run(&scratch, &["d", ".", "-o", "below", "--npy"]).status.success());
    let mut names: Vec<_> =
        fs::read_dir(scratch.join("below")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["cube.npy", "plain.npy"]);
}
