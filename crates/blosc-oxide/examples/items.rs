//! Numbers into a chunk and back, by type.
//!
//! ```text
//! cargo run --release --example items
//! ```
#![expect(clippy::print_stdout, reason = "the line is what the program is for")]

use blosc_oxide::{Codec, Filter, Options, compress_items, decompress_items};

fn main() -> blosc_oxide::Result<()> {
    let temperatures: Vec<f32> = (0..50_000_u16).map(|hour| 15.0 + (f32::from(hour) / 24.0).sin() * 8.0).collect();

    // The typesize is that of the numbers, or it is an error. Shuffle puts bytes of the same weight
    // together.
    let options = Options::new(size_of::<f32>()).with_codec(Codec::Zstd).with_filters([Filter::Shuffle]);
    let chunk = compress_items(&temperatures, &options)?;
    assert_eq!(decompress_items::<f32>(&chunk)?, temperatures);

    println!("{} bytes of f32 became {}", size_of_val(&temperatures[..]), chunk.len());
    Ok(())
}
