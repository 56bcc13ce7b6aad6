//! Arrays of Zarr: nothing of what they say is lost or misread, and what is not read is refused.

use crate::common::{Scratch, assert_fails, npy, ramp, run};
use std::fs;

/// What a description of version 3 says besides the members given: four integers in one chunk.
fn v3(scratch: &Scratch, name: &str, members: &str) {
    let usual = [
        ("chunk_key_encoding", r#"{"name":"default"}"#),
        ("codecs", r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#),
        ("attributes", "{}"),
    ];
    let usual: String = usual
        .iter()
        .filter(|(key, _)| !members.contains(key))
        .map(|(key, value)| format!(r#","{key}":{value}"#))
        .collect();
    let text = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[2,2],"data_type":"int32","chunk_grid":{{"name":"regular",
        "configuration":{{"chunk_shape":[2,2]}}}},"fill_value":0{usual}{}{members}}}"#,
        if members.is_empty() { "" } else { "," }
    );
    fs::create_dir_all(scratch.join(format!("{name}/c/0"))).unwrap();
    scratch.write(&format!("{name}/zarr.json"), text.as_bytes());
    scratch.write(&format!("{name}/c/0/0"), &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
}

fn v2(scratch: &Scratch, name: &str, dtype: &str, fill_value: &str, chunk: &[u8]) {
    fs::create_dir_all(scratch.join(name)).unwrap();
    let text = format!(
        r#"{{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":{dtype},"compressor":null,"fill_value":{fill_value},
        "order":"C","filters":null}}"#
    );
    scratch.write(&format!("{name}/.zarray"), text.as_bytes());
    scratch.write(&format!("{name}/0"), chunk);
}

#[track_caller]
fn good(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = run(scratch, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(scratch: &Scratch, members: &str, why: &str) {
    v3(scratch, "refused", members);
    let message = assert_fails(&run(scratch, &["convert", "refused", "x.b2nd"]), 1, members);
    assert!(message.contains(why), "{members}: {message}");
    assert!(!scratch.join("x.b2nd").exists(), "{members}");
}

#[test]
fn names_of_chunks_that_are_not_known_are_refused() {
    let scratch = Scratch::new();
    refused(&scratch, r#""chunk_key_encoding":{"name":"suffixed"}"#, "chunk_key_encoding");
    refused(
        &scratch,
        r#""chunk_key_encoding":{"name":"default","configuration":{"separator":"-"}}"#,
        "separator \"-\" is not supported",
    );
    refused(&scratch, r#""storage_transformers":[{"name":"x"}]"#, "storage_transformers");
    v3(&scratch, "good", r#""storage_transformers":[]"#);
    good(&scratch, &["convert", "good", "good.b2nd"]);
    assert_eq!(good(&scratch, &["head", "good.b2nd"]).split_whitespace().last(), Some("4]]"));
}

#[test]
fn a_second_order_of_axes_is_refused() {
    let scratch = Scratch::new();
    let transpose = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;
    refused(&scratch, &format!(r#""codecs":[{transpose},{transpose},{{"name":"bytes"}}]"#), "more than once");
    v3(&scratch, "once", &format!(r#""codecs":[{transpose},{{"name":"bytes"}}]"#));
    good(&scratch, &["convert", "once", "once.b2nd"]);
}

#[test]
fn zeros_are_stored_where_there_is_no_fill_value() {
    let scratch = Scratch::new();
    v2(&scratch, "null", "\"<i4\"", "null", &[0; 16]);
    v2(&scratch, "zero", "\"<i4\"", "0", &[0; 16]);
    for (name, is_stored) in [("null", true), ("zero", false)] {
        let (between, output) = (format!("{name}.b2nd"), format!("{name}.zarr"));
        good(&scratch, &["convert", name, &between]);
        good(&scratch, &["convert", &between, &output, "--zarr-version", "2"]);
        assert_eq!(scratch.join(format!("{output}/0")).exists(), is_stored, "{name}");
    }
    let said = fs::read_to_string(scratch.join("null.zarr/.zarray")).unwrap();
    assert!(said.contains("\"fill_value\": null"), "{said}");
}

#[test]
fn names_of_fields_stay_what_they_are() {
    let scratch = Scratch::new();
    v2(&scratch, "fields", r#"[["x(m)","<i4"],["n,)","|i1"]]"#, "null", &[7; 20]);
    good(&scratch, &["convert", "fields", "fields.b2nd"]);
    good(&scratch, &["convert", "fields.b2nd", "fields.zarr", "--zarr-version", "2"]);
    let said = fs::read_to_string(scratch.join("fields.zarr/.zarray")).unwrap();
    assert!(said.contains(r#""dtype": [["x(m)", "<i4"], ["n,)", "|i1"]]"#), "{said}");
    v2(&scratch, "quoted", r#"[["x'","<i4"]]"#, "null", &[7; 16]);
    let message = assert_fails(&run(&scratch, &["convert", "quoted", "quoted.b2nd"]), 1, "a quote");
    assert!(message.contains("quotes"), "{message}");
}

#[test]
fn attributes_stay_as_they_are_written() {
    let scratch = Scratch::new();
    let attributes = r#"{"id": 123456789012345678901234567890, "x": 1.10, "y": {"z": [1e400]}}"#;
    let attributes = attributes.replace("1e400", "18446744073709551617");
    v3(&scratch, "three", &format!(r#""attributes":{attributes}"#));
    v2(&scratch, "two", "\"<i4\"", "0", &[1; 16]);
    scratch.write("two/.zattrs", attributes.as_bytes());
    for name in ["two", "three"] {
        let between = format!("{name}.b2nd");
        good(&scratch, &["convert", name, &between]);
        for (version, file) in [("2", ".zattrs"), ("3", "zarr.json")] {
            let output = format!("{name}{version}.zarr");
            good(&scratch, &["convert", &between, &output, "--zarr-version", version]);
            let said = fs::read_to_string(scratch.join(format!("{output}/{file}"))).unwrap();
            assert!(said.contains(&attributes), "{output}: {said}");
            good(&scratch, &["convert", &output, &format!("{name}{version}.b2nd")]);
        }
    }
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let scratch = Scratch::new();
    scratch.write("a.npy", &npy("<i4", "(4, 6)", &ramp(24)));
    scratch.write("k", b"v");
    good(&scratch, &["a.npy", "-o", "a.b2nd"]);
    good(&scratch, &["convert", "a.b2nd", "z.zarr"]);
    for options in [&["--shape", "24"][..], &["--dtype", "int32"], &["--meta", "k=k"], &["--vlmeta", "k=k"]] {
        let message =
            assert_fails(&run(&scratch, &[&["convert", "a.b2nd", "x.zarr"], options].concat()), 2, options[0]);
        assert!(message.contains(options[0]), "{message}");
        assert!(!scratch.join("x.zarr").exists(), "{options:?}");
    }
    for options in [&["--shape", "24"][..], &["--dtype", "int32", "--shape", "4,6"]] {
        assert_fails(&run(&scratch, &[&["convert", "z.zarr", "x.b2nd"], options].concat()), 2, options[0]);
        assert!(!scratch.join("x.b2nd").exists(), "{options:?}");
    }
    good(&scratch, &["convert", "z.zarr", "x.b2nd", "--meta", "k=k"]);
}
