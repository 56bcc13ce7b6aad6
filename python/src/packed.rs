//! NumPy arrays in one buffer: the frame of a `.b2nd` array, in memory.

use crate::buffer::{Source, new_bytearray};
use crate::errors::exception;
use crate::options::{Compression, Dtype, Shapes, array_options, threads};
use blosc_oxide::storage::MemoryStorage;
use blosc_oxide::{AxisSelection, Error, Location, NdArray};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// The frame of an array whose items are in `buffer` in C order.
#[pyfunction]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    dtype: Dtype,
    shape: Vec<u64>,
    shapes: Shapes,
    compression: Compression,
    buffer: &Bound<'py, PyAny>,
    nthreads: Option<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let source = Source::of(buffer)?;
    let options = array_options(dtype, &shape, &shapes, compression, threads(py, nthreads, source.len())?)?;
    let packed = py.detach(|| {
        let place = Location::storage(MemoryStorage::default());
        NdArray::create_with_data(place, &options, source.bytes(&mut Vec::new()))?.to_bytes()
    });
    packed.map(|frame| PyBytes::new(py, &frame)).map_err(|error: Error| exception(&error))
}

/// The type, shape and items of the array in a frame.
#[pyfunction]
pub(crate) fn unpack<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
) -> PyResult<(String, Vec<u64>, Bound<'py, PyByteArray>)> {
    let source = Source::of(buffer)?;
    let opened = py.detach(|| NdArray::open(source.bytes(&mut Vec::new()).to_vec()));
    let array = opened.map_err(|error| exception(&error))?;
    let geometry = array.geometry();
    let nbytes = geometry.nitems().saturating_mul(geometry.typesize() as u64);
    let nbytes = usize::try_from(nbytes).unwrap_or(usize::MAX);
    let whole = vec![AxisSelection::All; geometry.ndim()];
    let items = new_bytearray(py, nbytes, |out| array.slice_into(&whole, out))?;
    Ok((array.dtype().to_owned(), array.shape().to_vec(), items.map_err(|error| exception(&error))?))
}
