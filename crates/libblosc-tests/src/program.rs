//! Programs in C: compiled against a library, run with it, and run under valgrind.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the program's source is, and what it is compiled with.
pub struct Program {
    /// The name of the source, without `.c`.
    pub name: &'static str,
    /// Where the source is.
    pub sources: PathBuf,
    /// Where the headers are.
    pub include: PathBuf,
    /// The name that it is linked with.
    pub soname: &'static str,
    /// Where it is built.
    pub scratch: PathBuf,
}

/// Runs a command that has to succeed.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
}

#[allow(clippy::missing_panics_doc, reason = "they are assertions of tests")]
impl Program {
    /// Compiles the program against `library`, and returns how it is run with it.
    pub fn with(&self, library: &Path) -> Command {
        let directory = self.directory();
        let path = std::path::absolute(library).unwrap();
        std::os::unix::fs::symlink(&path, directory.join(self.soname)).unwrap();
        let program = directory.join(self.name);
        let source = self.sources.join(self.name).with_extension("c");
        let flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"];
        let mut compiler = Command::new("cc");
        compiler.args(flags).arg("-I").arg(&self.include).arg(source).arg(directory.join(self.soname));
        succeed(compiler.args(["-lpthread", "-lm", "-o"]).arg(&program));
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", &directory);
        command
    }

    /// Runs it, which has to succeed.
    pub fn run_with(&self, library: &Path, arguments: &[&str]) {
        succeed(self.with(library).args(arguments));
    }

    /// Runs it under valgrind: no memory is used that was not set or is not there, and none is
    /// lost.
    pub fn watch_with(&self, library: &Path, arguments: &[&str]) {
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
        // In a forked process, what belonged to threads that have not come along is lost. Nothing
        // else may be wrong there.
        let is_wrong = |line: &str| ["Invalid", "ninitialised", "Mismatched"].iter().any(|word| line.contains(word));
        assert!(!said.lines().any(is_wrong), "{said}");
    }

    /// A new directory for what belongs to one program.
    fn directory(&self) -> PathBuf {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = self.scratch.join(format!("{}-{number}-{}", self.name, std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }
}
