//! NumPy arrays in one buffer: the frame of a `.b2nd` array, in memory.

use crate::buffer::{Source, new_bytearray};
use crate::errors::exception;
use crate::options::{CodecArgument, Filters, SplitArgument, level, threads};
use blosc_oxide::storage::MemoryStorage;
use blosc_oxide::{ArrayOptions, AxisSelection, Error, Location, NdArray, Options};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// The frame of an array whose items are in `buffer` in C order.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package has functions with names for them")]
#[expect(clippy::needless_pass_by_value, reason = "arguments are made for the call")]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    dtype: &str,
    itemsize: usize,
    shape: Vec<u64>,
    shapes: (Option<Vec<u64>>, Option<Vec<u64>>),
    codec: CodecArgument,
    clevel: i64,
    filters: Filters,
    splitmode: SplitArgument,
    nthreads: Option<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let source = Source::of(buffer)?;
    let compression = Options::new(itemsize)
        .with_codec(codec.0)
        .with_level(level(clevel)?)
        .with_filters(filters.0)
        .with_split(splitmode.0)
        .with_threads(threads(py, nthreads, source.len())?);
    let mut options = ArrayOptions::new(&shape, compression).with_dtype(dtype);
    if let Some(chunks) = &shapes.0 {
        options = options.with_chunks(chunks);
    }
    if let Some(blocks) = &shapes.1 {
        options = options.with_blocks(blocks);
    }
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
