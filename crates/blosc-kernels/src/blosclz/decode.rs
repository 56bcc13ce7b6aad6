//! blosclz/decode
