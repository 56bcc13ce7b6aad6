//! The LZ4 block format: decoder, fast encoder and high-compression encoder.

mod decode;
mod encode;
mod hc;

pub use decode::{decompress, decompress_prefix, decompress_prefix_with_dict, decompress_with_dict};
