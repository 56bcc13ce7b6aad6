//! Stores of python-blosc2 (4.14.1 made the files): their members are listed, taken one by one, and
//! unpacked all or not at all.

use crate::common::{Scratch, assert_fails, run};
use std::fs;
use std::path::Path;

const STORES: [&str; 3] = ["dict.b2z", "dict.b2d", "embed.b2e"];

fn specimen(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name);
    path.to_str().unwrap().to_owned()
}

fn big() -> Vec<u8> {
    (0..60_u32).flat_map(u32::to_le_bytes).collect()
}

fn small() -> Vec<u8> {
    (0..12_u16).flat_map(u16::to_be_bytes).collect()
}

#[test]
fn members_are_listed() {
    for name in STORES {
        let scratch = Scratch::new();
        let output = run(&scratch, &["info", &specimen(name)]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}");
        assert!(text.contains("  members       2\n"), "{text}");
        assert!(text.contains("6 x 10 of <u4, 240 bytes") && text.contains("dir/small: b2nd, 3 x 4 of >i2"), "{text}");
        let json = String::from_utf8(run(&scratch, &["info", "--json", &specimen(name)]).stdout).unwrap();
        let extension = name.rsplit('.').next().unwrap();
        assert!(json.contains(&format!("\"format\": \"{extension}\"")), "{json}");
        assert!(json.contains("\"key\": \"dir/small\"") && json.contains("\"codec\": null"), "{json}");
    }
}

/// Python writes both ends of an archive where the usual one still can tell all, as from 2 GiB on.
#[test]
fn archives_with_sizes_of_64_bits_are_read() {
    let scratch = Scratch::new();
    let described = |name: &str| {
        let output = run(&scratch, &["info", &specimen(name)]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    for name in ["forced.b2z", "long.b2z"] {
        assert_eq!(described(name), described("dict.b2z"), "{name}");
        assert!(run(&scratch, &["verify", &specimen(name)]).status.success(), "{name}");
        assert_eq!(run(&scratch, &["cat", &format!("{}/big", specimen(name))]).stdout, big(), "{name}");
    }
    let long = fs::read(specimen("long.b2z")).unwrap();
    let end = long.windows(4).position(|window| window == b"PK\x06\x06").unwrap();
    for (at, said) in [(32, "one end of the archive says"), (24 + 24, "at")] {
        let mut changed = long.clone();
        changed[end + at] ^= 1;
        scratch.write("changed.b2z", &changed);
        let message = assert_fails(&run(&scratch, &["info", "changed.b2z"]), 1, "an end that was changed");
        assert!(message.contains("zip: ") && message.contains(said), "{message}");
    }
}

#[test]
fn a_member_is_taken_by_its_name_with_or_without_extension() {
    for name in STORES {
        let scratch = Scratch::new();
        let (big_member, small_member) = (format!("{}/big", specimen(name)), format!("{}/dir/small", specimen(name)));
        assert_eq!(run(&scratch, &["cat", &big_member]).stdout, big(), "{name}");
        assert_eq!(run(&scratch, &["d", &small_member, "-"]).stdout, small(), "{name}");
        assert_eq!(run(&scratch, &["d", &big_member, "-", "--slice", "0,1:3"]).stdout, big()[4..12], "{name}");
        assert!(run(&scratch, &["convert", &small_member, "out.blp"]).status.success(), "{name}");
        assert_eq!(run(&scratch, &["cat", "out.blp"]).stdout, small(), "{name}");
        assert!(run(&scratch, &["info", &small_member]).status.success(), "{name}");
        if name != "embed.b2e" {
            assert_eq!(run(&scratch, &["cat", &format!("{big_member}.b2nd")]).stdout, big(), "{name}");
        }
        let message = assert_fails(&run(&scratch, &["d", &format!("{}/none", specimen(name)), "-"]), 2, name);
        assert!(message.contains("there is no member \"none\""), "{message}");
    }
}

#[test]
fn a_member_without_output_goes_beside_its_store() {
    let scratch = Scratch::new();
    fs::copy(specimen("dict.b2z"), scratch.join("s.b2z")).unwrap();
    assert!(run(&scratch, &["d", "s.b2z/dir/small"]).status.success());
    assert!(run(&scratch, &["d", "s.b2z/big.b2nd", "--npy"]).status.success());
    assert_eq!(scratch.names(), ["big.npy", "s.b2z", "small"]);
}

#[test]
fn a_whole_store_becomes_a_directory() {
    for name in STORES {
        let scratch = Scratch::new();
        assert!(run(&scratch, &["d", &specimen(name), "plain"]).status.success(), "{name}");
        assert_eq!(fs::read(scratch.join("plain/big")).unwrap(), big(), "{name}");
        assert_eq!(fs::read(scratch.join("plain/dir/small")).unwrap(), small(), "{name}");
        assert!(run(&scratch, &["d", "--npy", &specimen(name), "arrays"]).status.success(), "{name}");
        assert!(fs::read(scratch.join("arrays/dir/small.npy")).unwrap().ends_with(&small()), "{name}");
        // A directory that is there is a place to write to, and is not replaced.
        assert!(run(&scratch, &["d", &specimen(name), "plain"]).status.success(), "{name}");
        let message = assert_fails(&run(&scratch, &["d", &specimen(name), "plain", "--force"]), 2, name);
        assert!(message.contains("this is a directory"), "{message}");
        assert_fails(&run(&scratch, &["cat", &specimen(name)]), 1, name);
        assert_eq!(scratch.names(), ["arrays", "plain"]);
    }
}

#[test]
fn a_store_in_an_archive_becomes_a_store_in_a_directory_as_it_is() {
    let scratch = Scratch::new();
    for name in ["dict.b2z", "dict.b2d"] {
        let target = format!("{}.b2d", &name[5..]);
        assert!(run(&scratch, &["convert", &specimen(name), &target]).status.success(), "{name}");
        assert_eq!(
            fs::read(scratch.join(&target).join("big.b2nd")).unwrap(),
            fs::read(specimen("dict.b2d/big.b2nd")).unwrap()
        );
        assert!(run(&scratch, &["verify", &target]).status.success(), "{name}");
        assert_eq!(run(&scratch, &["cat", &format!("{target}/dir/small")]).stdout, small());
    }
    let message = assert_fails(&run(&scratch, &["convert", &specimen("dict.b2z"), "x.blp"]), 2, "one file");
    assert!(message.contains("FILE/member"), "{message}");
}

#[test]
fn every_member_is_verified_and_an_archive_compared_with_its_checksums() {
    let scratch = Scratch::new();
    for name in STORES {
        let output = run(&scratch, &["verify", &specimen(name)]);
        assert!(output.status.success(), "{name}");
        assert!(String::from_utf8(output.stdout).unwrap().lines().count() >= 2, "{name}");
    }
    // A byte of an item: only the archive has a checksum of it.
    let mut bytes = fs::read(specimen("dict.b2z")).unwrap();
    let whole = fs::read(specimen("dict.b2d/big.b2nd")).unwrap();
    let at = bytes.windows(whole.len()).position(|window| window == whole).unwrap();
    let last = at + whole.len() - 1;
    bytes[last] ^= 1;
    scratch.write("bad.b2z", &bytes);
    for arguments in [
        &["verify", "bad.b2z"][..],
        &["d", "bad.b2z", "out"],
        &["cat", "bad.b2z/big"],
        &["convert", "bad.b2z", "out.b2d"],
    ] {
        let output = run(&scratch, arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("bad.b2z/big.b2nd") && message.contains("checksum"), "{message}");
    }
    assert_eq!(scratch.names(), ["bad.b2z"], "nothing is left of what failed");
}

/// The archive with `from` replaced by `to`, of the same length, wherever it is.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = fs::read(specimen("dict.b2z")).unwrap();
    let mut count = 0;
    for at in 0..bytes.len() - from.len() {
        if &bytes[at..at + from.len()] == from {
            bytes[at..at + from.len()].copy_from_slice(to);
            count += 1;
        }
    }
    assert_eq!(count, 2, "once in front of the member, once in the list");
    bytes
}

#[test]
fn a_member_cannot_be_unpacked_elsewhere() {
    for (name, why) in [
        (&b"../evil1"[..], "leads out of the store"),
        (b"/abs/ev1", "is absolute"),
        (b"a/../b/c", "leads out of the store"),
        (b"a\\..\\b.c", "no name of a file"),
        (b"a//b//cd", "a part without a name"),
    ] {
        let scratch = Scratch::new();
        scratch.write("evil.b2z", &replaced(b"big.b2nd", name));
        for arguments in [&["d", "evil.b2z", "deep/out"][..], &["convert", "evil.b2z", "deep/out.b2d"]] {
            fs::create_dir_all(scratch.join("deep")).unwrap();
            let output = run(&scratch, arguments);
            let message = assert_fails(&output, 1, &arguments.join(" "));
            assert!(message.contains(why), "{message}");
            assert!(fs::read_dir(scratch.join("deep")).unwrap().next().is_none());
        }
        assert_eq!(scratch.names(), ["deep", "evil.b2z"]);
    }
}

#[test]
fn members_of_one_name_and_names_in_each_others_way_are_refused() {
    let scratch = Scratch::new();
    scratch.write("twice.b2z", &replaced(b"big.b2nd", b"embed.b2")[..]);
    assert_eq!(run(&scratch, &["d", "twice.b2z", "out"]).status.code(), Some(0), "another name is fine");
    // An array and a directory of one name can be in a store, but not among plain files.
    scratch.write("tree.b2z", &replaced(b"big.b2nd", b"dir.b2nd"));
    let message = assert_fails(&run(&scratch, &["d", "tree.b2z", "plain"]), 1, "tree");
    assert!(message.contains("would be a file where") && !scratch.join("plain").exists(), "{message}");
    assert!(run(&scratch, &["d", "--npy", "tree.b2z", "arrays"]).status.success());
    assert!(scratch.join("arrays/dir.npy").is_file() && scratch.join("arrays/dir/small.npy").is_file());
}

#[cfg(unix)]
#[test]
fn links_in_a_directory_store_are_not_followed() {
    let scratch = Scratch::new();
    assert!(run(&scratch, &["convert", &specimen("dict.b2d"), "s.b2d"]).status.success());
    scratch.write("secret", b"secret");
    std::os::unix::fs::symlink(scratch.join("secret"), scratch.join("s.b2d/link.b2nd")).unwrap();
    for arguments in [&["d", "s.b2d", "out"][..], &["info", "s.b2d"], &["convert", "s.b2d", "t.b2d"]] {
        let message = assert_fails(&run(&scratch, arguments), 1, &arguments.join(" "));
        assert!(message.contains("link.b2nd: a link or a device"), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_unpacked_is_as_private_as_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let store = scratch.join("s.b2z");
    fs::copy(specimen("dict.b2z"), &store).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(run(&scratch, &["d", "s.b2z", "out"]).status.success());
    assert!(run(&scratch, &["d", "s.b2z/big", "one"]).status.success());
    let mode = |name: &str| fs::metadata(scratch.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("out"), mode("out/dir"), mode("out/big"), mode("out/dir/small")), (0o700, 0o700, 0o600, 0o600));
    assert_eq!(mode("one"), 0o600);
}

#[test]
fn another_archive_is_no_store() {
    let scratch = Scratch::new();
    scratch.write("x.zip", &replaced(b"embed.b2e", b"other.b2e"));
    for command in ["info", "verify", "cat"] {
        assert_fails(&run(&scratch, &[command, "x.zip"]), 1, command);
    }
}
