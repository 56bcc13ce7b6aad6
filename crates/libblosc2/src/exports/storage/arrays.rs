//! Opening and writing stored arrays.

use super::stored;
use crate::b2nd;
use crate::code::{FAILURE, FILE_OPEN, NULL_POINTER, flat};
use crate::context::PANICKED;
use crate::defaults;
use crate::schunk;
use crate::structs::{Array, Schunk, Storage};
use c_boundary::{guarded, memory};
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_open(urlpath: *const c_char, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { b2nd_open_offset(urlpath, array, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_open_offset(urlpath: *const c_char, array: *mut *mut Array, offset: i64) -> c_int {
    if array.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the contract of this function.
    let opened = unsafe { stored::open(urlpath, offset, &defaults::IO) };
    if opened.is_null() {
        return FILE_OPEN;
    }
    guarded(PANICKED, || match b2nd::of_schunk(opened) {
        Ok(made) => {
            // SAFETY: the contract of this function.
            unsafe { memory::store(array, Box::into_raw(made)) };
            0
        }
        Err(code) => {
            // SAFETY: it was opened above, and nobody has seen it.
            unsafe { schunk::free(opened) };
            code
        }
    })
}

/// The super-chunk of an array.
///
/// # Safety
/// `array` is NULL or an array.
unsafe fn schunk_of(array: *const Array) -> *mut Schunk {
    // SAFETY: the caller promises it.
    unsafe { memory::shared(array) }.map_or(null_mut(), |array| array.sc)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_save(array: *const Array, urlpath: *mut c_char) -> c_int {
    // SAFETY: the contract of this function.
    let source = unsafe { schunk_of(array) };
    // SAFETY: it is NULL, or the super-chunk of an array.
    let source = unsafe { schunk::of_c(source) };
    guarded(PANICKED, || {
        flat(source.and_then(|source| {
            // SAFETY: a super-chunk has a storage, or it is NULL.
            let own = unsafe { memory::shared(source.storage.cast_const()) }.ok_or(FAILURE)?;
            if urlpath.is_null() {
                return Err(NULL_POINTER);
            }
            let storage = Storage { contiguous: own.contiguous, urlpath, ..defaults::STORAGE };
            // SAFETY: the contract of this function.
            let saved = unsafe { source.copy(&raw const storage) }?;
            // SAFETY: it was made above, and nobody has seen it.
            unsafe { schunk::free(saved) };
            Ok(0)
        }))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_save_append(array: *const Array, urlpath: *const c_char) -> i64 {
    // SAFETY: the contract of this function.
    let source = unsafe { schunk_of(array) };
    // SAFETY: it is NULL, or the super-chunk of an array; the path is that of this function.
    unsafe { stored::blosc2_schunk_append_file(source, urlpath) }
}
