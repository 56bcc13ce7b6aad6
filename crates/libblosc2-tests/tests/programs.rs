//! Programs in C, compiled with our headers and with those of C-Blosc2, run with our library and
//! with C-Blosc2. What they check of one library holds for both; what C-Blosc2 does wrong is
//! checked of ours alone, in `ours.c`.
#![cfg(target_os = "linux")]

use libblosc2_tests::{our_include, ours, program, their_include, theirs};
use std::path::PathBuf;

const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");
const PROGRAMS: [&str; 8] = ["chunks", "contexts", "callbacks", "schunks", "arrays", "stored", "views", "zfp"];

fn run_each(include: fn() -> PathBuf, library: &std::path::Path) {
    for name in PROGRAMS {
        program(name, include(), SCRATCH).run_with(library, &[]);
    }
}

#[test]
fn programs_run_with_our_headers_and_our_library() {
    run_each(our_include, ours());
    program("ours", our_include(), SCRATCH).run_with(ours(), &[]);
}

#[test]
#[ignore = "needs valgrind, and a minute"]
fn valgrind_finds_nothing() {
    for name in PROGRAMS.into_iter().chain(["ours"]) {
        program(name, our_include(), SCRATCH).watch_with(ours(), &[]);
    }
}

#[test]
#[ignore = "needs C-Blosc2, which BLOSC2_LIBRARY and BLOSC2_INCLUDE name"]
fn programs_run_with_either_header_and_either_library() {
    for include in [our_include, their_include] {
        run_each(include, ours());
        run_each(include, &theirs());
    }
}
