//! The blocks of a chunk, compressed by one or more workers and put in order.

pub(super) mod assembly;
pub(super) mod packer;
pub(super) mod reuse;
pub(super) mod scratch;
