//! The blocks of a chunk, decoded by one or more workers.

pub(super) mod block;
mod partial;
pub(super) mod queue;
pub(super) mod sharing;
