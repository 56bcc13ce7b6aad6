//! Super-chunks, for the class `SChunk` of the package.

use super::content::Snapshot;
use super::{Handle, location};
use crate::buffer::{Source, new_bytes};
use crate::errors::of_file;
use crate::options::{ChunkArguments, chunk_options, threads};
use blosc_oxide::{Frame, FrameLayout, FrameOptions, Special};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A super-chunk on disk or in memory.
#[pyclass(frozen, extends = Handle, module = "blosc_oxide._native")]
pub(crate) struct SuperChunk;

#[pymethods]
impl SuperChunk {
    /// Makes a super-chunk of `data`, cut into chunks of `chunksize` bytes.
    #[staticmethod]
    fn of_data(
        py: Python<'_>,
        path: Option<PathBuf>,
        is_contiguous: bool,
        arguments: ChunkArguments,
        chunksize: usize,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Self>> {
        let source = data.map(Source::of).transpose()?;
        let layout = if is_contiguous { FrameLayout::Contiguous } else { FrameLayout::Sparse };
        let options = chunk_options(arguments)?.with_threads(threads(py, None, usize::MAX)?);
        let options = FrameOptions::new(options).with_layout(layout);
        let made = py.detach(|| {
            let mut edit = Frame::create(location(path.as_deref()), options)?;
            if let Some(source) = source.filter(|source| source.len() > 0) {
                edit.extend(source.bytes(&mut Vec::new()), chunksize)?;
            }
            edit.commit()
        });
        let frame = made.map_err(|error| of_file(&error, path.as_deref()))?;
        Self::of(py, Handle::new(path, true, Snapshot::Chunks(frame)))
    }

    /// Appends data as one chunk after another of this size.
    fn extend(slf: &Bound<'_, Self>, data: &Bound<'_, PyAny>, chunksize: usize) -> PyResult<()> {
        let data = Source::of(data)?;
        handle(slf).change(slf.py(), |edit| edit.chunks()?.extend(data.bytes(&mut Vec::new()), chunksize))
    }

    /// Puts a chunk in front of the chunk `index`: data, or what has been compressed already.
    fn insert(slf: &Bound<'_, Self>, index: usize, data: &Bound<'_, PyAny>, is_chunk: bool) -> PyResult<()> {
        let data = Source::of(data)?;
        handle(slf).change(slf.py(), |edit| {
            let (chunks, mut copy) = (edit.chunks()?, Vec::new());
            let data = data.bytes(&mut copy);
            if is_chunk { chunks.insert_chunk(index, data) } else { chunks.insert(index, data) }
        })
    }

    /// Puts a chunk in the place of the chunk `index`.
    fn update(slf: &Bound<'_, Self>, index: usize, data: &Bound<'_, PyAny>, is_chunk: bool) -> PyResult<()> {
        let data = Source::of(data)?;
        handle(slf).change(slf.py(), |edit| {
            let (chunks, mut copy) = (edit.chunks()?, Vec::new());
            let data = data.bytes(&mut copy);
            if is_chunk { chunks.update_chunk(index, data) } else { chunks.update(index, data) }
        })
    }

    fn delete(slf: &Bound<'_, Self>, index: usize) -> PyResult<()> {
        handle(slf).change(slf.py(), |edit| edit.chunks()?.delete(index))
    }

    /// Appends `nitems` of a special value in chunks of `chunksize` bytes.
    fn fill_special(slf: &Bound<'_, Self>, nitems: u64, special: &str, chunksize: usize) -> PyResult<()> {
        let special = match special {
            "zero" => Special::Zeros,
            "nan" => Special::NaN,
            "uninit" => Special::Uninit,
            _ => {
                let message = format!("special value is {special:?}, it can be \"zero\", \"nan\" and \"uninit\"");
                return Err(PyValueError::new_err(message));
            }
        };
        handle(slf).change(slf.py(), |edit| {
            let chunks = edit.chunks()?;
            let nbytes = nitems.saturating_mul(chunks.typesize() as u64);
            chunks.fill(special, nbytes, chunksize)
        })
    }

    /// Writes data over that from item `first` on.
    fn write(slf: &Bound<'_, Self>, first: u64, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Source::of(data)?;
        handle(slf).change(slf.py(), |edit| edit.chunks()?.write_items(first, data.bytes(&mut Vec::new())))
    }

    /// The items from `first` on, `nbytes` bytes of them.
    fn items<'py>(slf: &Bound<'py, Self>, first: u64, nbytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        let handle = handle(slf);
        let read = |out: &mut [u8]| handle.with_reader(|reader| reader.chunks().items_into(first, out));
        new_bytes(slf.py(), nbytes, read)?.map_err(|error| handle.exception(&error))
    }

    /// The chunk `index` as it is stored.
    fn chunk<'py>(slf: &Bound<'py, Self>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let chunk = handle(slf).read_chunks(slf.py(), |chunks| chunks.chunk(index))?;
        Ok(PyBytes::new(slf.py(), &chunk))
    }

    /// The data of the chunk `index`.
    fn decompress<'py>(slf: &Bound<'py, Self>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let data = handle(slf).read_chunks(slf.py(), |chunks| chunks.decompress(index))?;
        Ok(PyBytes::new(slf.py(), &data))
    }
}

impl SuperChunk {
    pub(super) fn of(py: Python<'_>, handle: Handle) -> PyResult<Py<Self>> {
        Py::new(py, PyClassInitializer::from(handle).add_subclass(Self))
    }
}

fn handle<'a>(super_chunk: &'a Bound<'_, SuperChunk>) -> &'a Handle {
    super_chunk.as_super().get()
}
