//! Measurements into a frame, one chunk for each hour, and some of them out of it again.
//!
//! ```text
//! cargo run --release --example frame -- FILE.b2frame
//! ```
//!
//! The first run makes the file, each further run appends a day to it.
#![expect(clippy::print_stdout, reason = "the lines are what the program is for")]

use blosc_oxide::{Codec, Frame, Options};
use std::error::Error;
use std::path::PathBuf;

/// Measurements in an hour.
const HOUR: u64 = 3600;

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: frame FILE.b2frame")?);
    let mut edit = if path.exists() {
        Frame::open(&path)?.edit()?
    } else {
        Frame::create(&path, Options::new(4).with_codec(Codec::Zstd))?
    };
    // If anything fails before the commit, or the program is killed, the file stays as it was.
    for hour in 0..24 {
        let measured: Vec<f32> = (0..HOUR).map(|second| temperature(hour * HOUR + second)).collect();
        edit.append_items(&measured)?;
    }
    let frame = edit.commit()?;
    println!("{}: {} hours, {} bytes in {}", path.display(), frame.nchunks(), frame.nbytes(), frame.cbytes());

    let noon = frame.nitems() - 12 * HOUR;
    println!("at noon of the last day: {:?}", frame.read_items::<f32>(noon..noon + 3)?);
    Ok(())
}

/// Warm by day and cold by night, read off in tenths of a degree.
fn temperature(second: u64) -> f32 {
    let day = second as f32 / 86_400.0 * std::f32::consts::TAU;
    (150.0 - 80.0 * day.cos()).round() / 10.0
}
