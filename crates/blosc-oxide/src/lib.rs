//! Blosc.
