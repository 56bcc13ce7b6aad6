//! Programs in C, compiled with our blosc.h and with that of C-Blosc, run with our library and with C-Blosc.
#![cfg(target_os = "linux")]

use libblosc_tests::{Blosc, ours, theirs};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the program's source is, and what it is compiled with.
struct Program {
    name: &'static str,
    include: PathBuf,
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

/// Runs a command that has to succeed.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}

impl Program {
    /// Compiles the program against `library`, and returns how it is run with it.
    fn with(&self, library: &Blosc) -> Command {
        let directory = tempfile(self.name);
        let path = std::path::absolute(library.path()).unwrap();
        std::os::unix::fs::symlink(&path, directory.join("libblosc.so.1")).unwrap();
        let program = directory.join(self.name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c").join(self.name).with_extension("c");
        let flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"];
        let mut compiler = Command::new("cc");
        compiler.args(flags).arg("-I").arg(&self.include).arg(source).arg(directory.join("libblosc.so.1"));
        succeed(compiler.arg("-lpthread").arg("-o").arg(&program));
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", &directory);
        command
    }

    fn run_with(&self, library: &Blosc, arguments: &[&str]) {
        succeed(self.with(library).args(arguments));
    }

    /// Runs it under valgrind: no memory is used that was not set or is not there, and none is lost.
    fn watch_with(&self, library: &Blosc, arguments: &[&str]) {
        let program = self.with(library);
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
        valgrind.args(["--show-leak-kinds=definite", "--fair-sched=yes"]).arg(program.get_program()).args(arguments);
        valgrind.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let started = valgrind.stderr(std::process::Stdio::piped()).spawn().expect("valgrind");
        let own = format!("=={}==", started.id());
        let output = started.wait_with_output().expect("valgrind ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains(&own), "{valgrind:?}: {}\n{said}", output.status);
        // In a forked process, what belonged to threads that have not come along is lost. Nothing else may be wrong there.
        let is_wrong = |line: &str| ["Invalid", "ninitialised", "Mismatched"].iter().any(|word| line.contains(word));
        assert!(!said.lines().any(is_wrong), "{said}");
    }
}

/// A new directory for what belongs to one program.
fn tempfile(name: &str) -> PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn programs_run_with_our_header_and_our_library() {
    Program { name: "interface", include: our_include() }.run_with(ours(), &[]);
}

#[test]
fn eight_threads_and_a_fork_neither_hang_nor_differ() {
    let program = Program { name: "threads", include: our_include() };
    program.run_with(ours(), &[]);
    program.run_with(ours(), &["settings"]);
}

#[test]
#[ignore = "needs valgrind, and a minute"]
fn valgrind_finds_nothing() {
    Program { name: "interface", include: our_include() }.watch_with(ours(), &[]);
    let program = Program { name: "threads", include: our_include() };
    program.watch_with(ours(), &[]);
    program.watch_with(ours(), &["settings"]);
}

#[test]
#[ignore = "needs C-Blosc, which BLOSC1_LIBRARY and BLOSC1_INCLUDE name"]
fn programs_run_with_either_header_and_either_library() {
    for include in [our_include(), their_include()] {
        for library in [ours(), theirs()] {
            Program { name: "interface", include: include.clone() }.run_with(library, &[]);
            Program { name: "threads", include: include.clone() }.run_with(library, &[]);
        }
    }
}
