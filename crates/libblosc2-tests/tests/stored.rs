//! Stored super-chunks: files do not grow beyond those of C-Blosc2, damage at random is an error,
//! and both libraries do the same when they are called in turns.
#![cfg(target_os = "linux")]

use libblosc2_tests::{our_include, ours, program, theirs};
use std::path::Path;

const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// What a program prints.
fn output(name: &'static str, library: &Path, arguments: &[&str]) -> String {
    let output =
        program(name, our_include(), SCRATCH).with(library).args(arguments).output().expect("the program runs");
    assert!(
        output.status.success(),
        "{name} {arguments:?}: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// How long a file is after so many single appends.
fn grown(library: &Path, count: u32, nbytes: u32) -> u64 {
    let path = Path::new(SCRATCH).join(format!("grown-{count}-{nbytes}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let path = path.to_str().expect("a plain path");
    output("growth", library, &[path, &count.to_string(), &nbytes.to_string()]).trim().parse().expect("a length")
}

#[test]
fn single_appends_leave_a_file_that_is_little_longer_than_its_chunks() {
    let (count, nbytes) = (20_000, 4096);
    let chunks = u64::from(count) * u64::from(nbytes + 32);
    let len = grown(ours(), count, nbytes);
    assert!(len >= chunks && len < chunks + chunks / 10, "{len} bytes for chunks of {chunks}");
}

#[test]
#[ignore = "needs C-Blosc2, which BLOSC2_LIBRARY names, and a minute"]
fn single_appends_leave_a_file_as_long_as_with_c_blosc2() {
    for nbytes in [256, 1024, 4096, 16384] {
        let (our_len, their_len) = (grown(ours(), 20_000, nbytes), grown(&theirs(), 20_000, nbytes));
        println!("20,000 chunks of {nbytes} bytes: {our_len} and {their_len}");
        assert!(our_len * 10 <= their_len * 11, "{nbytes}: {our_len} and {their_len}");
    }
}

#[test]
fn damage_at_random_is_an_error() {
    output("mutants", ours(), &["6000", "1"]);
}

#[test]
#[ignore = "takes minutes"]
fn damage_at_random_is_an_error_a_hundred_thousand_times() {
    print!("{}", output("mutants", ours(), &["100000", "2"]));
}

#[test]
#[ignore = "needs C-Blosc2, which BLOSC2_LIBRARY names"]
fn both_libraries_do_the_same() {
    let [ours, theirs] = [ours().to_owned(), theirs()].map(|path| std::path::absolute(path).expect("a path"));
    let arguments = [ours.to_str().expect("a plain path"), theirs.to_str().expect("a plain path"), "300"];
    output("side_by_side", &ours, &arguments);
}
