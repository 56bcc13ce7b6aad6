//! A few items of a large chunk: only the blocks that hold them are decoded.
//!
//! ```text
//! cargo run --release --example part
//! ```
#![expect(clippy::print_stdout, reason = "the lines are what the program is for")]

use blosc_oxide::{Chunk, Codec, Options, compress};

fn main() -> blosc_oxide::Result<()> {
    let data: Vec<u8> = (0..4_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let bytes = compress(&data, &Options::new(4).with_codec(Codec::Lz4).with_blocksize(64 << 10))?;

    let chunk = Chunk::parse(&bytes)?;
    let header = chunk.header();
    println!("{} bytes in {} blocks, {}, {}", header.nbytes(), header.nblocks(), header.codec(), header.pipeline());

    let three = chunk.items(1_000_000..1_000_003)?;
    let three: Vec<u32> = three.chunks_exact(4).map(|item| u32::from_le_bytes(item.try_into().unwrap())).collect();
    assert_eq!(three, [1_000_000, 1_000_001, 1_000_002]);
    println!("items 1000000 to 1000002 are {three:?}");
    Ok(())
}
