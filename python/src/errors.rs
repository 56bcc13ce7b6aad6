//! Errors of the library as the exceptions that Python programs expect.

use blosc_oxide::{Error, ErrorKind};
use pyo3::exceptions::{PyMemoryError, PyNotImplementedError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::path::Path;

/// The exception for an error about data in memory.
pub(crate) fn exception(error: &Error) -> PyErr {
    of_file(error, None)
}

/// The exception for an error about a file; an `OSError` has its name.
pub(crate) fn of_file(error: &Error, path: Option<&Path>) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::ChecksumMismatch => data_error(message),
        ErrorKind::Unsupported => PyNotImplementedError::new_err(message),
        ErrorKind::LimitExceeded => PyMemoryError::new_err(message),
        ErrorKind::Io => os_error(errno(error), "EIO", message, path),
        ErrorKind::Poisoned => os_error(None, "EIO", message, path),
        ErrorKind::Locked => os_error(None, "EAGAIN", message, path),
        ErrorKind::Conflict => os_error(None, "ESTALE", message, path),
        _ => PyValueError::new_err(message),
    }
}

/// An `OSError`, which becomes one of its subclasses by its number, as `FileNotFoundError`. Where
/// the operating system has given no number, it is the one with this name.
fn os_error(errno: Option<i32>, name: &str, message: String, path: Option<&Path>) -> PyErr {
    let named = || Python::attach(|py| py.import("errno")?.getattr(name)?.extract());
    match (errno.map_or_else(named, Ok), path) {
        (Ok(errno), Some(path)) => PyOSError::new_err((errno, message, path.as_os_str().to_owned())),
        (Ok(errno), None) => PyOSError::new_err((errno, message)),
        (Err(error), _) => error,
    }
}

/// The number that the operating system gave the error, if it comes from there.
fn errno(error: &Error) -> Option<i32> {
    error.io_error()?.raw_os_error()
}

/// `blosc_oxide.DataError`, which is written in Python because it has two bases.
fn data_error(message: String) -> PyErr {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Python::attach(|py| match TYPE.import(py, "blosc_oxide.errors", "DataError") {
        Ok(class) => PyErr::from_type(class.clone(), message),
        Err(error) => error,
    })
}
