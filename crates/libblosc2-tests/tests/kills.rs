//! Programs in C that append to a super-chunk are killed at any moment: what they were told is
//! stored is there, whole and in order, also if two of them append to it at once.
#![cfg(target_os = "linux")]

use libblosc2_tests::{our_include, ours, program};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");
/// After so many kills a new super-chunk is begun.
const KILLS_PER_FILE: usize = 20;
const WRITERS: usize = 2;

/// A number from 0 to `below`, other ones for each seed.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// The program, with its library, again and again.
struct Appender {
    program: PathBuf,
    libraries: std::ffi::OsString,
}

impl Appender {
    fn new() -> Self {
        let command = program("appender", our_include(), SCRATCH).with(ours());
        let libraries = command.get_envs().find_map(|(_, value)| value.map(ToOwned::to_owned));
        Self { program: command.get_program().into(), libraries: libraries.expect("LD_LIBRARY_PATH") }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LD_LIBRARY_PATH", &self.libraries);
        command
    }

    fn start(&self, path: &Path, writer: usize, first: i32) -> Child {
        let mut command = self.command();
        command.arg("append").arg(path).arg(writer.to_string()).arg(first.to_string());
        command.stdout(Stdio::piped()).spawn().expect("the program starts")
    }

    /// Writers and numbers of all chunks.
    fn list(&self, path: &Path) -> Vec<(usize, i32)> {
        let output = self.command().arg("list").arg(path).output().expect("the program runs");
        assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("numbers");
        let pair = |line: &str| {
            let (writer, number) = line.split_once(' ').expect("two numbers");
            (writer.parse().expect("a writer"), number.parse().expect("a number"))
        };
        text.lines().map(pair).collect()
    }
}

/// Kills a program; the last number that it has said.
#[expect(clippy::host_endian_bytes, reason = "a program on the same machine has written them")]
fn kill(mut child: Child) -> Option<i32> {
    child.kill().expect("it can be killed");
    let mut said = Vec::new();
    child.stdout.take().expect("its output").read_to_end(&mut said).expect("its output");
    let status = child.wait().expect("it ends");
    assert!(status.code().is_none(), "it has ended by itself: {status}");
    said.as_chunks().0.last().map(|&number| i32::from_ne_bytes(number))
}

fn kills(count: usize) {
    let appender = Appender::new();
    let mut seed = 1;
    let mut stored = 0;
    for file in 0..count.div_ceil(KILLS_PER_FILE * WRITERS) {
        let layout = if file % 4 == 3 { "0" } else { "1" };
        let path = Path::new(SCRATCH).join(format!("killed-{count}-{file}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir_all(&path);
        let status = appender.command().arg("create").arg(&path).arg(layout).status().expect("the program runs");
        assert!(status.success(), "{status}");
        let mut next = [0; WRITERS];
        for _ in 0..KILLS_PER_FILE {
            let children: Vec<Child> = (0..WRITERS).map(|writer| appender.start(&path, writer, next[writer])).collect();
            std::thread::sleep(Duration::from_micros(3000 + random(&mut seed, 12_000)));
            let said: Vec<Option<i32>> = children.into_iter().map(kill).collect();
            let found = appender.list(&path);
            for writer in 0..WRITERS {
                let numbers: Vec<i32> =
                    found.iter().filter(|&&(by, _)| by == writer).map(|&(_, number)| number).collect();
                let expected: Vec<i32> = (0..).take(numbers.len()).collect();
                assert_eq!(numbers, expected, "file {file}, writer {writer}");
                let last = numbers.last().copied();
                assert!(last >= said[writer], "file {file}: {:?} was said to be there, {last:?} is", said[writer]);
                next[writer] = numbers.len().try_into().expect("a few");
            }
            stored = found.len();
        }
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir_all(&path);
    }
    assert!(stored > KILLS_PER_FILE, "no more than {stored} chunks: the programs are killed before they do anything");
}

#[test]
fn nothing_is_lost_by_kills() {
    kills(80);
}

#[test]
#[ignore = "takes a minute"]
fn nothing_is_lost_by_a_thousand_kills() {
    kills(1000);
}
