//! What is opened or made: a snapshot that is read by any number of threads, and the edit that is
//! open, if there is one.

pub(crate) mod array;
mod content;
pub(crate) mod metalayers;
pub(crate) mod process;
mod select;
pub(crate) mod super_chunk;
pub(crate) mod writer;

use crate::errors::{exception, of_file};
use crate::options::threads;
use array::Array;
use blosc_oxide::{Error, ErrorKind, Frame, Location, OpenOptions, Result, SuperChunk as Chunks};
use content::{Edit, Reader, Snapshot};
use process::OfProcess;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use super_chunk::SuperChunk;

/// Whether everything is good, and what is not: the number of a chunk, where it is one, and a
/// sentence.
type Findings = (bool, Vec<(Option<usize>, String)>);

/// A frame on disk or in memory: what the classes of arrays and super-chunks have in common.
#[pyclass(frozen, subclass, module = "blosc_oxide._native")]
pub(crate) struct Handle {
    path: Option<PathBuf>,
    is_writable: bool,
    /// How it is opened again, in a process that has been forked.
    opening: OpenOptions,
    /// Only ever locked while the lock of the interpreter is released: whoever has it may wait for
    /// a disk.
    state: Mutex<State>,
}

/// What a frame is at the moment. Reading takes a clone of the snapshot, and does not hold up
/// others.
struct State {
    snapshot: Option<OfProcess<Snapshot>>,
    edit: Option<OfProcess<Edit>>,
}

/// Opens what is at a path, as an array if it is one.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: PathBuf, is_writable: bool, nthreads: Option<i64>) -> PyResult<Py<PyAny>> {
    let opening = OpenOptions::new().with_threads(threads(py, nthreads, usize::MAX)?);
    let opened = py.detach(|| Snapshot::of(Frame::open_with(path.clone(), &opening)?));
    let snapshot = opened.map_err(|error| of_file(&error, Some(&path)))?;
    let is_array = matches!(snapshot, Snapshot::Array(_));
    let handle = Handle { opening, ..Handle::new(Some(path), is_writable, snapshot) };
    Ok(if is_array { Array::of(py, handle)?.into_any() } else { SuperChunk::of(py, handle)?.into_any() })
}

#[pymethods]
impl Handle {
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
        py.detach(|| self.lock().is_ok_and(|state| state.edit.is_some()))
    }

    /// Sizes and settings, for `info`.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = self.read_chunks(py, |chunks| Ok(Facts::of(chunks)))?;
        facts.to_dict(py)
    }

    /// Begins an edit that lasts until `commit` or `abort`.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.check_writable()?;
        let begun = py.detach(|| {
            let mut state = self.lock()?;
            if state.edit.is_some() {
                return Err(Error::new(ErrorKind::InvalidArgument, "an edit is under way already"));
            }
            let edit = state.snapshot()?.edit()?;
            state.edit = Some(OfProcess::new(edit));
            Ok(())
        });
        begun.map_err(|error| self.exception(&error))
    }

    /// Publishes all that the edit has changed.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let committed = py.detach(|| {
            let mut state = self.lock()?;
            let edit = state.edit.take().and_then(OfProcess::into_inner).ok_or_else(not_edited)?;
            state.snapshot = Some(OfProcess::new(edit.commit()?));
            Ok(())
        });
        committed.map_err(|error: Error| self.exception(&error))
    }

    /// Takes everything back that the edit has changed.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| self.lock().map(|mut state| state.edit = None).unwrap_or_default());
    }

    /// Goes on to the newest state; returns whether it is another one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let refreshed = py.detach(|| {
            let mut state = self.lock()?;
            let mut snapshot = state.snapshot()?;
            let is_new = snapshot.refresh()?;
            state.snapshot = Some(OfProcess::new(snapshot));
            Ok(is_new)
        });
        refreshed.map_err(|error: Error| self.exception(&error))
    }

    /// Reclaims unused space.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.check_writable()?;
        let compacted = py.detach(|| {
            let mut state = self.lock()?;
            if state.edit.is_some() {
                return Err(Error::new(ErrorKind::InvalidArgument, "an edit is under way: end it first"));
            }
            let mut edit = state.snapshot()?.edit()?;
            state.snapshot = Some(OfProcess::new(edit.compact()?));
            Ok(())
        });
        compacted.map_err(|error| self.exception(&error))
    }

    /// Decodes everything, and tells what is damaged.
    fn verify(&self, py: Python<'_>) -> PyResult<Findings> {
        self.read_chunks(py, |chunks| {
            let found = chunks.verify()?;
            let damage = found.damage.iter().map(|damage| (damage.chunk, damage.error.to_string()));
            Ok((found.is_good(), damage.collect()))
        })
    }

    /// Forgets it; an edit that is under way is taken back.
    fn close(&self, py: Python<'_>) {
        py.detach(|| *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State { snapshot: None, edit: None });
    }
}

impl Handle {
    fn new(path: Option<PathBuf>, is_writable: bool, snapshot: Snapshot) -> Self {
        let state = State { snapshot: Some(OfProcess::new(snapshot)), edit: None };
        Self { path, is_writable, opening: OpenOptions::new(), state: Mutex::new(state) }
    }

    /// The state, also after a panic elsewhere: what has changed half is in an edit, which is
    /// published by `commit` only. In a process that has been forked, the file is opened again:
    /// locks of the parent are shared by what it has opened, and the edit is the parent's.
    fn lock(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_foreign = state.snapshot.as_ref().is_some_and(|snapshot| !snapshot.is_of_this_process());
        if let (true, Some(path)) = (is_foreign, &self.path) {
            state.edit = None;
            let opened = Frame::open_with(path.clone(), &self.opening).and_then(Snapshot::of)?;
            state.snapshot = Some(OfProcess::new(opened));
        }
        Ok(state)
    }

    /// Lets `read` read the edit that is under way, or else the snapshot. The lock of the
    /// interpreter is to be released.
    fn with_reader<T>(&self, read: impl FnOnce(Reader<'_>) -> Result<T>) -> Result<T> {
        let state = self.lock()?;
        if let Some(edit) = state.edit.as_ref().and_then(OfProcess::get) {
            return read(edit.reader());
        }
        let snapshot = state.snapshot()?;
        drop(state);
        read(snapshot.reader())
    }

    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(Reader<'_>) -> Result<T> + Send) -> PyResult<T> {
        py.detach(|| self.with_reader(read)).map_err(|error| self.exception(&error))
    }

    fn read_chunks<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&Chunks) -> Result<T> + Send) -> PyResult<T> {
        self.read(py, |reader| read(reader.chunks()))
    }

    /// Changes the edit that is under way, or else the frame itself: then the change is committed.
    fn change<T: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut Edit) -> Result<T> + Send) -> PyResult<T> {
        self.check_writable()?;
        let changed = py.detach(|| {
            let mut state = self.lock()?;
            if let Some(edit) = state.edit.as_mut().and_then(OfProcess::get_mut) {
                return change(edit);
            }
            let mut edit = state.snapshot()?.edit()?;
            let done = change(&mut edit)?;
            state.snapshot = Some(OfProcess::new(edit.commit()?));
            Ok(done)
        });
        changed.map_err(|error| self.exception(&error))
    }

    fn check_writable(&self) -> PyResult<()> {
        let refusal = "it is open for reading only: open it with mode \"r+\"";
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
    fn snapshot(&self) -> Result<Snapshot> {
        let snapshot = self.snapshot.as_ref().and_then(OfProcess::get).cloned();
        snapshot.ok_or_else(|| Error::new(ErrorKind::InvalidArgument, "it is closed"))
    }
}

fn not_edited() -> Error {
    Error::new(ErrorKind::InvalidArgument, "no edit is under way")
}

fn location(path: Option<&Path>) -> Location {
    path.map_or(Location::Memory, Location::from)
}

/// What `info` tells of chunks.
struct Facts {
    sizes: [(&'static str, u64); 5],
    chunksize: Option<usize>,
    codec: Option<&'static str>,
    level: u8,
    filters: String,
}

impl Facts {
    fn of(chunks: &Chunks) -> Self {
        let sizes = [
            ("nbytes", chunks.nbytes()),
            ("cbytes", chunks.cbytes()),
            ("nchunks", chunks.nchunks() as u64),
            ("nitems", chunks.nitems()),
            ("typesize", chunks.typesize() as u64),
        ];
        let (codec, level) = (chunks.codec().name(), chunks.level());
        Self { sizes, chunksize: chunks.chunksize(), codec, level, filters: chunks.pipeline().to_string() }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        for (name, size) in self.sizes {
            facts.set_item(name, size)?;
        }
        facts.set_item("chunksize", self.chunksize)?;
        facts.set_item("codec", self.codec)?;
        facts.set_item("level", self.level)?;
        let filters: Vec<&str> = self.filters.split(", ").filter(|&name| name != "none").collect();
        facts.set_item("filters", filters)?;
        Ok(facts)
    }
}
