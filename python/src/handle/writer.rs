//! Arrays whose chunks are compressed elsewhere, by many workers, and written by one.

use super::process::OfProcess;
use crate::buffer::Source;
use crate::errors::{exception, of_file};
use crate::options::{Compression, Dtype, Shapes, array_options};
use blosc_oxide::{Error, ErrorKind, Fill, Frame, FrameEdit, FrameOptions, NdArray, Result, Special, Threads};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The chunk of an array that holds the items in `buffer`, which has this shape: no more than the
/// shape of a chunk.
#[pyfunction]
pub(crate) fn encode_chunk<'py>(
    py: Python<'py>,
    dtype: Dtype,
    shape: Vec<u64>,
    shapes: Shapes,
    compression: Compression,
    buffer: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let source = Source::of(buffer)?;
    let options = array_options(dtype, &shape, &shapes, compression, Threads::serial())?;
    let chunk = py.detach(|| NdArray::from_data(&options, source.bytes(&mut Vec::new()))?.super_chunk().chunk(0));
    chunk.map(|chunk| PyBytes::new(py, &chunk)).map_err(|error| exception(&error))
}

/// An array that is being made. It is there when it is committed, and else never was.
#[pyclass(frozen, module = "blosc_oxide._native")]
pub(crate) struct ArrayWriter {
    path: PathBuf,
    edit: Mutex<Option<OfProcess<FrameEdit>>>,
}

#[pymethods]
impl ArrayWriter {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        dtype: Dtype,
        shape: Vec<u64>,
        shapes: Shapes,
        compression: Compression,
    ) -> PyResult<Self> {
        let options = array_options(dtype, &shape, &shapes, compression, Threads::serial())?;
        let begun = py.detach(|| {
            let empty = NdArray::new(&options, &Fill::Zeros)?;
            let chunks = empty.super_chunk();
            let frame = FrameOptions::new(chunks.options().clone());
            let metalayers = chunks.metalayers().iter();
            let frame = metalayers.fold(frame, |frame, (name, content)| frame.with_metalayer(name, content));
            let mut edit = Frame::create(path.clone(), frame)?;
            edit.fill(Special::Zeros, chunks.nbytes(), empty.geometry().chunk_nbytes())?;
            Ok(edit)
        });
        let edit = begun.map_err(|error| of_file(&error, Some(&path)))?;
        Ok(Self { path, edit: Mutex::new(Some(OfProcess::new(edit))) })
    }

    /// Makes a chunk that was encoded the chunk `index`.
    fn put(&self, py: Python<'_>, index: usize, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        let chunk = Source::of(chunk)?;
        self.with_edit(py, |edit| match edit.as_mut().and_then(OfProcess::get_mut) {
            Some(edit) => edit.update_chunk(index, chunk.bytes(&mut Vec::new())),
            None => Err(ended()),
        })
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.with_edit(py, |edit| edit.take().and_then(OfProcess::into_inner).ok_or_else(ended)?.commit().map(drop))
    }

    /// Takes everything back.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.with_edit(py, |edit| {
            *edit = None;
            Ok(())
        })
    }
}

impl ArrayWriter {
    fn with_edit(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut Option<OfProcess<FrameEdit>>) -> Result<()> + Send,
    ) -> PyResult<()> {
        let done = py.detach(|| action(&mut self.edit.lock().unwrap_or_else(PoisonError::into_inner)));
        done.map_err(|error| of_file(&error, Some(&self.path)))
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the array was committed, or taken back")
}
