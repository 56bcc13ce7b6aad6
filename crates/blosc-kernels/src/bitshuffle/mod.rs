//! bitshuffle
