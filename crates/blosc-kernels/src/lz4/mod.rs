//! The LZ4 block format: decoder, fast encoder and high-compression encoder.

mod decode;
mod encode;
mod hc;
