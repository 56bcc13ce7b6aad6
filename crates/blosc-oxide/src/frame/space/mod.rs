//! The space of a contiguous frame: what is where, and what is free.

pub(in crate::frame) mod append_buffer;
pub(in crate::frame) mod free_list;
pub(in crate::frame) mod index_slots;
pub(in crate::frame) mod map;
