//! Decoders of the kernels against others that do the same.

pub mod lizard;
pub mod zfp;
pub mod zstd;
