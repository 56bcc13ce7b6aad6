//! Runs of the binary that a signal ends.
#![allow(dead_code, reason = "each test file uses a part of it")]

use super::{BLOSC, Scratch, ramp};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The binary with no signal ignored, even if the tests are run by a program that ignores some, as
/// `nohup` does.
pub(crate) fn unignoring() -> Command {
    let mut command = Command::new("perl");
    command.args(["-e", "$SIG{$_} = 'DEFAULT' for qw(HUP INT TERM); exec @ARGV", BLOSC]);
    command
}

/// Starts the binary on input that never ends, and gives it time to write something.
pub(crate) fn started(scratch: &Scratch, arguments: &[&str]) -> std::process::Child {
    started_by(unignoring(), scratch, arguments)
}

pub(crate) fn started_by(mut command: Command, scratch: &Scratch, arguments: &[&str]) -> std::process::Child {
    let mut child =
        command.args(arguments).current_dir(&scratch.0).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(&ramp(3_000_000)).unwrap();
    let start = Instant::now();
    while !is_hidden_there(scratch) && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(is_hidden_there(scratch), "it writes to a temporary file");
    child
}

/// Whether there is a temporary file.
pub(crate) fn is_hidden_there(scratch: &Scratch) -> bool {
    scratch.names().iter().any(|name| name.starts_with('.'))
}

pub(crate) fn signal(child: &std::process::Child, signal: &str) {
    let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// The exit code of a child that a signal has ended.
pub(crate) fn interrupt(child: &mut std::process::Child, name: &str) -> Option<i32> {
    // If its input ended, it might be done before it takes notice.
    let _stdin = child.stdin.take();
    signal(child, name);
    child.wait().unwrap().code()
}
