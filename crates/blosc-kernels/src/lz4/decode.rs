//! lz4/decode
