//! The compiled part of the Python package `blosc_oxide`.
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python arrive as owned values")]

mod bloscpack;
mod buffer;
mod chunk;
mod errors;
mod handle;
mod options;
mod packed;
mod repair;
mod scratch;

use pyo3::prelude::*;

/// The compiled part of `blosc_oxide`; what is public of it is in the package itself.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::bloscpack::{
        bloscpack_array, bloscpack_metadata, bloscpack_pack, bloscpack_recover, bloscpack_unpack, bloscpack_unpack_file,
    };
    #[pymodule_export]
    use crate::chunk::{chunk_info, compress, compress_blosc1, decompress};
    #[pymodule_export]
    use crate::handle::array::Array;
    #[pymodule_export]
    use crate::handle::metalayers::{meta_get, meta_names, meta_set};
    #[pymodule_export]
    use crate::handle::super_chunk::SuperChunk;
    #[pymodule_export]
    use crate::handle::writer::{ArrayWriter, encode_chunk};
    #[pymodule_export]
    use crate::handle::{Handle, open};
    #[pymodule_export]
    use crate::packed::{pack, unpack};
    #[pymodule_export]
    use crate::repair::repair;
}
