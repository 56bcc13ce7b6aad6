//! From data to a chunk.

mod assembly;
pub(in crate::chunk) mod blosc1;
mod dict;
pub(in crate::chunk) mod encode;
mod packer;
pub(in crate::chunk) mod raw;
mod reuse;
pub(in crate::chunk) mod tuning;
mod vlblocks;
