//! A codec of one's own: chunks hold its id, and whoever reads them needs it, too.
//!
//! ```text
//! cargo run --release --example own_codec
//! ```
#![expect(clippy::print_stdout, reason = "the line is what the program is for")]

use blosc_oxide::plugin::{CodecContext, CodecPlugin, Plugins};
use blosc_oxide::{Codec, Compressor, Decompressor, Error, ErrorKind, Options, Result};
use std::sync::Arc;

/// From 160 to 255.
const ID: u8 = 200;

/// Lengths of runs of equal bytes: a count below 256, and the byte.
struct RunLengths;

impl CodecPlugin for RunLengths {
    fn compress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        let mut len = 0;
        for run in src.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255)) {
            let Some(pair) = dst.get_mut(len..len + 2) else { return Ok(None) };
            pair.copy_from_slice(&[u8::try_from(run.len()).unwrap_or(u8::MAX), run[0]]);
            len += 2;
        }
        Ok(Some(len))
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        let mut len = 0;
        for pair in src.chunks_exact(2) {
            let end = len + usize::from(pair[0]);
            let Some(run) = dst.get_mut(len..end) else {
                return Err(Error::new(ErrorKind::Corrupt, "run lengths: more bytes than the block has"));
            };
            run.fill(pair[1]);
            len = end;
        }
        Ok(len)
    }
}

fn main() -> Result<()> {
    let plugins = Plugins::new().with_codec(ID, Arc::new(RunLengths))?;
    let options = Options::new(4).with_codec(Codec::Plugin(ID)).with_plugins(plugins.clone());
    let data: Vec<u8> = (0..100_000_u32).map(|i| i / 1000).flat_map(u32::to_le_bytes).collect();

    let chunk = Compressor::new(options)?.compress(&data)?;
    assert_eq!(Decompressor::new().with_plugins(plugins).decompress(&chunk)?, data);
    assert_eq!(blosc_oxide::decompress(&chunk).unwrap_err().kind(), ErrorKind::Unsupported);
    println!("{} bytes became {}", data.len(), chunk.len());
    Ok(())
}
