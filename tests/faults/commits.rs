//! `commits FILE SIZE`: appends standard input to a frame, and commits after every `SIZE` bytes.
//!
//! The command commits once and ends. A program that commits again and again takes turns between
//! two places for index and trailer, from some hundred chunks on.

use blosc_oxide::{Frame, Result};
use std::io::{Cursor, Read, Write};
use std::process::ExitCode;

/// Appends `data` to the frame at `path`, with a commit behind each `size` bytes.
fn append(path: &str, size: usize, data: &[u8]) -> Result<()> {
    let mut edit = Frame::open(path)?.edit()?;
    let chunk = edit.chunksize().unwrap_or(size);
    for piece in data.chunks(size) {
        edit.extend_from(Cursor::new(piece), chunk)?;
        edit.checkpoint()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut data = Vec::new();
    let read = std::io::stdin().read_to_end(&mut data);
    let (Ok(_), [path, size]) = (read, arguments.as_slice()) else { return ExitCode::from(64) };
    match size.parse().map(|size| append(path, size, &data)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
        Err(_) => ExitCode::from(64),
    }
}
