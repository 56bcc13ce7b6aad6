//! What is written, and how it comes to where it belongs.

pub(crate) mod changing;
pub(crate) mod copying;
pub(crate) mod encoding;
pub(crate) mod output;
pub(crate) mod placement;
pub(crate) mod sink;
pub(crate) mod targets;
pub(crate) mod tree;
