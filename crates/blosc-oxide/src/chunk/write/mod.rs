//! From data to a chunk.

mod blocks;
mod blosc1;
mod dict;
pub(in crate::chunk) mod encode;
mod layout;
pub(in crate::chunk) mod modernise;
pub(in crate::chunk) mod raw;
mod resolve;
pub(in crate::chunk) mod special;
mod tuning;
mod vlblocks;
