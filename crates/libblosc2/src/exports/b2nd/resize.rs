//! Other shapes of arrays.

use super::{DONE, axes};
use crate::b2nd;
use crate::code::{INVALID_PARAM, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::structs::Array;
use c_boundary::{guarded, memory};
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_resize(array: *mut Array, new_shape: *const i64, start: *const i64) -> c_int {
    let resize = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array) }?;
        // SAFETY: the contract of this function.
        let new_shape = unsafe { axes(new_shape, array.axes()) }?.to_vec();
        // SAFETY: the contract of this function.
        let start = unsafe { axes(start, array.axes()) }.ok().filter(|_| !start.is_null());
        array.resize(&new_shape, start).map(|()| DONE)
    };
    guarded(PANICKED, || flat(resize()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_refresh(array: *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { b2nd::fields(array) }.and_then(Array::catch_up).map(c_int::from)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_insert(
    array: *mut Array,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
    insert_start: i64,
) -> c_int {
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { insert(array, (buffer, buffersize), axis, Some(insert_start)) }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_append(array: *mut Array, buffer: *const c_void, buffersize: i64, axis: i8) -> c_int {
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { insert(array, (buffer, buffersize), axis, None) }))
}

/// # Safety
/// `array` is NULL or an array, and `buffer` is NULL or has the length beside it.
unsafe fn insert(
    array: *mut Array,
    (buffer, buffersize): (*const c_void, i64),
    axis: i8,
    at: Option<i64>,
) -> Outcome<c_int> {
    // SAFETY: the caller promises it.
    let array = unsafe { b2nd::of_c(array) }?;
    let len = usize::try_from(buffersize).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises it.
    let data = unsafe { memory::input(buffer, len) }.ok_or(NULL_POINTER)?;
    let axis = usize::try_from(axis).ok().filter(|&axis| axis < array.axes()).ok_or(INVALID_PARAM)?;
    array.insert_items(data, axis, at).map(|()| DONE)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_delete(array: *mut Array, axis: i8, delete_start: i64, delete_len: i64) -> c_int {
    let delete = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array) }?;
        let axis = usize::try_from(axis).ok().filter(|&axis| axis < array.axes()).ok_or(INVALID_PARAM)?;
        let mut shape = array.shapes().shape;
        let is_inside = delete_start >= 0 && delete_len >= 0 && delete_len <= shape[axis] - delete_start;
        if !is_inside {
            return Err(INVALID_PARAM);
        }
        let mut start = shape.clone();
        start[axis] = delete_start;
        shape[axis] -= delete_len;
        array.resize(&shape, Some(&start)).map(|()| DONE)
    };
    guarded(PANICKED, || flat(delete()))
}
