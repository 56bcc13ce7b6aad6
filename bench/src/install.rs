//! Getting what is needed: the C libraries to compare with, and the data.

use crate::data::real;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the C libraries and the data; says where they are.
pub(crate) fn install() -> Result<(), String> {
    let environment = environment();
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let wanted = ["--upgrade", "blosc2", "blosc", "pillow"];
    run(python().args(["-m", "pip", "install", "--quiet"]).args(wanted))?;
    let found = |library: Option<PathBuf>, package: &str| {
        library.ok_or_else(|| format!("{package} is installed in {}, but has no library", environment.display()))
    };
    println!("C-Blosc2: {}", found(library(), "blosc2")?.display());
    println!("C-Blosc: {}", found(blosc1_library(), "blosc")?.display());
    if real::names().any(|name| real::load(name).is_err()) {
        download(&real::directory())?;
    }
    real::names().try_for_each(|name| real::load(name).map(drop))?;
    println!("{} data sets: {}", real::names().count(), real::directory().display());
    Ok(())
}

/// Downloads the packages that have the data and takes it out. The same files on every machine:
/// they are only read, so that it does not matter which Python and which processor they are for.
fn download(directory: &Path) -> Result<(), String> {
    let (packages, requirements) = (directory.join("packages"), directory.join("packages.txt"));
    let problem = |problem: std::io::Error| format!("{}: {problem}", directory.display());
    std::fs::create_dir_all(&packages).map_err(problem)?;
    std::fs::write(&requirements, real::requirements()).map_err(problem)?;
    let mut command = python();
    command.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    command.args(["--python-version=3.11", "--platform=manylinux2014_x86_64", "--platform=manylinux_2_28_x86_64"]);
    run(command.arg("-r").arg(&requirements).arg("-d").arg(&packages))?;
    run(python().arg(real::repository().join("bench/data/extract.py")).arg(&packages).arg(directory))?;
    std::fs::remove_dir_all(&packages).map_err(problem)
}

/// The C-Blosc2 that has been installed, if it has.
pub(crate) fn library() -> Option<PathBuf> {
    let versions = std::fs::read_dir(environment().join("lib")).ok()?;
    let packages = versions.filter_map(|version| Some(version.ok()?.path().join("site-packages/blosc2")));
    packages.map(|package| package.join("lib/libblosc2.so")).find(|library| library.exists())
}

/// The C-Blosc that has been installed, if it has.
pub(crate) fn blosc1_library() -> Option<PathBuf> {
    let places = ["lib64", "lib"].map(|lib| environment().join(lib).join("libblosc.so"));
    places.into_iter().find(|library| library.exists())
}

fn environment() -> PathBuf {
    real::repository().join("target/bench-peer")
}

fn python() -> Command {
    Command::new(environment().join("bin/python"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|problem| format!("{command:?}: {problem}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
