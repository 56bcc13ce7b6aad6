//! Where the libraries are.

use crate::functions::Blosc;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Our library, built as these tests are. The variable `LIBBLOSC` names another file.
///
/// # Panics
/// If it cannot be built or loaded.
pub fn ours() -> &'static Blosc {
    static OURS: OnceLock<Blosc> = OnceLock::new();
    OURS.get_or_init(|| {
        Blosc::load(&std::env::var_os("LIBBLOSC").map_or_else(|| build("libblosc", "libblosc.so"), PathBuf::from))
    })
}

/// C-Blosc, which the variable `BLOSC1_LIBRARY` names.
///
/// # Panics
/// If the variable is not set, or names no library.
pub fn theirs() -> &'static Blosc {
    static THEIRS: OnceLock<Blosc> = OnceLock::new();
    THEIRS.get_or_init(|| {
        let path = std::env::var_os("BLOSC1_LIBRARY").expect("BLOSC1_LIBRARY must name the libblosc.so.1 of C-Blosc");
        Blosc::load(Path::new(&path))
    })
}

/// Builds the library of a package into the directory that this program is in; the path of the
/// file.
///
/// # Panics
/// If it cannot be built.
#[must_use]
pub fn build(package: &str, file: &str) -> PathBuf {
    let program = std::env::current_exe().expect("a program");
    let directory = program.ancestors().nth(2).expect("target/PROFILE/deps/PROGRAM").to_owned();
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--package", package]).arg("--target-dir");
    command.arg(directory.parent().expect("target/PROFILE"));
    if directory.ends_with("release") {
        command.arg("--release");
    }
    let status = command.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo");
    assert!(status.success(), "{command:?}: {status}");
    directory.join(file)
}
