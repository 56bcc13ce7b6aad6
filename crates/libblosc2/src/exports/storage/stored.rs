//! Opening and writing stored super-chunks.

use crate::code::{FAILURE, FILE_OPEN, FILE_WRITE, INVALID_PARAM, MEMORY_ALLOC, Outcome, flat};
use crate::context::PANICKED;
use crate::defaults;
use crate::frame::plain_path;
use crate::schunk::{self, disk};
use crate::structs::{Io, Schunk};
use c_boundary::{guarded, memory};
use std::ffi::{CStr, c_char};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::ptr::null_mut;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open(urlpath: *const c_char) -> *mut Schunk {
    // SAFETY: the contract of this function.
    unsafe { open(urlpath, 0, &defaults::IO) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open_offset(urlpath: *const c_char, offset: i64) -> *mut Schunk {
    // SAFETY: the contract of this function.
    unsafe { open(urlpath, offset, &defaults::IO) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open_udio(urlpath: *const c_char, udio: *const Io) -> *mut Schunk {
    // SAFETY: the contract of this function.
    unsafe { open(urlpath, 0, udio) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open_offset_udio(
    urlpath: *const c_char,
    offset: i64,
    udio: *const Io,
) -> *mut Schunk {
    // SAFETY: the contract of this function.
    unsafe { open(urlpath, offset, udio) }
}

/// # Safety
/// `urlpath` is NULL or a string, `udio` is NULL or a kind of input and output with its parameters.
pub(super) unsafe fn open(urlpath: *const c_char, offset: i64, udio: *const Io) -> *mut Schunk {
    guarded(null_mut(), || {
        // SAFETY: the caller promises it.
        let (Some(path), Some(&io)) = (unsafe { memory::text(urlpath) }, unsafe { memory::shared(udio) }) else {
            return null_mut();
        };
        // SAFETY: the caller promises it.
        unsafe { disk::open(path, offset, io) }.unwrap_or(null_mut())
    })
}

/// What a function does with a super-chunk and a path.
///
/// # Safety
/// `schunk` is NULL or a super-chunk, `urlpath` is NULL or a string.
unsafe fn with(
    schunk: *mut Schunk,
    urlpath: *const c_char,
    action: impl FnOnce(&mut Schunk, &Path) -> Outcome<i64>,
) -> i64 {
    // SAFETY: the caller promises it.
    let schunk = unsafe { schunk::of_c(schunk) };
    // SAFETY: the caller promises it.
    let path: Option<&CStr> = unsafe { memory::text(urlpath) };
    guarded(PANICKED.into(), || {
        let path = path.ok_or(INVALID_PARAM).map(plain_path);
        flat(schunk.and_then(|schunk| action(schunk, path?)))
    })
}

/// Replaces a file as a whole: whoever opens it finds what was there before, or all of this.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = Path::new(&name);
    let written = fs::write(new, bytes).and_then(|()| fs::rename(new, path));
    if written.is_err() {
        // Why it failed is what the caller is told.
        let _ = fs::remove_file(new);
    }
    written
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_to_file(schunk: *mut Schunk, urlpath: *const c_char) -> i64 {
    let write = |schunk: &mut Schunk, path: &Path| {
        let bytes = schunk.frame_bytes()?;
        replace(path, &bytes).map_err(|_| FILE_WRITE)?;
        i64::try_from(bytes.len()).map_err(|_| FAILURE)
    };
    // SAFETY: the contract of this function.
    unsafe { with(schunk, urlpath, write) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn blosc2_schunk_append_file(schunk: *mut Schunk, urlpath: *const c_char) -> i64 {
    let append = |schunk: &mut Schunk, path: &Path| {
        let bytes = schunk.frame_bytes()?;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).map_err(|_| FILE_OPEN)?;
        let offset = file.seek(SeekFrom::End(0)).map_err(|_| FILE_WRITE)?;
        file.write_all(&bytes).map_err(|_| {
            // A frame that is there in part is of no use.
            let _ = file.set_len(offset);
            FILE_WRITE
        })?;
        i64::try_from(offset).map_err(|_| FAILURE)
    };
    // SAFETY: the contract of this function.
    unsafe { with(schunk, urlpath, append) }
}

/// Numbers in memory that C frees.
fn numbers(numbers: &[i64]) -> Outcome<*mut i64> {
    // SAFETY: the numbers are so many bytes.
    let bytes = unsafe { memory::input(numbers.as_ptr().cast(), size_of_val(numbers)) }.unwrap_or_default();
    let copy: *mut i64 = memory::bytes_for_c(bytes).cast();
    if copy.is_null() { Err(MEMORY_ALLOC) } else { Ok(copy) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_frame_get_offsets(schunk: *mut Schunk) -> *mut i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    guarded(null_mut(), || schunk.and_then(|schunk| numbers(&schunk.offsets()?)).unwrap_or(null_mut()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_get_slice_nchunks(
    schunk: *mut Schunk,
    start: *mut i64,
    stop: *mut i64,
    chunks_idx: *mut *mut i64,
) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    guarded(PANICKED.into(), || {
        flat(schunk.and_then(|schunk| {
            let axes = schunk.axes()?;
            // SAFETY: the contract of this function: a number for each axis.
            let start = unsafe { memory::values(start.cast_const(), axes) }.ok_or(INVALID_PARAM)?;
            // SAFETY: the contract of this function: a number for each axis.
            let stop = unsafe { memory::values(stop.cast_const(), axes) }.ok_or(INVALID_PARAM)?;
            let found = schunk.chunks_of(start, stop)?;
            // SAFETY: the contract of this function.
            unsafe { memory::store(chunks_idx, numbers(&found)?) };
            i64::try_from(found.len()).map_err(|_| FAILURE)
        }))
    })
}
