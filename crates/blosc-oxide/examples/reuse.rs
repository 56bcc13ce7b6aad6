//! Many buffers: a compressor and a decompressor keep their memory from one to the next.
//!
//! ```text
//! cargo run --release --example reuse
//! ```
#![expect(clippy::print_stdout, reason = "the line is what the program is for")]

use blosc_oxide::{Codec, Compressor, Decompressor, Options, Threads};

const BUFFER: usize = 1 << 20;

fn main() -> blosc_oxide::Result<()> {
    let options = Options::new(8).with_codec(Codec::Lz4).with_level(5).with_threads(Threads::at_most(2));
    let mut compressor = Compressor::new(options)?;
    let mut decompressor = Decompressor::new().with_threads(Threads::at_most(2));
    let mut chunk = vec![0; compressor.max_compressed_len(BUFFER)];
    let mut decoded = vec![0; BUFFER];

    let mut cbytes = 0;
    for start in (0..16_000_000_u64).step_by(1_000_000) {
        let data: Vec<u8> = (start..).take(BUFFER / 8).flat_map(u64::to_le_bytes).collect();
        let len = compressor.compress_into(&data, &mut chunk)?;
        cbytes += len;
        // What `chunk[..len]` holds would be sent or stored here.
        let nbytes = decompressor.decompress_into(&chunk[..len], &mut decoded)?;
        assert_eq!(decoded[..nbytes], data);
    }
    println!("16 buffers of {BUFFER} bytes became {cbytes} bytes together");
    Ok(())
}
