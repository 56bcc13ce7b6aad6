//! Files by the functions of stdio, for programs that call them themselves.

use crate::code::{FAILURE, FILE_TRUNCATE};
use crate::structs::StdioFile;
use c_boundary::memory;
use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr::null_mut;

/// The open file, where there is one.
///
/// # Safety
/// `stream` is NULL, or comes from [`open`] and is not closed yet.
unsafe fn file(stream: *mut c_void) -> Option<*mut libc::FILE> {
    // SAFETY: the caller promises it.
    unsafe { memory::shared(stream.cast::<StdioFile>().cast_const()) }
        .map(|stream| stream.file)
        .filter(|file| !file.is_null())
}

/// # Safety
/// The contract of `blosc2_stdio_open`: both are strings.
pub(crate) unsafe extern "C" fn open(urlpath: *const c_char, mode: *const c_char, _params: *mut c_void) -> *mut c_void {
    if urlpath.is_null() || mode.is_null() {
        return null_mut();
    }
    // SAFETY: the caller promises it.
    let file = unsafe { libc::fopen(urlpath, mode) };
    if file.is_null() {
        return null_mut();
    }
    Box::into_raw(Box::new(StdioFile { file })).cast()
}

/// # Safety
/// `stream` is NULL, or comes from [`open`] and is not closed yet.
pub(crate) unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
    // SAFETY: the caller promises it.
    let Some(file) = (unsafe { file(stream) }) else { return FAILURE };
    // SAFETY: it is open.
    let code = unsafe { libc::fclose(file) };
    // SAFETY: it was made of a box in `open`.
    drop(unsafe { Box::from_raw(stream.cast::<StdioFile>()) });
    code
}

/// # Safety
/// As for [`close`].
pub(crate) unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
    // SAFETY: the caller promises it.
    let Some(file) = (unsafe { file(stream) }) else { return FAILURE.into() };
    // SAFETY: it is open.
    if unsafe { libc::fseek(file, 0, libc::SEEK_END) } != 0 {
        return FAILURE.into();
    }
    // SAFETY: it is open.
    unsafe { libc::ftell(file) }
}

/// Goes to a position; the file, and the sizes as stdio takes them.
///
/// # Safety
/// As for [`close`].
unsafe fn at(stream: *mut c_void, position: i64, size: i64, count: i64) -> Option<(*mut libc::FILE, usize, usize)> {
    // SAFETY: the caller promises it.
    let file = unsafe { file(stream) }?;
    let (size, count) = (usize::try_from(size).ok()?, usize::try_from(count).ok()?);
    // SAFETY: it is open.
    let code = unsafe { libc::fseek(file, c_long::try_from(position).ok()?, libc::SEEK_SET) };
    (code == 0).then_some((file, size, count))
}

/// # Safety
/// As for [`close`]; `bytes` has as many items of the size.
pub(crate) unsafe extern "C" fn write(
    bytes: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: the caller promises it.
    let Some((file, size, count)) = (unsafe { at(stream, position, size, nitems) }) else { return 0 };
    // SAFETY: the caller promises it, and the file is open.
    let written = unsafe { libc::fwrite(bytes, size, count, file) };
    i64::try_from(written).unwrap_or_default()
}

/// # Safety
/// As for [`close`]; `*place` has room for as many items of the size.
pub(crate) unsafe extern "C" fn read(
    place: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: the caller promises it.
    let Some(&to) = (unsafe { memory::shared(place.cast_const()) }) else { return 0 };
    // SAFETY: the caller promises it.
    let Some((file, size, count)) = (unsafe { at(stream, position, size, nitems) }) else { return 0 };
    // SAFETY: the caller promises it, and the file is open.
    let read = unsafe { libc::fread(to, size, count, file) };
    i64::try_from(read).unwrap_or_default()
}

/// # Safety
/// As for [`close`].
pub(crate) unsafe extern "C" fn truncate(stream: *mut c_void, size: i64) -> c_int {
    // SAFETY: the caller promises it.
    let Some(file) = (unsafe { file(stream) }) else { return FILE_TRUNCATE };
    // SAFETY: it is open.
    if unsafe { libc::fflush(file) } != 0 {
        return FILE_TRUNCATE;
    }
    // SAFETY: it is open.
    let number = unsafe { libc::fileno(file) };
    // SAFETY: it is open.
    unsafe { libc::ftruncate(number, size) }
}

/// There is nothing to be freed.
///
/// # Safety
/// Any pointer will do.
pub(crate) unsafe extern "C" fn destroy(_params: *mut c_void) -> c_int {
    0
}
