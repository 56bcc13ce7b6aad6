//! Pointers from C become slices and references here, and nowhere else. NULL is never followed.

use std::ffi::{CStr, c_char, c_void};

/// `len` bytes to be read; `None` if there cannot be so many.
///
/// # Safety
/// `data` is NULL, or `len` bytes from there can be read, and are not written to as long as the
/// result is used.
#[must_use]
pub unsafe fn input<'a>(data: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if data.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: `data` is not NULL and `len` not too large, as compared above; the caller promises
    // the rest.
    Some(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}

/// `len` bytes to be written; `None` if there cannot be so many. They may be fresh memory: nothing
/// reads them before it has written them.
///
/// # Safety
/// `data` is NULL, or `len` bytes from there can be written, and are used by nobody else as long as
/// the result is.
#[must_use]
pub unsafe fn output<'a>(data: *mut c_void, len: usize) -> Option<&'a mut [u8]> {
    if len == 0 {
        return Some(&mut []);
    }
    if data.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: `data` is not NULL and `len` not too large, as compared above; the caller promises
    // the rest.
    Some(unsafe { std::slice::from_raw_parts_mut(data.cast(), len) })
}

/// The `N` bytes that a chunk starts with.
///
/// # Safety
/// `chunk` is NULL, or `N` bytes from there can be read.
#[must_use]
pub unsafe fn start<const N: usize>(chunk: *const c_void) -> Option<[u8; N]> {
    if chunk.is_null() {
        return None;
    }
    // SAFETY: it is not NULL; the caller promises the rest, and bytes need no alignment.
    Some(unsafe { chunk.cast::<[u8; N]>().read() })
}

/// What a pointer points to, to be read and written; `None` if it is NULL or not aligned.
///
/// # Safety
/// `place` is NULL, or points to a `T` that nobody else uses as long as the result is used.
#[must_use]
pub unsafe fn exclusive<'a, T>(place: *mut T) -> Option<&'a mut T> {
    if !place.is_aligned() {
        return None;
    }
    // SAFETY: it is aligned; the caller promises the rest.
    unsafe { place.as_mut() }
}

/// What a pointer points to, to be read; `None` if it is NULL or not aligned.
///
/// # Safety
/// `place` is NULL, or points to a `T` that nobody writes to as long as the result is used.
#[must_use]
pub unsafe fn shared<'a, T>(place: *const T) -> Option<&'a T> {
    if !place.is_aligned() {
        return None;
    }
    // SAFETY: it is aligned; the caller promises the rest.
    unsafe { place.as_ref() }
}

/// `len` values to be read; `None` if there cannot be so many.
///
/// # Safety
/// `data` is NULL, or `len` values from there can be read, and are not written to as long as the
/// result is used.
#[must_use]
pub unsafe fn values<'a, T: Copy>(data: *const T, len: usize) -> Option<&'a [T]> {
    if len == 0 {
        return Some(&[]);
    }
    if data.is_null()
        || !data.is_aligned()
        || len.checked_mul(size_of::<T>()).is_none_or(|size| size > isize::MAX.unsigned_abs())
    {
        return None;
    }
    // SAFETY: `data` is aligned and not NULL and `len` not too large, as compared above; the caller
    // promises the rest.
    Some(unsafe { std::slice::from_raw_parts(data, len) })
}

/// `len` values to be written; `None` if there cannot be so many.
///
/// # Safety
/// `data` is NULL, or `len` values from there can be written, and are used by nobody else as long
/// as the result is.
#[must_use]
pub unsafe fn values_mut<'a, T: Copy>(data: *mut T, len: usize) -> Option<&'a mut [T]> {
    if len == 0 {
        return Some(&mut []);
    }
    if data.is_null()
        || !data.is_aligned()
        || len.checked_mul(size_of::<T>()).is_none_or(|size| size > isize::MAX.unsigned_abs())
    {
        return None;
    }
    // SAFETY: `data` is aligned and not NULL and `len` not too large, as compared above; the caller
    // promises the rest.
    Some(unsafe { std::slice::from_raw_parts_mut(data, len) })
}

/// A copy of `bytes` in memory that C frees with `free`; NULL if there is no memory.
#[must_use]
pub fn bytes_for_c(bytes: &[u8]) -> *mut u8 {
    // SAFETY: asks for memory of any size; none is asked for without a byte, for which NULL could
    // come back.
    let copy: *mut u8 = unsafe { libc::malloc(bytes.len().max(1)) }.cast();
    if !copy.is_null() {
        // SAFETY: there are so many bytes in both, and the new memory overlaps with nothing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    }
    copy
}

/// Frees memory that [`bytes_for_c`], [`copy_for_c`] or a C program has taken with `malloc`.
///
/// # Safety
/// `memory` is NULL or such memory, and is not used any more.
pub unsafe fn free<T>(memory: *mut T) {
    // SAFETY: the caller promises it.
    unsafe { libc::free(memory.cast()) };
}

/// A string that ends with a zero.
///
/// # Safety
/// `text` is NULL or such a string, which is not written to as long as the result is used.
#[must_use]
pub unsafe fn text<'a>(text: *const c_char) -> Option<&'a CStr> {
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
pub unsafe fn store<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not NULL; the caller promises the rest.
        unsafe { place.write(value) };
    }
}

/// A copy of a string that whoever gets it frees with `free`; NULL if there is no memory.
#[must_use]
pub fn copy_for_c(text: &CStr) -> *mut c_char {
    // SAFETY: a `CStr` ends with a zero.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// Whether two pieces of memory have a byte in common.
#[must_use]
pub fn overlap(a: *const c_void, a_len: usize, b: *const c_void, b_len: usize) -> bool {
    let (a, b) = (a.addr(), b.addr());
    a_len > 0 && b_len > 0 && a < b.saturating_add(b_len) && b < a.saturating_add(a_len)
}
