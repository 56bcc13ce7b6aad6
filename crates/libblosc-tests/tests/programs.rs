//! Programs in C, compiled with our blosc.h and with that of C-Blosc, run with our library and with
//! C-Blosc.
#![cfg(target_os = "linux")]

use libblosc_tests::{Program, ours, theirs};
use std::path::{Path, PathBuf};

fn program(name: &'static str, include: PathBuf) -> Program {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    Program { name, sources, include, soname: "libblosc.so.1", scratch: env!("CARGO_TARGET_TMPDIR").into() }
}

fn our_include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../libblosc/include")
}

/// Where C-Blosc's blosc.h is, which the variable `BLOSC1_INCLUDE` names.
fn their_include() -> PathBuf {
    std::env::var_os("BLOSC1_INCLUDE")
        .expect("BLOSC1_INCLUDE must name the directory with the blosc.h of C-Blosc")
        .into()
}

#[test]
fn programs_run_with_our_header_and_our_library() {
    program("interface", our_include()).run_with(ours().path(), &[]);
}

#[test]
fn eight_threads_and_a_fork_neither_hang_nor_differ() {
    let threads = program("threads", our_include());
    threads.run_with(ours().path(), &[]);
    threads.run_with(ours().path(), &["settings"]);
}

#[test]
#[ignore = "needs valgrind, and a minute"]
fn valgrind_finds_nothing() {
    program("interface", our_include()).watch_with(ours().path(), &[]);
    let threads = program("threads", our_include());
    threads.watch_with(ours().path(), &[]);
    threads.watch_with(ours().path(), &["settings"]);
}

#[test]
#[ignore = "needs C-Blosc, which BLOSC1_LIBRARY and BLOSC1_INCLUDE name"]
fn programs_run_with_either_header_and_either_library() {
    for include in [our_include(), their_include()] {
        for library in [ours().path(), theirs().path()] {
            program("interface", include.clone()).run_with(library, &[]);
            program("threads", include.clone()).run_with(library, &[]);
        }
    }
}
