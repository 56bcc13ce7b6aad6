//! blosclz/encode
