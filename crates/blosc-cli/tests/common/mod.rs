//! What the tests of the real binary share.
#![allow(dead_code, reason = "each test file uses a part of it")]

#[cfg(unix)]
pub(crate) mod interruption;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The binary.
pub(crate) const BLOSC: &str = env!("CARGO_BIN_EXE_blosc");

/// Runs the binary.
pub(crate) fn blosc<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Output {
    Command::new(BLOSC).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

/// Runs the binary in a directory.
pub(crate) fn run(scratch: &Scratch, arguments: &[&str]) -> Output {
    Command::new(BLOSC).args(arguments).current_dir(&scratch.0).stdin(Stdio::null()).output().expect("the binary runs")
}

/// Runs the binary with something on standard input.
pub(crate) fn blosc_with_input<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>, input: &[u8]) -> Output {
    let mut child = Command::new(BLOSC)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has a standard input");
    std::thread::scope(|scope| {
        // It may stop reading when it has seen enough.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("it ends")
    })
}

/// Runs the binary and returns what it printed; anything but success fails the test.
pub(crate) fn good<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Vec<u8> {
    let output = blosc(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Checks that a run failed with this exit code and one line that says why.
pub(crate) fn assert_fails(output: &Output, code: i32, what: &str) -> String {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{what}: {message}");
    assert!(message.starts_with("blosc: ") && message.ends_with('\n'), "{what}: {message:?}");
    assert_eq!(message.lines().count(), 1, "{what}: {message}");
    message
}

/// A directory of one's own, gone at the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("blosc-cli-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory can be made");
        Self(path)
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, bytes).expect("a file can be written");
        path
    }

    /// The names of all files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .expect("it can be listed")
            .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Does `check` for each of `items`, two at a time: the tests are many short runs of a program.
pub(crate) fn for_each<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    let queue = Mutex::new(items.iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                    let Some(item) = next else { return };
                    check(item);
                }
            });
        }
    });
}

/// Integers that go up slowly.
pub(crate) fn ramp(count: u32) -> Vec<u8> {
    (0..count).flat_map(|i| (i / 3).to_le_bytes()).collect()
}

/// The header of an .npy file and its data.
pub(crate) fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\0\x76\0".to_vec();
    file.extend(format!("{text:<117}\n").bytes());
    file.extend(data);
    file
}

/// Bytes that do not get smaller.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..len).map(next).collect()
}

/// Who may do what with a file.
#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}
