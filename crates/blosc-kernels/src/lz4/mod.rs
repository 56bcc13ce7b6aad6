//! The LZ4 block format: decoder, fast encoder and high-compression encoder.

mod decode;
mod encode;
mod hc;
mod lazy;
mod mid;
mod pending;
pub(crate) mod rows;
mod sequence;

pub use decode::{decompress, decompress_prefix, decompress_prefix_with_dict, decompress_with_dict};
pub use encode::Encoder;
pub use hc::HcEncoder;
pub use sequence::max_compressed_len;
