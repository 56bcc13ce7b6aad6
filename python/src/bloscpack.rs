//! Bloscpack files.

use crate::buffer::{Source, new_bytearray};
use crate::errors::{exception, of_file};
use crate::options::{CodecArgument, Filters, level, size, threads};
use blosc_oxide::bloscpack::{self, Bloscpack, BloscpackOptions, Checksum, ReadOptions, Recovery};
use blosc_oxide::storage::{FileStorage, MemoryStorage, ReadAt};
use blosc_oxide::{Error, ItemOrder, Limits, NpyHeader, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;

/// The size of an item, codec, level and filters.
type Compression = (i64, CodecArgument, i64, Filters);

/// The metadata of an array: its type, shape and order as Bloscpack writes them.
#[pyfunction]
pub(crate) fn bloscpack_metadata(dtype: &str, shape: Vec<u64>) -> PyResult<String> {
    let array = NpyHeader::new(dtype, shape, ItemOrder::C).map_err(|error| exception(&error))?;
    Ok(array.to_json())
}

/// The type and shape that metadata describe, and whether the items are in the order of Fortran;
/// nothing if they describe no array.
#[pyfunction]
pub(crate) fn bloscpack_array(metadata: &str) -> PyResult<Option<(String, Vec<u64>, bool)>> {
    let array = NpyHeader::from_json(metadata).map_err(|error| exception(&error))?;
    Ok(array.map(|array| (array.dtype().to_owned(), array.shape().to_vec(), array.order() == ItemOrder::Fortran)))
}

/// The bytes of a file that holds `buffer`; or nothing, if it is written to a path.
#[pyfunction]
pub(crate) fn bloscpack_pack<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    path: Option<PathBuf>,
    compression: Compression,
    chunk_size: i64,
    checksum: &str,
    metadata: Option<String>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let source = Source::of(buffer)?;
    let (typesize, codec, clevel, filters) = compression;
    let options = Options::new(size("typesize", typesize)?)
        .with_codec(codec.0)
        .with_level(level(clevel)?)
        .with_filters(filters.0)
        .with_threads(threads(py, None, source.len())?);
    let checksum = Checksum::from_name(checksum)
        .ok_or_else(|| PyValueError::new_err(format!("there is no checksum {checksum:?}")))?;
    let mut options = BloscpackOptions::new(options)
        .with_chunk_size(size("chunk_size", chunk_size)?)
        .with_checksum(checksum)
        .with_nbytes(source.len() as u64);
    if let Some(metadata) = metadata {
        options = options.with_metadata(metadata);
    }
    let packed = py.detach(|| {
        let mut copy = Vec::new();
        let data = source.bytes(&mut copy);
        match &path {
            Some(path) => bloscpack::pack_to_file(data, path, &options).map(|_| None),
            None => bloscpack::pack_slice(data, &options).map(Some),
        }
    });
    let packed = packed.map_err(|error| of_file(&error, path.as_deref()))?;
    Ok(packed.map(|bytes| PyBytes::new(py, &bytes)))
}

/// The data of a file, and its metadata.
#[pyfunction]
pub(crate) fn bloscpack_unpack_file(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Bound<'_, PyByteArray>, Option<String>)> {
    let opened = FileStorage::open(&path).map_err(|cause| of_file(&cause.into(), Some(&path)))?;
    unpacked(py, opened, |error| of_file(&error, Some(&path)))
}

/// The data of a file whose bytes are in `buffer`, and its metadata.
#[pyfunction]
pub(crate) fn bloscpack_unpack<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyByteArray>, Option<String>)> {
    let source = Source::of(buffer)?;
    let bytes = py.detach(|| source.bytes(&mut Vec::new()).to_vec());
    unpacked(py, MemoryStorage::new(bytes), |error| exception(&error))
}

fn unpacked<S: ReadAt>(
    py: Python<'_>,
    storage: S,
    exception: impl Fn(Error) -> PyErr,
) -> PyResult<(Bound<'_, PyByteArray>, Option<String>)> {
    let options = ReadOptions::new().with_threads(threads(py, None, usize::MAX)?);
    let opened = py.detach(|| {
        let file = Bloscpack::with_options(storage, options)?;
        let nbytes = file.nbytes()?;
        Ok((file, usize::try_from(nbytes).unwrap_or(usize::MAX)))
    });
    let (file, nbytes) = opened.map_err(&exception)?;
    let data = new_bytearray(py, nbytes, |out| file.read_into(0, out))?.map_err(&exception)?;
    Ok((data, file.metadata().map(|metadata| metadata.text().to_owned())))
}

/// Brings a change to its end that was interrupted, or takes it back; returns what was done.
#[pyfunction]
pub(crate) fn bloscpack_recover(py: Python<'_>, path: PathBuf) -> PyResult<&'static str> {
    let recovered = py.detach(|| bloscpack::recover(&mut FileStorage::open_writable(&path)?, Limits::new()));
    Ok(match recovered.map_err(|error: Error| of_file(&error, Some(&path)))? {
        Recovery::Completed => "completed",
        Recovery::TakenBack => "taken back",
        _ => "not needed",
    })
}
