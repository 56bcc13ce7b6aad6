//! lz4/encode
