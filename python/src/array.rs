//! Arrays: a snapshot that is read by any number of threads, and the edit that is open, if there is
//! one.

use crate::buffer::{Source, new_bytearray};
use crate::errors::{exception, of_file};
use crate::options::{Compression, Dtype, Shapes, array_options, threads};
use crate::select::Selections;
use blosc_oxide::{ArrayEdit, ArrayReader, Error, ErrorKind, Fill, Location, NdArray, OpenOptions, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The dtype, and the shapes of the array, of its chunks and of its blocks.
type Layout = (String, Vec<u64>, Vec<u64>, Vec<u64>);

/// Whether everything is good, and what is not: the number of a chunk, where it is one, and a
/// sentence.
type Findings = (bool, Vec<(Option<usize>, String)>);

/// An array on disk or in memory, for the class `NDArray` of the package.
#[pyclass(frozen, module = "blosc_oxide._native")]
pub(crate) struct Array {
    path: Option<PathBuf>,
    is_writable: bool,
    /// Only ever locked while the lock of the interpreter is released: whoever has it may wait for
    /// a disk.
    state: Mutex<State>,
}

/// What an array is at the moment. Reading takes a clone of the snapshot, and does not hold up
/// others.
struct State {
    snapshot: Option<NdArray>,
    edit: Option<ArrayEdit>,
}

#[pymethods]
impl Array {
    /// Opens the array at a path.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, is_writable: bool) -> PyResult<Self> {
        let options = OpenOptions::new().with_threads(threads(py, None, usize::MAX)?);
        let opened = py.detach(|| NdArray::open_with(path.clone(), &options));
        let snapshot = opened.map_err(|error| of_file(&error, Some(&path)))?;
        Ok(Self::new(Some(path), is_writable, snapshot))
    }

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
    ) -> PyResult<Self> {
        let options = array_options(dtype, &shape, &shapes, compression, threads(py, None, usize::MAX)?)?;
        let fill = value.map_or(Fill::Zeros, Fill::Value);
        let made = py.detach(|| NdArray::create(location(path.as_deref()), &options, &fill)?.commit());
        let snapshot = made.map_err(|error| of_file(&error, path.as_deref()))?;
        Ok(Self::new(path, true, snapshot))
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
    ) -> PyResult<Self> {
        let options = array_options(dtype, &shape, &shapes, compression, threads(py, None, usize::MAX)?)?;
        let source = Source::of(buffer)?;
        let made =
            py.detach(|| NdArray::create_with_data(location(path.as_deref()), &options, source.bytes(&mut Vec::new())));
        let snapshot = made.map_err(|error| of_file(&error, path.as_deref()))?;
        Ok(Self::new(path, true, snapshot))
    }

    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    #[getter]
    fn is_writable(&self) -> bool {
        self.is_writable
    }

    #[getter]
    fn is_editing(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().edit.is_some())
    }

    /// Type and shapes of array, chunks and blocks.
    fn layout(&self, py: Python<'_>) -> PyResult<Layout> {
        self.read(py, |array| {
            let geometry = array.geometry();
            let shapes = [geometry.shape(), geometry.chunks(), geometry.blocks()].map(<[u64]>::to_vec);
            let [shape, chunks, blocks] = shapes;
            Ok((array.dtype().to_owned(), shape, chunks, blocks))
        })
    }

    fn shape(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.read(py, |array| Ok(array.shape().to_vec()))
    }

    /// Sizes and settings, for `info`.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (nbytes, cbytes, nchunks, codec, level, pipeline) = self.read(py, |array| {
            let chunks = array.super_chunk();
            let pipeline = chunks.pipeline().to_string();
            Ok((chunks.nbytes(), chunks.cbytes(), chunks.nchunks(), chunks.codec().name(), chunks.level(), pipeline))
        })?;
        let facts = PyDict::new(py);
        facts.set_item("nbytes", nbytes)?;
        facts.set_item("cbytes", cbytes)?;
        facts.set_item("nchunks", nchunks)?;
        facts.set_item("codec", codec)?;
        facts.set_item("level", level)?;
        facts.set_item("filters", pipeline.split(", ").filter(|&name| name != "none").collect::<Vec<_>>())?;
        Ok(facts)
    }

    /// The items that selections of each axis take, in C order; `nbytes` is how many bytes these
    /// are.
    fn slice<'py>(&self, py: Python<'py>, selections: Selections, nbytes: usize) -> PyResult<Bound<'py, PyByteArray>> {
        let items = new_bytearray(py, nbytes, |out| self.with_reader(|array| array.slice_into(&selections.0, out)))?;
        items.map_err(|error| self.exception(&error))
    }

    /// The items at points, whose indices are little-endian numbers of 64 bits, one after the
    /// other.
    fn gather<'py>(&self, py: Python<'py>, points: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let points = Source::of(points)?;
        let items = self.read(py, |array| array.gather(&numbers(points.bytes(&mut Vec::new()))))?;
        Ok(PyBytes::new(py, &items))
    }

    /// Writes items over what selections take.
    fn write(&self, py: Python<'_>, selections: Selections, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = Source::of(items)?;
        self.change(py, |edit| edit.write(&selections.0, items.bytes(&mut Vec::new())))
    }

    /// Writes items over those at points.
    fn scatter(&self, py: Python<'_>, points: &Bound<'_, PyAny>, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let (points, items) = (Source::of(points)?, Source::of(items)?);
        self.change(py, |edit| edit.scatter(&numbers(points.bytes(&mut Vec::new())), items.bytes(&mut Vec::new())))
    }

    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        self.change(py, |edit| edit.resize(&shape))
    }

    fn append(&self, py: Python<'_>, axis: usize, items: &Bound<'_, PyAny>) -> PyResult<()> {
        let items = Source::of(items)?;
        self.change(py, |edit| edit.append(axis, items.bytes(&mut Vec::new())))
    }

    /// Begins an edit that lasts until `commit` or `abort`.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.check_writable()?;
        let begun = py.detach(|| {
            let mut state = self.lock();
            if state.edit.is_some() {
                return Err(Error::new(ErrorKind::InvalidArgument, "the array is being edited already"));
            }
            let edit = state.snapshot()?.edit()?;
            state.edit = Some(edit);
            Ok(())
        });
        begun.map_err(|error| self.exception(&error))
    }

    /// Publishes the edit.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let committed = py.detach(|| {
            let mut state = self.lock();
            let edit = state.edit.take().ok_or_else(not_edited)?;
            state.snapshot = Some(edit.commit()?);
            Ok(())
        });
        committed.map_err(|error: Error| self.exception(&error))
    }

    /// Takes everything back that the edit has changed.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().edit.take()));
    }

    /// Goes on to the newest state; returns whether it is another one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let refreshed = py.detach(|| {
            let mut state = self.lock();
            let mut snapshot = state.snapshot()?;
            let is_new = snapshot.refresh()?;
            state.snapshot = Some(snapshot);
            Ok(is_new)
        });
        refreshed.map_err(|error: Error| self.exception(&error))
    }

    /// Reclaims unused space.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.check_writable()?;
        let compacted = py.detach(|| {
            let mut state = self.lock();
            if state.edit.is_some() {
                return Err(Error::new(ErrorKind::InvalidArgument, "the array is being edited"));
            }
            let mut edit = state.snapshot()?.edit()?;
            state.snapshot = Some(edit.compact()?);
            Ok(())
        });
        compacted.map_err(|error| self.exception(&error))
    }

    /// How many chunks are damaged, and what is wrong with the first of them.
    fn verify(&self, py: Python<'_>) -> PyResult<Findings> {
        self.read(py, |array| {
            let found = array.verify()?;
            let damage = found.damage.iter().map(|damage| (damage.chunk, damage.error.to_string()));
            Ok((found.is_good(), damage.collect()))
        })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = self.lock();
            state.edit = None;
            state.snapshot = None;
        });
    }

    /// The names of metalayers: of variable length or not.
    fn meta_names(&self, py: Python<'_>, is_variable: bool) -> PyResult<Vec<String>> {
        self.read(py, |array| {
            let chunks = array.super_chunk();
            Ok(if is_variable {
                chunks.vlmetalayers().names().map(str::to_owned).collect()
            } else {
                chunks.metalayers().iter().map(|(name, _)| name.to_owned()).collect()
            })
        })
    }

    fn meta_get<'py>(&self, py: Python<'py>, name: &str, is_variable: bool) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let content = self.read(py, |array| {
            let chunks = array.super_chunk();
            if is_variable {
                return chunks.vlmetalayers().get(name);
            }
            Ok(chunks.metalayers().get(name).map(<[u8]>::to_vec))
        })?;
        Ok(content.map(|content| PyBytes::new(py, &content)))
    }

    /// Sets a metalayer, or takes it away.
    fn meta_set(&self, py: Python<'_>, name: &str, is_variable: bool, content: Option<Vec<u8>>) -> PyResult<()> {
        self.change(py, |edit| {
            let is_there = if is_variable {
                edit.super_chunk().vlmetalayers().contains(name)
            } else {
                edit.super_chunk().metalayers().get(name).is_some()
            };
            match (content, is_variable, is_there) {
                (Some(content), true, true) => edit.vlmetalayers_mut().update(name, &content),
                (Some(content), true, false) => edit.vlmetalayers_mut().add(name, &content),
                (Some(content), false, true) => edit.metalayers_mut().update(name, content),
                (Some(content), false, false) => edit.metalayers_mut().add(name, content),
                (None, true, _) => edit.vlmetalayers_mut().remove(name),
                (None, false, _) => edit.metalayers_mut().remove(name),
            }
        })
    }
}

impl Array {
    fn new(path: Option<PathBuf>, is_writable: bool, snapshot: NdArray) -> Self {
        Self { path, is_writable, state: Mutex::new(State { snapshot: Some(snapshot), edit: None }) }
    }

    /// The state, also after a panic elsewhere: what has changed half is in an edit, which is
    /// published by `commit` only.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `read` read the edit that is open, or else the snapshot. The lock of the interpreter is
    /// to be released.
    fn with_reader<T>(&self, read: impl FnOnce(&ArrayReader) -> Result<T>) -> Result<T> {
        let state = self.lock();
        if let Some(edit) = &state.edit {
            return read(edit);
        }
        let snapshot = state.snapshot()?;
        drop(state);
        read(&snapshot)
    }

    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&ArrayReader) -> Result<T> + Send) -> PyResult<T> {
        py.detach(|| self.with_reader(read)).map_err(|error| self.exception(&error))
    }

    /// Changes the edit that is open, or else the array itself: then the change is committed.
    fn change(&self, py: Python<'_>, change: impl FnOnce(&mut ArrayEdit) -> Result<()> + Send) -> PyResult<()> {
        self.check_writable()?;
        let changed = py.detach(|| {
            let mut state = self.lock();
            if let Some(edit) = &mut state.edit {
                return change(edit);
            }
            let mut edit = state.snapshot()?.edit()?;
            change(&mut edit)?;
            state.snapshot = Some(edit.commit()?);
            Ok(())
        });
        changed.map_err(|error| self.exception(&error))
    }

    fn check_writable(&self) -> PyResult<()> {
        let refusal = "the array is open for reading only: open it with mode \"r+\"";
        if self.is_writable { Ok(()) } else { Err(PyValueError::new_err(refusal)) }
    }

    fn exception(&self, error: &Error) -> PyErr {
        match &self.path {
            Some(path) => of_file(error, Some(path)),
            None => exception(error),
        }
    }
}

impl State {
    fn snapshot(&self) -> Result<NdArray> {
        self.snapshot.clone().ok_or_else(|| Error::new(ErrorKind::InvalidArgument, "the array is closed"))
    }
}

fn not_edited() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the array is not being edited")
}

fn location(path: Option<&Path>) -> Location {
    path.map_or(Location::Memory, Location::from)
}

/// Little-endian numbers of 64 bits.
fn numbers(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|&word| u64::from_le_bytes(word)).collect()
}
