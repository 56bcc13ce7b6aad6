//! Processes of the test itself: the test binary runs again, with one test and a job for it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const JOB: &str = "BLOSC_OXIDE_TEST_JOB";
const LONG: &str = "BLOSC_OXIDE_LONG_TESTS";

/// Whether tests may take as long as the promise that they check.
pub fn is_long() -> bool {
    std::env::var_os(LONG).is_some_and(|value| !value.is_empty() && value != "0")
}

/// The job of this process, if it was started for one.
pub fn job() -> Option<Vec<String>> {
    std::env::var(JOB).ok().map(|job| job.split('\n').map(str::to_owned).collect())
}

/// Starts the test `name` of this binary in a process of its own.
pub fn start(name: &str, job: &[&str]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(JOB, job.join("\n"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Tells the process that started this one a number.
pub fn report(number: usize) {
    let mut out = std::io::stdout();
    // A line of its own, whatever the test harness has printed before.
    writeln!(out, "\nreport {number}").and_then(|()| out.flush()).unwrap();
}

/// The number in a line that a child has reported.
pub fn reported(line: &str) -> Option<usize> {
    line.strip_prefix("report ")?.parse().ok()
}

/// A directory of its own, which is removed when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("blosc-oxide-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
