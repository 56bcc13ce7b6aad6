//! From a chunk to its data.

pub(in crate::chunk) mod decode;
mod examine;
pub(in crate::chunk) mod fetch;
mod items;
mod partial;
pub(in crate::chunk) mod ragged;
pub(in crate::chunk) mod view;
