//! From items to the chunks of an array.

mod derive;
pub(in crate::array) mod encode;
mod resize;
mod slice;
