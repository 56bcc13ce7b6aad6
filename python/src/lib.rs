//! The compiled part of the Python package `blosc_oxide`.
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive as owned values")]

mod array;
mod buffer;
mod chunk;
mod errors;
mod options;
mod packed;
mod scratch;
mod select;

use pyo3::prelude::*;

/// The compiled part of `blosc_oxide`; what is public of it is in the package itself.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::chunk::{chunk_info, compress, compress_blosc1, decompress};
    #[pymodule_export]
    use crate::packed::{pack, unpack};
}
