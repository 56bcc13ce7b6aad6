//! lz4/hc
