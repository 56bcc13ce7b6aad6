//! From the chunks of an array to its items.

pub(in crate::array) mod file_items;
pub(in crate::array) mod parts;
pub(in crate::array) mod regions;
pub(in crate::array) mod slice;
