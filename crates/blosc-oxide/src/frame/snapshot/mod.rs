//! One committed state of a frame, and what all snapshots and edits of one opening share.

pub(in crate::frame) mod connection;
pub(in crate::frame) mod frame;
