//! From items to the chunks of an array.

mod derive;
pub(in crate::array) mod edit;
mod encode;
pub(in crate::array) mod encoder;
mod fill;
mod resize;
mod slice;
