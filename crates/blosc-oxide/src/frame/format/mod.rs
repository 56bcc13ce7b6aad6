//! The bytes of a frame: what can be read of them is checked here, once.

pub(crate) mod early;
pub(crate) mod field;
pub(crate) mod fingerprint;
pub(in crate::frame) mod footer;
pub(in crate::frame) mod free_space;
pub(in crate::frame) mod hashes;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod metalayers;
pub(crate) mod trailer;
pub(in crate::frame) mod version;
