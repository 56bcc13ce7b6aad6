//! The filters of C-Blosc2, built for one instruction set each.
//!
//! The library has no way to be told which instruction set to use. So its filters are compiled on
//! their own, from the newest source that a package has, with all but the wanted kernels left out.

use libloading::Library;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package that brings the source along, and where in it.
const PACKAGE: (&str, &str, &str) = ("blosc2-rs-sys", "0.1.6", "third-party/c-blosc2");

/// The instruction sets, and for each what the compiler is told: of which kernels there are, and
/// what they may use.
const BUILDS: [(&str, &[&str], &[&str]); 2] = [
    ("sse2", &["-DSHUFFLE_SSE2_ENABLED"], &[]),
    ("avx2", &["-DSHUFFLE_SSE2_ENABLED", "-DSHUFFLE_AVX2_ENABLED"], &["avx2"]),
];

type Filter = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;

/// The filters of one build.
pub(crate) struct Capped {
    functions: [(&'static str, Filter); 4],
    /// Keeps the functions above loaded.
    _library: Library,
}

impl Capped {
    /// Those built for an instruction set, if they have been.
    pub(crate) fn load(isa: &str) -> Option<Self> {
        // SAFETY: the file is made by `install`, and has no initialisers.
        let library = unsafe { Library::new(library(isa)) }.ok()?;
        let function = |name: &str| {
            // SAFETY: the four functions of shuffle.h are of this type.
            unsafe { library.get::<Filter>(format!("blosc2_{name}").as_bytes()) }.ok().map(|function| *function)
        };
        let functions = [
            ("shuffle", function("shuffle")?),
            ("unshuffle", function("unshuffle")?),
            ("bitshuffle", function("bitshuffle")?),
            ("bitunshuffle", function("bitunshuffle")?),
        ];
        Some(Self { functions, _library: library })
    }

    /// Runs the filter of this name.
    pub(crate) fn run(&self, name: &str, typesize: usize, src: &[u8], dst: &mut [u8]) {
        assert_eq!(src.len(), dst.len());
        let (_, filter) = self.functions.iter().find(|function| function.0 == name).expect("one of the four");
        let int = |size: usize| i32::try_from(size).expect("sizes here are far below 2 GiB");
        // SAFETY: both buffers have the length that is given.
        unsafe { filter(int(typesize), int(src.len()), src.as_ptr().cast(), dst.as_mut_ptr().cast()) };
    }
}

/// Builds the filters for each instruction set; where they are.
pub(crate) fn install() -> Result<Vec<PathBuf>, String> {
    std::fs::create_dir_all(directory()).map_err(|problem| format!("{}: {problem}", directory().display()))?;
    let source = source()?;
    BUILDS.iter().map(|(isa, kernels, flags)| build(&source, isa, kernels, flags)).collect()
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench-peer/filters")
}

fn library(isa: &str) -> PathBuf {
    directory().join(format!("filters-{isa}.so"))
}

/// Lets cargo download the package; where its source is.
fn source() -> Result<PathBuf, String> {
    let (name, version, within) = PACKAGE;
    let manifest = format!(
        "[package]\nname = \"source\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\n{name} = \"={version}\"\n[workspace]\n"
    );
    for (file, content) in [("Cargo.toml", manifest.as_str()), ("lib.rs", "")] {
        std::fs::write(directory().join(file), content).map_err(|problem| format!("{file}: {problem}"))?;
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--quiet", "--format-version", "1"]).current_dir(directory());
    let output = cargo.output().map_err(|problem| format!("{cargo:?}: {problem}"))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|problem| format!("{cargo:?}: {problem}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest =
        packages.filter(|package| package["name"] == name).find_map(|package| package["manifest_path"].as_str());
    let manifest = manifest.ok_or_else(|| format!("{name} {version} could not be downloaded"))?;
    Ok(Path::new(manifest).with_file_name(within))
}

fn build(source: &Path, isa: &str, kernels: &[&str], sets: &[&str]) -> Result<PathBuf, String> {
    let compiler = || {
        let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        cc.args(["-O3", "-fPIC"]).args(kernels).arg("-I").arg(source.join("include"));
        cc
    };
    let file = |name: &str| source.join("blosc").join(format!("{name}.c"));
    let mut objects = Vec::new();
    for set in sets {
        for filter in ["shuffle", "bitshuffle"] {
            let object = directory().join(format!("{filter}-{set}.o"));
            run(compiler()
                .arg(format!("-m{set}"))
                .arg("-c")
                .arg(file(&format!("{filter}-{set}")))
                .arg("-o")
                .arg(&object))?;
            objects.push(object);
        }
    }
    let common = ["shuffle", "shuffle-generic", "bitshuffle-generic", "shuffle-sse2", "bitshuffle-sse2"];
    let library = library(isa);
    run(compiler().arg("-shared").args(common.map(file)).args(objects).arg("-o").arg(&library))?;
    Ok(library)
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|problem| format!("{command:?}: {problem}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}
