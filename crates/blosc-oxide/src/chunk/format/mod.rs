//! What the bytes of a chunk mean: the only code that turns them into sizes and offsets.

pub(in crate::chunk) mod header;
pub(in crate::chunk) mod plan;
pub(in crate::chunk) mod special;
pub(in crate::chunk) mod split;
