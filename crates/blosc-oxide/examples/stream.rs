//! A file of any length into a frame and out of it, in little memory, with the traits of `std::io`.
//!
//! ```text
//! cargo run --release --example stream -- pack FILE FILE.b2frame
//! cargo run --release --example stream -- unpack FILE.b2frame FILE
//! ```

use blosc_oxide::{Codec, Frame, Options};
use std::error::Error;
use std::fs::File;
use std::io::copy;

/// What is compressed at once.
const CHUNK: usize = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pack", input, output] => {
            let mut input = File::open(input)?;
            let mut edit = Frame::create(output, Options::new(8).with_codec(Codec::Zstd))?;
            let mut writer = edit.writer(CHUNK)?;
            copy(&mut input, &mut writer)?;
            writer.finish()?;
            edit.commit()?;
        }
        ["unpack", input, output] => {
            let frame = Frame::open(input)?;
            copy(&mut frame.reader(), &mut File::create_new(output)?)?;
        }
        _ => return Err("usage: stream pack|unpack INPUT OUTPUT".into()),
    }
    Ok(())
}
