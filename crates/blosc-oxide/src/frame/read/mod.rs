//! Reading what is stored of a frame, and checking it.

pub(in crate::frame) mod load;
pub(in crate::frame) mod verify;
