//! What the fuzz targets do: each function takes the bytes of one input, and panics when a promise
//! is broken.
//!
//! A target in `fuzz_targets` only names its function, so that the same input can be tried from
//! anywhere.

extern crate alloc;

pub mod arrays;
pub mod chunks;
pub mod codecs;
mod content;
pub mod decoders;
#[allow(dead_code, reason = "shared with the tests, of which each uses a part")]
#[path = "../../crates/blosc-oxide/tests/common/disk.rs"]
mod disk;
pub mod edits;
pub mod files;
mod input;
pub mod kernels;
#[path = "../../crates/blosc-kernels/src/lizard/tests/simple.rs"]
mod lizard_oracle;
#[allow(dead_code, reason = "the command uses more of it")]
#[path = "../../crates/blosc-cli/src/python/mod.rs"]
mod python;
pub mod seeds;
pub mod stores;

use blosc_oxide::{Decompressor, Error, FrameOptions, Limits, Options, Threads};

/// More than most inputs hold, and little enough that one which declares it costs nothing.
const MOST: usize = 64 << 10;
/// How many chunks of a file are looked at: a special chunk costs no bytes, so that a small file
/// can have millions.
const MOST_CHUNKS: usize = 40;

fn limits() -> Limits {
    Limits::new().with_max_allocation(MOST)
}

fn decompressor() -> Decompressor {
    Decompressor::new().with_threads(Threads::serial()).with_limits(limits())
}

fn frame_options() -> FrameOptions {
    FrameOptions::new(Options::new(1).with_threads(Threads::serial())).with_limits(limits())
}

/// An error says what is wrong.
fn check_error(error: &Error) {
    assert!(error.to_string().len() > 10, "{error} says nothing");
}
