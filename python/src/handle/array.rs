//! Arrays, for the class `NDArray` of the package.

use super::content::Snapshot;
use super::select::Selections;
use super::{Handle, location};
use crate::buffer::{Source, new_bytearray};
use crate::errors::of_file;
use crate::options::{Compression, Dtype, Shapes, array_options, threads};
use blosc_oxide::{Fill, NdArray};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;

/// The dtype, and the shapes of the array, of its chunks and of its blocks.
type Layout = (String, Vec<u64>, Vec<u64>, Vec<u64>);

/// An array on disk or in memory.
#[pyclass(frozen, extends = Handle, module = "blosc_oxide._native")]
pub(crate) struct Array;

#[pymethods]
impl Array {
    /// Makes an array of one value over and over: zeros if there is none.
    #[staticmethod]
    fn fill(
        py: Python<'_>,
        path: Option<PathBuf>,
        dtype: Dtype,
        shape: Vec<u64>,
        shapes: Shapes,
        compression: Compression,
        value: Option<Vec<u8>>,
    ) -> PyResult<Py<Self>> {
        let options = array_options(dtype, &shape, &shapes, compression, threads(py, None, usize::MAX)?)?;
        let fill = value.map_or(Fill::Zeros, Fill::Value);
        let made = py.detach(|| NdArray::create(location(path.as_deref()), &options, &fill)?.commit());
        let snapshot = made.map_err(|error| of_file(&error, path.as_deref()))?;
        Self::of(py, Handle::new(path, true, Snapshot::Array(snapshot)))
    }

    /// Makes an array of the items in `buffer`, in C order.
    #[staticmethod]
    fn of_items(
        py: Python<'_>,
        path: Option<PathBuf>,
        dtype: Dtype,
        shape: Vec<u64>,
        shapes: Shapes,
        compression: Compression,
        buffer: &Bound<'_, PyAny>,
    ) -> PyResult<Py<Self>> {
        let options = array_options(dtype, &shape, &shapes, compression, threads(py, None, usize::MAX)?)?;
        let source = Source::of(buffer)?;
        let made =
            py.detach(|| NdArray::create_with_data(location(path.as_deref()), &options, source.bytes(&mut Vec::new())));
        let snapshot = made.map_err(|error| of_file(&error, path.as_deref()))?;
        Self::of(py, Handle::new(path, true, Snapshot::Array(snapshot)))
    }

    /// Type and shapes of array, chunks and blocks.
    fn layout(slf: &Bound<'_, Self>) -> PyResult<Layout> {
        handle(slf).read(slf.py(), |reader| {
            let array = reader.array()?;
            let geometry = array.geometry();
            let [shape, chunks, blocks] = [geometry.shape(), geometry.chunks(), geometry.blocks()].map(<[u64]>::to_vec);
            Ok((array.dtype().to_owned(), shape, chunks, blocks))
        })
    }

    fn shape(slf: &Bound<'_, Self>) -> PyResult<Vec<u64>> {
        handle(slf).read(slf.py(), |reader| Ok(reader.array()?.shape().to_vec()))
    }

    /// The items that selections of each axis take, in C order; `nbytes` is how many bytes these
    /// are.
    fn slice<'py>(slf: &Bound<'py, Self>, selections: Selections, nbytes: usize) -> PyResult<Bound<'py, PyByteArray>> {
        let handle = handle(slf);
        let read = |out: &mut [u8]| handle.with_reader(|reader| reader.array()?.slice_into(&selections.0, out));
        new_bytearray(slf.py(), nbytes, read)?.map_err(|error| handle.exception(&error))
    }

    /// The items at points, whose indices are little-endian numbers of 64 bits, one after the
    /// other.
    fn gather<'py>(slf: &Bound<'py, Self>, points: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let points = Source::of(points)?;
        let items =
            handle(slf).read(slf.py(), |reader| reader.array()?.gather(&numbers(points.bytes(&mut Vec::new()))))?;
        Ok(PyBytes::new(slf.py(), &items))
    }

    /// Writes items over what selections take.
    fn write(slf: &Bound<'_, Self>, selections: Selections, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = Source::of(items)?;
        handle(slf).change(slf.py(), |edit| edit.array()?.write(&selections.0, items.bytes(&mut Vec::new())))
    }

    /// Writes items over those at points.
    fn scatter(slf: &Bound<'_, Self>, points: &Bound<'_, PyAny>, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let (points, items) = (Source::of(points)?, Source::of(items)?);
        handle(slf).change(slf.py(), |edit| {
            edit.array()?.scatter(&numbers(points.bytes(&mut Vec::new())), items.bytes(&mut Vec::new()))
        })
    }

    fn resize(slf: &Bound<'_, Self>, shape: Vec<u64>) -> PyResult<()> {
        handle(slf).change(slf.py(), |edit| edit.array()?.resize(&shape))
    }

    fn append(slf: &Bound<'_, Self>, axis: usize, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = Source::of(items)?;
        handle(slf).change(slf.py(), |edit| edit.array()?.append(axis, items.bytes(&mut Vec::new())))
    }
}

impl Array {
    pub(super) fn of(py: Python<'_>, handle: Handle) -> PyResult<Py<Self>> {
        Py::new(py, PyClassInitializer::from(handle).add_subclass(Self))
    }
}

fn handle<'a>(array: &'a Bound<'_, Array>) -> &'a Handle {
    array.as_super().get()
}

/// Little-endian numbers of 64 bits.
fn numbers(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|&word| u64::from_le_bytes(word)).collect()
}
