//! The BloscLZ stream format: decoder and encoder.

mod decode;
mod encode;

pub use decode::{decompress, decompress_prefix};
pub use encode::{Encoder, Variant};
