//! Standard input into a Bloscpack file with checksums, and out of it again.
//!
//! ```text
//! cargo run --release --example bloscpack -- pack data.blp < data
//! cargo run --release --example bloscpack -- unpack data.blp > data
//! ```

use blosc_oxide::bloscpack::{self, BloscpackOptions, Checksum, ReadOptions};
use blosc_oxide::{Codec, Options};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, stdin, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pack", path] => {
            let chunks = Options::new(8).with_codec(Codec::Zstd).with_level(3);
            let options = BloscpackOptions::new(chunks).with_checksum(Checksum::Sha256);
            bloscpack::pack_to_file(stdin().lock(), path, &options)?;
        }
        ["unpack", path] => {
            bloscpack::unpack(File::open(path)?, BufWriter::new(stdout().lock()), &ReadOptions::new())?;
        }
        _ => return Err("usage: bloscpack pack|unpack FILE".into()),
    }
    Ok(())
}
