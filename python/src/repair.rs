//! Saving what can be saved of a damaged frame or array.

use crate::errors::of_file;
use crate::options::threads;
use blosc_oxide::repair::RepairReport;
use blosc_oxide::{Error, ErrorKind, Frame, FrameLayout, FrameOptions, Options};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Writes what is left of the frame at `path` to `target`, and tells what that is.
#[pyfunction]
pub(crate) fn repair(py: Python<'_>, path: PathBuf, target: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let options = FrameOptions::new(Options::new(1).with_threads(threads(py, None, usize::MAX)?));
    let found = py.detach(|| Frame::repair_path(&path, options)).map_err(|error| of_file(&error, Some(&path)))?;
    let report = found.report();
    if report.nchunks == 0 {
        let error = Error::new(ErrorKind::Corrupt, "no chunk was found in it: nothing can be saved");
        return Err(of_file(&error, Some(&path)));
    }
    let layout = if path.is_dir() { FrameLayout::Sparse } else { FrameLayout::Contiguous };
    let written = py.detach(|| {
        let mut edit = Frame::create(target.clone(), found.frame_options().with_layout(layout))?;
        found.write_to(&mut edit)?;
        edit.commit().map(drop)
    });
    written.map_err(|error: Error| of_file(&error, Some(&target)))?;
    to_dict(py, report)
}

fn to_dict<'py>(py: Python<'py>, report: &RepairReport) -> PyResult<Bound<'py, PyDict>> {
    let uncommitted = report.loose.iter().filter(|chunk| chunk.is_uncommitted).count();
    let texts = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>();
    let dict = PyDict::new(py);
    dict.set_item("nchunks", report.nchunks)?;
    dict.set_item("found_by", report.by.to_string())?;
    dict.set_item("checksums", report.checksums)?;
    dict.set_item("damaged_chunks", report.damaged_chunks)?;
    dict.set_item("damaged_metalayers", report.damaged_metalayers)?;
    dict.set_item("damage", texts(&mut report.damage.iter().map(|damage| damage.error.to_string())))?;
    dict.set_item("unexamined", report.unexamined)?;
    dict.set_item("uncommitted", uncommitted)?;
    dict.set_item("replaced", report.loose.len() - uncommitted)?;
    dict.set_item("unrecognised", report.unrecognised)?;
    dict.set_item("unknown", texts(&mut report.unknown.iter().map(ToString::to_string)))?;
    dict.set_item("is_whole", report.is_whole())?;
    Ok(dict)
}
