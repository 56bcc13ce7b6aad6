//! Chunks: up to 2 GiB of data, cut into blocks that are filtered and compressed one by one.
//!
//! Reading goes bytes → [`header`] → [`plan`] → [`decode`], writing the same road backwards. Everything that a header
//! claims is checked when it is parsed or when the plan is made; nothing after that checks it again.

mod assembly;
mod blosc1;
mod decode;
mod dict;
mod encode;
mod examine;
mod fetch;
mod header;
mod items;
mod lazy;
mod options;
mod packer;
mod partial;
mod plan;
mod plugins;
mod ragged;
mod raw;
mod reuse;
mod special;
mod tuning;
mod view;
mod vlblocks;

pub use decode::Decompressor;
pub(crate) use decode::room;
pub use encode::Compressor;
pub(crate) use fetch::{FetchBuffer, fetch};
pub(crate) use header::{BLOSC2_LEN, VERSION_BLOSC1};
pub use header::{Header, MAX_BLOCKSIZE, MAX_NBYTES, Special};
pub use lazy::LazyChunk;
pub use options::{Format, Options, SplitMode};
pub use plugins::Plugins;
pub(crate) use ragged::modernised;
pub(crate) use raw::raw_chunk;
pub use special::{fill_chunk, special_chunk};
pub(crate) use special::{fill_special, special_width};
pub use view::{BlockInfo, Chunk};
