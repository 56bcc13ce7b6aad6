//! The kernels of blosc-oxide: byte and bit transposes, the LZ block codecs, Lizard, Zstandard, and
//! deflate.
//!
//! A leaf crate without dependencies and without `std`. It has unsafe code for speed; every public
//! function is safe and relies only on what it checks itself.
#![no_std]

extern crate alloc;

pub mod bitshuffle;
pub mod blosclz;
pub mod boxes;
pub mod bytedelta;
pub mod copy;
pub mod deflate;
pub mod delta;
mod entropy;
pub mod inflate;
pub mod isa;
pub mod lizard;
pub mod lz;
pub mod lz4;
mod running;
pub mod runs;
pub mod shuffle;
mod simd;
pub mod zstd;
