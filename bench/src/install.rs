//! Getting the library to compare with.

use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "blosc2";

/// Installs the package into a virtual environment; the path of its library.
pub(crate) fn install() -> Result<PathBuf, String> {
    let environment = environment();
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    run(Command::new(environment.join("bin/python")).args(["-m", "pip", "install", "--quiet", "--upgrade", PACKAGE]))?;
    library().ok_or_else(|| format!("{PACKAGE} is installed in {}, but has no library", environment.display()))
}

/// The library that has been installed, if it has.
pub(crate) fn library() -> Option<PathBuf> {
    let versions = std::fs::read_dir(environment().join("lib")).ok()?;
    let packages = versions.filter_map(|version| Some(version.ok()?.path().join("site-packages").join(PACKAGE)));
    packages.map(|package| package.join("lib/libblosc2.so")).find(|library| library.exists())
}

fn environment() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    workspace.join("target/bench-peer")
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|problem| format!("{command:?}: {problem}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
