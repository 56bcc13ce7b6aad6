//! A chunk from a stranger: damage is an error, and so is a size that is larger than what is
//! expected.
//!
//! ```text
//! cargo run --release --example untrusted -- FILE
//! ```
#![expect(clippy::print_stdout, reason = "the lines are what the program is for")]

use blosc_oxide::{Decompressor, ErrorKind, Limits, Options, compress};
use std::error::Error;

/// No chunk of this program is larger.
const LARGEST: usize = 16 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let bytes = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        // 64 MiB of zeros take 32 bytes.
        None => compress(&vec![0; 64 << 20], &Options::new(1))?,
    };
    let mut decompressor = Decompressor::new().with_limits(Limits::new().with_max_allocation(LARGEST));
    match decompressor.decompress(&bytes) {
        Ok(data) => println!("{} bytes of data", data.len()),
        Err(error) if error.kind() == ErrorKind::LimitExceeded => println!("refused: {error}"),
        Err(error) => println!("damaged or unknown ({:?}): {error}", error.kind()),
    }
    Ok(())
}
