//! libblosc2 as C programs see it: ours, built as these tests are, and C-Blosc2, which two
//! environment variables name.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libblosc_tests::{Program, build};

/// Our library. The variable `LIBBLOSC2` names another file.
pub fn ours() -> &'static Path {
    static OURS: OnceLock<PathBuf> = OnceLock::new();
    OURS.get_or_init(|| std::env::var_os("LIBBLOSC2").map_or_else(|| build("libblosc2", "libblosc2.so"), PathBuf::from))
}

/// C-Blosc2, which the variable `BLOSC2_LIBRARY` names.
///
/// # Panics
/// If the variable is not set.
#[must_use]
pub fn theirs() -> PathBuf {
    std::env::var_os("BLOSC2_LIBRARY").expect("BLOSC2_LIBRARY must name the libblosc2.so.9 of C-Blosc2").into()
}

/// Where our headers are.
#[must_use]
pub fn our_include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../libblosc2/include")
}

/// Where the headers of C-Blosc2 are, which the variable `BLOSC2_INCLUDE` names.
///
/// # Panics
/// If the variable is not set.
#[must_use]
pub fn their_include() -> PathBuf {
    std::env::var_os("BLOSC2_INCLUDE")
        .expect("BLOSC2_INCLUDE must name the directory with the blosc2.h of C-Blosc2")
        .into()
}

/// A program in `c`, compiled with the headers in `include`.
#[must_use]
pub fn program(name: &'static str, include: PathBuf, scratch: &str) -> Program {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    Program { name, sources, include, soname: "libblosc2.so.9", scratch: scratch.into() }
}
