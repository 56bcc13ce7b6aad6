//! Changing a frame: all of it happens, or nothing of it.

pub(in crate::frame) mod begin;
mod creation;
pub(in crate::frame) mod edit;
