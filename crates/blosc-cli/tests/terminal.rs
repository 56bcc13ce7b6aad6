//! What a terminal shows, driven through a pseudo-terminal: the bar, the line that sums up, and a
//! clean line after Ctrl-C.
#![cfg(unix)]

mod common;

use common::{BLOSC, Scratch, ramp};
use std::process::Command;

/// Runs a command line with a pseudo-terminal of 100 columns as standard error, standard output and
/// input being pipes, and returns what it shows there. Input is `data.bin` again and again, slowly;
/// the process is interrupted after so many pieces.
const DRIVER: &str = r#"
import fcntl, os, pty, signal, struct, subprocess, sys, termios, threading, time
count, is_interrupted, command = int(sys.argv[1]), sys.argv[2] == "interrupted", sys.argv[3:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
os.close(slave)
shown = b""
def read():
    global shown
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            return
        if not piece:
            return
        shown += piece
reader = threading.Thread(target=read)
reader.start()
data = open("data.bin", "rb").read()
try:
    for _ in range(count):
        process.stdin.write(data)
        process.stdin.flush()
        time.sleep(0.1)
    if is_interrupted:
        process.send_signal(signal.SIGINT)
        process.wait()
    process.stdin.close()
except BrokenPipeError:
    pass
process.wait()
reader.join()
sys.stdout.write(f"{process.returncode}\n")
sys.stdout.flush()
sys.stdout.buffer.write(shown)
"#;

/// The exit code, and what was shown; `None` where there is no Python.
#[expect(clippy::print_stderr, reason = "that a test is skipped is told")]
fn driven(scratch: &Scratch, count: usize, how: &str, arguments: &[&str]) -> Option<(i32, String)> {
    let output = Command::new("python3")
        .args(["-c", DRIVER, &count.to_string(), how, BLOSC])
        .args(arguments)
        .current_dir(&scratch.0)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no python3 to open a pseudo-terminal with");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (code, shown) = text.split_once('\n').unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    Some((code.parse().unwrap(), shown.to_owned()))
}

fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("data.bin", &ramp(250_000));
    scratch
}

#[test]
fn a_bar_tells_percent_speed_ratio_and_the_time_that_is_left() {
    let scratch = prepared();
    let arguments = ["c", "-", "-o", "out.b2nd", "--dtype", "int32", "--shape", "2500000", "--chunk-size", "1M"];
    let Some((code, shown)) = driven(&scratch, 10, "whole", &arguments) else { return };
    assert_eq!(code, 0, "{shown}");
    let lines: Vec<&str> = shown.split("\r\x1b[K").collect();
    let line = lines.iter().find(|line| line.starts_with("compressing")).unwrap_or_else(|| panic!("{shown:?}"));
    for part in [" % [", "#", " of 9.54 MiB, ", "/s", " left"] {
        assert!(line.contains(part), "{part:?} is missing in {line:?}");
    }
    assert!(lines.iter().all(|line| line.trim_end().chars().count() < 100), "{lines:?}");
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("\x1b[1mblosc:\x1b[0m out.b2nd: 9.54 MiB to ") || last.contains("out.b2nd: 9.54 MiB to "),
        "{last:?}"
    );
    assert!(last.contains(", ratio ") && last.contains("/s"), "{last:?}");
}

#[test]
fn an_interrupt_leaves_a_clean_line() {
    let scratch = prepared();
    for arguments in [&["c", "-", "-o", "out.b2frame"][..], &["c", "-", "-c"]] {
        let Some((code, shown)) = driven(&scratch, 10, "interrupted", arguments) else { return };
        assert_eq!(code, 130, "{arguments:?}: {shown:?}");
        assert!(shown.contains("compressing"), "{arguments:?}: {shown:?}");
        assert!(shown.ends_with("\r\x1b[K"), "{arguments:?}: {shown:?}");
        assert_eq!(scratch.names(), ["data.bin"]);
    }
}

#[test]
fn quiet_shows_nothing_and_no_color_no_colours() {
    let scratch = prepared();
    let Some((code, shown)) = driven(&scratch, 8, "whole", &["-q", "c", "-", "-o", "out.b2frame"]) else { return };
    assert_eq!((code, shown.as_str()), (0, ""));
    let (code, shown) = driven(&scratch, 1, "whole", &["--color", "never", "-d", "data.bin", "-c"]).unwrap();
    assert_eq!(code, 1);
    assert!(shown.starts_with("blosc: data.bin: ") && !shown.contains('\x1b'), "{shown:?}");
    let (_, shown) = driven(&scratch, 1, "whole", &["-d", "data.bin", "-c"]).unwrap();
    assert!(shown.starts_with("\x1b[1mblosc:\x1b[0m data.bin: "), "{shown:?}");
}

#[test]
fn directories_end_with_a_total() {
    let scratch = prepared();
    std::fs::create_dir(scratch.join("runs")).unwrap();
    for name in ["runs/a", "runs/b", "runs/c"] {
        scratch.write(name, &ramp(1000));
    }
    let Some((code, shown)) = driven(&scratch, 0, "whole", &["c", "runs", "-o", "out"]) else { return };
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("3 files: 11.7 KiB to ") && shown.contains(", ratio "), "{shown:?}");
    let (_, shown) = driven(&scratch, 0, "whole", &["d", "out", "-o", "back"]).unwrap();
    assert!(shown.contains("3 files: ") && shown.contains(" to 11.7 KiB, ratio "), "{shown:?}");
}
