//! Files and directories by their names.

use crate::code::{FAILURE, FILE_REMOVE, INVALID_PARAM, Outcome, flat};
use crate::context::PANICKED;
use crate::frame::plain_path;
use c_boundary::{guarded, memory};
use std::ffi::{c_char, c_int};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What a function does with a path.
///
/// # Safety
/// `path` is NULL or a string.
unsafe fn with(path: *const c_char, action: impl FnOnce(&Path) -> Outcome<()>) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the caller promises it.
        let path = unsafe { memory::text(path) }.ok_or(INVALID_PARAM);
        flat(path.and_then(|path| action(plain_path(path))).map(|()| 0))
    })
}

/// What is not there need not be removed.
fn unless_missing(result: std::io::Result<()>) -> Outcome<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(FILE_REMOVE),
        _ => Ok(()),
    }
}

/// Removes a directory and the files in it. Directories in it are left alone, and then it stays.
fn remove_directory(path: &Path) -> Outcome<()> {
    for entry in fs::read_dir(path).map_err(|_| FILE_REMOVE)? {
        let entry = entry.map_err(|_| FILE_REMOVE)?;
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unless_missing(fs::remove_file(entry.path()))?;
        }
    }
    unless_missing(fs::remove_dir(path))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_remove_dir(path: *const c_char) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { with(path, remove_directory) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_remove_urlpath(path: *const c_char) -> c_int {
    if path.is_null() {
        return 0;
    }
    // SAFETY: the contract of this function.
    unsafe {
        with(path, |path| if path.is_dir() { remove_directory(path) } else { unless_missing(fs::remove_file(path)) })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_rename_urlpath(old_urlpath: *mut c_char, new_path: *mut c_char) -> c_int {
    // SAFETY: the contract of this function.
    let Some(new) = (unsafe { memory::text(new_path) }) else { return INVALID_PARAM };
    // SAFETY: the contract of this function.
    unsafe { with(old_urlpath, |old| fs::rename(old, plain_path(new)).map_err(|_| FAILURE)) }
}
