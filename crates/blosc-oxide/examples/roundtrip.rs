//! Compresses a file with every codec of this build, decompresses it again and checks that it came
//! back.
//!
//! ```text
//! cargo run --release --example roundtrip -- FILE [TYPESIZE]
//! cargo run --release --example roundtrip
//! ```
//!
//! `TYPESIZE` is the size of one item of the file in bytes; 1 if it is not given. Without a file,
//! the data are 1,000,000 measurements as 8-byte floats.
#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

use blosc_oxide::{Codec, Compressor, Decompressor, Options};
use std::error::Error;
use std::time::{Duration, Instant};

const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
const LEVEL: u8 = 5;
/// Each direction is repeated for this long, and the fastest time counts.
const PATIENCE: Duration = Duration::from_millis(300);

fn main() -> Result<(), Box<dyn Error>> {
    let (data, typesize) = input()?;
    println!("{} bytes in items of {typesize}, level {LEVEL}, default filter (shuffle)", data.len());
    println!("{:<8} {:>12} {:>8} {:>15} {:>17}", "codec", "bytes", "ratio", "compress MB/s", "decompress MB/s");
    for codec in CODECS.into_iter().filter(|codec| codec.is_built_in()) {
        let options = Options::new(typesize).with_codec(codec).with_level(LEVEL);
        let result = round_trip(&data, options)?;
        println!(
            "{:<8} {:>12} {:>8.2} {:>15.0} {:>17.0}",
            codec.to_string(),
            result.cbytes,
            data.len() as f64 / result.cbytes as f64,
            megabytes_per_second(data.len(), result.compression),
            megabytes_per_second(data.len(), result.decompression),
        );
    }
    println!("all of them came back as they were");
    Ok(())
}

struct RoundTrip {
    cbytes: usize,
    compression: Duration,
    decompression: Duration,
}

fn round_trip(data: &[u8], options: Options) -> Result<RoundTrip, Box<dyn Error>> {
    let mut compressor = Compressor::new(options)?;
    let mut chunk = vec![0; compressor.max_compressed_len(data.len())];
    let (cbytes, compression) = fastest(|| compressor.compress_into(data, &mut chunk))?;

    let mut decompressor = Decompressor::new();
    let mut decoded = vec![0; data.len()];
    let (nbytes, decompression) = fastest(|| decompressor.decompress_into(&chunk[..cbytes], &mut decoded))?;
    if nbytes != data.len() || decoded != data {
        return Err("the data did not come back as they were".into());
    }
    Ok(RoundTrip { cbytes, compression, decompression })
}

/// The result of `job`, and the shortest time that it took.
fn fastest(mut job: impl FnMut() -> blosc_oxide::Result<usize>) -> blosc_oxide::Result<(usize, Duration)> {
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    loop {
        let start = Instant::now();
        let result = job()?;
        shortest = shortest.min(start.elapsed());
        if begin.elapsed() >= PATIENCE {
            return Ok((result, shortest));
        }
    }
}

fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

/// The bytes to work on and the size of their items.
fn input() -> Result<(Vec<u8>, usize), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(path) = arguments.next() else { return Ok((measurements(), 8)) };
    let data = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let typesize = match arguments.next() {
        Some(typesize) => typesize.to_string_lossy().parse()?,
        None => 1,
    };
    Ok((data, typesize))
}

/// A slow wave, read off with a resolution of one in 1,000, as a sensor would.
fn measurements() -> Vec<u8> {
    (0..1_000_000).map(f64::from).flat_map(|t| ((t / 5000.0).sin() * 1000.0).round().to_le_bytes()).collect()
}
