//! An array on disk that grows along its first axis, and slices of it.
//!
//! ```text
//! cargo run --release --example array -- FILE.b2nd
//! ```
#![expect(clippy::print_stdout, reason = "the lines are what the program is for")]

use blosc_oxide::{ArrayOptions, AxisSelection, Codec, Fill, NdArray, Options};
use std::error::Error;

/// Rows and columns of a map.
const ROWS: u64 = 180;
const COLUMNS: u64 = 360;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: array FILE.b2nd")?;
    // A chunk is ten maps: a map is read from one chunk, and a point over time from a tenth of
    // them.
    let options = ArrayOptions::new(&[0, ROWS, COLUMNS], Options::new(4).with_codec(Codec::Lz4))
        .with_dtype("<f4")
        .with_chunks(&[10, ROWS, COLUMNS])
        .with_blocks(&[1, 60, COLUMNS]);
    let mut edit = NdArray::create(&path, &options, &Fill::Zeros)?;
    for day in 0..30 {
        edit.resize(&[day + 1, ROWS, COLUMNS])?;
        let map: Vec<f32> = (0..ROWS * COLUMNS).map(|cell| (cell / COLUMNS + day) as f32).collect();
        edit.write_items(&[AxisSelection::from(day), AxisSelection::All, AxisSelection::All], &map)?;
    }
    let array = edit.commit()?;
    println!("{path}: {:?} of {}, {} bytes", array.shape(), array.dtype(), array.super_chunk().cbytes());

    // A row of one map, and one point on every tenth day.
    let row = array.slice_items::<f32>(&[AxisSelection::from(7), AxisSelection::from(90), (0..5).into()])?;
    println!("day 7, row 90: {row:?} and so on");
    let point = array.slice_items::<f32>(&[AxisSelection::slice(0, 30, 10), 90.into(), 180.into()])?;
    println!("days 0, 10 and 20 at one point: {point:?}");
    Ok(())
}
