//! From a chunk to its data.

mod blocks;
pub(in crate::chunk) mod decode;
mod examine;
pub(in crate::chunk) mod fetch;
mod items;
pub(in crate::chunk) mod lazy;
mod once;
mod ragged;
pub(in crate::chunk) mod view;
