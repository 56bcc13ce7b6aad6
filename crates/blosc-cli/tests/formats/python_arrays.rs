//! Arrays that python-blosc2 4.14.1 and python-blosc 1.11.4 have saved come back as what they were;
//! what has no data says so. `interop/stores.py specimens` made the files.

use crate::common::{BLOSC, Scratch, assert_fails, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn specimen(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name);
    path.to_str().unwrap().to_owned()
}

/// The header and the items of an .npy file.
fn npy(path: PathBuf) -> (String, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
    let len = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (String::from_utf8(bytes[10..10 + len].to_vec()).unwrap().trim_end().to_owned(), bytes[10 + len..].to_vec())
}

/// 0 to 11, as big-endian numbers of 16 bits.
fn ramp() -> Vec<u8> {
    (0..12_u16).flat_map(u16::to_be_bytes).collect()
}

/// Decompresses to an .npy file, straight and by way of other formats.
fn check(name: &str, header: &str, items: &[u8]) {
    for by in [None, Some("b2nd"), Some("blp"), Some("b2frame"), Some("sframe"), Some("b2packed")] {
        let scratch = Scratch::new();
        let mut input = specimen(name);
        if let Some(extension) = by {
            let converted = format!("by.{extension}");
            let output = run(&scratch, &["convert", &input, &converted]);
            assert!(output.status.success() && output.stderr.is_empty(), "{name} {by:?}: {output:?}");
            input = converted;
        }
        let output = run(&scratch, &["d", &input, "out.npy"]);
        assert!(output.status.success(), "{name} {by:?}: {output:?}");
        assert_eq!(npy(scratch.join("out.npy")), (header.to_owned(), items.to_vec()), "{name} {by:?}");
    }
}

#[test]
fn saved_arrays_have_their_type_and_shape() {
    check("save_array.b2frame", "{'descr': '>i2', 'fortran_order': False, 'shape': (3, 4), }", &ramp());
    let records = [&b"a\0\0"[..], &1.5_f64.to_le_bytes(), b"bc\0", &(-2.0_f64).to_le_bytes()].concat();
    let header = "{'descr': [('n', '|S3'), ('v', '<f8')], 'fortran_order': False, 'shape': (2,), }";
    check("save_tensor.b2frame", header, &records);
}

#[test]
fn packed_arrays_come_out_of_their_pickles() {
    let columns: Vec<u8> = (0..4_u16).flat_map(|x| [x, x + 4, x + 8]).flat_map(u16::to_be_bytes).collect();
    check("pack_array.bin", "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 4), }", &columns);
    let seconds: Vec<u8> = (0..12_u64).flat_map(u64::to_le_bytes).collect();
    check("pack_array_blosc1.bin", "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (3, 4), }", &seconds);
}

#[test]
fn a_pickle_stays_a_pickle_where_no_array_is_asked_for() {
    let scratch = Scratch::new();
    assert!(run(&scratch, &["d", &specimen("pack_array.bin"), "out"]).status.success());
    let pickle = fs::read(scratch.join("out")).unwrap();
    assert!(pickle.starts_with(b"\x80\x05") && pickle.ends_with(b"."));
    assert!(run(&scratch, &["convert", &specimen("pack_array.bin"), "out.chunk"]).status.success());
    assert_eq!(fs::read(scratch.join("out.chunk")).unwrap(), fs::read(specimen("pack_array.bin")).unwrap());
}

#[test]
fn a_pickle_of_anything_else_is_refused_by_name_and_nothing_of_it_runs() {
    let scratch = Scratch::new();
    let message = assert_fails(&run(&scratch, &["d", &specimen("pack_objects.bin"), "out.npy"]), 1, "objects");
    assert!(message.contains("pickle:") && message.contains("they are Python objects"), "{message}");
    let message = assert_fails(&run(&scratch, &["convert", &specimen("pack_objects.bin"), "out.b2nd"]), 1, "objects");
    assert!(message.contains("pickle:"), "{message}");
    // A pickle that would run a command.
    let command = format!("touch {}", scratch.join("pwned").display());
    let evil = [
        &b"\x80\x02cposix\nsystem\nX"[..],
        &u32::try_from(command.len()).unwrap().to_le_bytes(),
        command.as_bytes(),
        b"\x85R.",
    ];
    scratch.write("evil", &evil.concat());
    assert!(run(&scratch, &["c", "evil", "evil.chunk"]).status.success());
    let message = assert_fails(&run(&scratch, &["d", "evil.chunk", "evil.npy"]), 1, "evil");
    assert!(message.contains("posix.system is called"), "{message}");
    assert!(run(&scratch, &["info", "evil.chunk"]).status.success());
    assert_eq!(scratch.names(), ["evil", "evil.chunk"]);
}

#[test]
fn info_shows_the_type_and_shape_of_saved_arrays() {
    for (name, line) in [
        ("save_array.b2frame", "array         3 x 4 of >i2\n"),
        ("pack_array.bin", "array         3 x 4 of >i2, Fortran order\n"),
        ("pack_array_blosc1.bin", "array         3 x 4 of datetime64[s]\n"),
    ] {
        let output = Command::new(BLOSC).args(["info", &specimen(name)]).output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains(line), "{name}");
    }
}

#[test]
fn the_layer_of_python_stays_in_frames_and_is_replaced_where_it_would_be_wrong() {
    let scratch = Scratch::new();
    let source = specimen("save_array.b2frame");
    let layers = |name: &str| String::from_utf8(run(&scratch, &["meta", "list", name]).stdout).unwrap();
    assert!(run(&scratch, &["convert", &source, "copy.b2frame"]).status.success());
    assert!(layers("copy.b2frame").contains("__pack_tensor__"));
    assert!(run(&scratch, &["convert", &source, "other.b2frame", "--dtype", "<u4"]).status.success());
    assert!(!layers("other.b2frame").contains("__pack_tensor__"));
    assert!(run(&scratch, &["d", "other.b2frame", "other.npy"]).status.success());
    assert!(npy(scratch.join("other.npy")).0.contains("'<u4', 'fortran_order': False, 'shape': (3, 2)"));
}

#[test]
fn a_lazy_expression_has_no_data_and_says_so() {
    let scratch = Scratch::new();
    let lazy = specimen("lazy.b2nd");
    for arguments in [
        &["d", &lazy, "out"][..],
        &["d", &lazy, "out.npy"],
        &["d", &lazy, "out", "--slice", "0:2"],
        &["d", &lazy, "out", "--bytes", "0..8"],
        &["cat", &lazy],
        &["convert", &lazy, "out.b2nd"],
        &["convert", &lazy, "out.blp"],
        &["tune", &lazy],
    ] {
        let message = assert_fails(&run(&scratch, arguments), 1, &arguments.join(" "));
        assert!(message.contains("a saved lazy expression (metalayer b2o), which has no data of its own"), "{message}");
    }
    assert!(scratch.names().is_empty());
    let output = run(&scratch, &["info", &lazy]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("  no data       a saved lazy expression"));
}

#[test]
fn an_array_whose_description_does_not_fit_is_not_made_up() {
    let scratch = Scratch::new();
    scratch.write("data", &[7; 24]);
    assert!(run(&scratch, &["c", "data", "x.b2frame", "--dtype", "<u2", "--shape", "3,4"]).status.success());
    let described = String::from_utf8(run(&scratch, &["meta", "get", "x.b2frame", "bloscpack"]).stdout).unwrap();
    let wrong = described.replace("[3, 4]", "[3, 5]").replace("[3,4]", "[3,5]");
    assert_ne!(wrong, described);
    assert!(run(&scratch, &["meta", "set", "x.b2frame", "bloscpack", &wrong]).status.success());
    let message = assert_fails(&run(&scratch, &["d", "x.b2frame", "out.npy"]), 1, "30 bytes described");
    assert!(message.contains("an array of 30 bytes is described, there are 24"), "{message}");
    assert!(run(&scratch, &["d", "x.b2frame", "out"]).status.success());
}
