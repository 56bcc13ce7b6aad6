//! The BloscLZ stream format: decoder and encoder.

mod decode;
mod encode;
