//! Chunks: up to 2 GiB of data, cut into blocks that are filtered and compressed one by one.
//!
//! Reading goes bytes → [`format::header`] → [`format::plan`] → [`read::decode`], writing the same
//! way backwards. Everything that a header claims is checked when it is parsed or when the plan is
//! made; nothing after that checks it again.

mod format;
mod memory;
mod options;
mod plugins;
mod read;
mod write;

pub(crate) use format::header::{BLOSC2_LEN, VERSION_BLOSC1};
pub use format::header::{Header, Special};
pub(crate) use format::special::{fill_special, special_width};
pub(crate) use memory::room;
pub use options::{Format, Options, SplitMode};
pub use plugins::Plugins;
pub use read::decode::Decompressor;
pub(crate) use read::fetch::{FetchBuffer, fetch};
pub use read::lazy::LazyChunk;
pub use read::view::{BlockInfo, Chunk};
pub use write::encode::Compressor;
pub(crate) use write::modernise::modernised;
pub(crate) use write::raw::raw_chunk;
pub use write::special::{fill_chunk, special_chunk};
