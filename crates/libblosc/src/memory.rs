//! Pointers from C become slices and references here, and nowhere else. NULL is never followed.

use crate::header::{self, Header};
use std::ffi::{CStr, c_char, c_void};

/// `len` bytes to be read; `None` if there cannot be so many.
///
/// # Safety
/// `data` is NULL, or `len` bytes from there can be read, and are not written to as long as the result is used.
pub(crate) unsafe fn input<'a>(data: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if data.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: `data` is not NULL and `len` not too large, as compared above; the caller promises the rest.
    Some(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}

/// `len` bytes to be written; `None` if there cannot be so many. They may be fresh memory: nothing reads them before it has
/// written them.
///
/// # Safety
/// `data` is NULL, or `len` bytes from there can be written, and are used by nobody else as long as the result is.
pub(crate) unsafe fn output<'a>(data: *mut c_void, len: usize) -> Option<&'a mut [u8]> {
    if len == 0 {
        return Some(&mut []);
    }
    if data.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: `data` is not NULL and `len` not too large, as compared above; the caller promises the rest.
    Some(unsafe { std::slice::from_raw_parts_mut(data.cast(), len) })
}

/// The header that a chunk starts with.
///
/// # Safety
/// `chunk` is NULL, or 16 bytes from there can be read.
pub(crate) unsafe fn header(chunk: *const c_void) -> Option<Header> {
    if chunk.is_null() {
        return None;
    }
    // SAFETY: it is not NULL; the caller promises the rest, and bytes need no alignment.
    let bytes = unsafe { chunk.cast::<[u8; header::LEN]>().read() };
    Some(Header::new(&bytes))
}

/// A string that ends with a zero.
///
/// # Safety
/// `text` is NULL or such a string, which is not written to as long as the result is used.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is not NULL; the caller promises the rest.
    Some(unsafe { CStr::from_ptr(text) })
}

/// Stores a result where C wants it, if it does.
///
/// # Safety
/// `place` is NULL, or can be written to.
pub(crate) unsafe fn store<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not NULL; the caller promises the rest.
        unsafe { place.write(value) };
    }
}

/// A copy of a string that whoever gets it frees with `free`; NULL if there is no memory.
pub(crate) fn copy_for_c(text: &CStr) -> *mut c_char {
    // SAFETY: a `CStr` ends with a zero.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// Whether two pieces of memory have a byte in common.
pub(crate) fn overlap(a: *const c_void, a_len: usize, b: *const c_void, b_len: usize) -> bool {
    let (a, b) = (a.addr(), b.addr());
    a_len > 0 && b_len > 0 && a < b.saturating_add(b_len) && b < a.saturating_add(a_len)
}
