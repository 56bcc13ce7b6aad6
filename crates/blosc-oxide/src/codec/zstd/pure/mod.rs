//! Zstandard in Rust alone.

mod decode;
mod encode;
mod noise;
mod proof;

pub(in crate::codec) use decode::{DecodeDict, Decoder};
pub(in crate::codec) use encode::{EncodeDict, Encoder, train};
