//! The chunks of a frame: read, staged, committed.

mod committed;
pub(in crate::frame) mod contiguous;
pub(in crate::frame) mod sparse;
mod splice;
