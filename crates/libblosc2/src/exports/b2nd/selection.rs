//! Items of arrays by their positions: a list for each axis, or one by one.

use super::{DONE, axes};
use crate::b2nd;
use crate::code::{INVALID_PARAM, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::structs::Array;
use c_boundary::{guarded, memory};
use std::ffi::{c_int, c_void};

/// The lists of a selection, one for each axis.
///
/// # Safety
/// Both are NULL or have an entry for each axis, and each list is as long as is said.
unsafe fn lists<'a>(selection: *mut *mut i64, sizes: *mut i64, ndim: usize) -> Outcome<Vec<&'a [i64]>> {
    // SAFETY: the caller promises it.
    let selection = unsafe { axes(selection.cast_const(), ndim) }?;
    // SAFETY: the caller promises it.
    let sizes = unsafe { axes(sizes.cast_const(), ndim) }?;
    let list = |(&list, &size): (&*mut i64, &i64)| {
        let len = usize::try_from(size).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the caller promises it.
        unsafe { memory::values(list.cast_const(), len) }.ok_or(NULL_POINTER)
    };
    selection.iter().zip(sizes).map(list).collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_orthogonal_selection(
    array: *const Array,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *mut c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    let read = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array.cast_mut()) }?;
        // SAFETY: the contract of this function.
        let lists = unsafe { lists(selection, selection_size, array.axes()) }?;
        // SAFETY: the contract of this function.
        let buffershape = unsafe { axes(buffershape.cast_const(), array.axes()) }?;
        let len = array.buffer_len(buffershape)?;
        if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < len {
            return Err(INVALID_PARAM);
        }
        // SAFETY: there are as many bytes or more.
        let out = unsafe { memory::output(buffer, len) }.ok_or(NULL_POINTER)?;
        array.get_selection(&lists, out, buffershape).map(|()| DONE)
    };
    guarded(PANICKED, || flat(read()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_set_orthogonal_selection(
    array: *mut Array,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    let write = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array) }?;
        // SAFETY: the contract of this function.
        let lists = unsafe { lists(selection, selection_size, array.axes()) }?;
        // SAFETY: the contract of this function.
        let buffershape = unsafe { axes(buffershape.cast_const(), array.axes()) }?;
        let len = array.buffer_len(buffershape)?;
        if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < len {
            return Err(INVALID_PARAM);
        }
        // SAFETY: there are as many bytes or more.
        let data = unsafe { memory::input(buffer, len) }.ok_or(NULL_POINTER)?;
        array.set_selection(&lists, data, buffershape).map(|()| DONE)
    };
    guarded(PANICKED, || flat(write()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_sparse_cbuffer(
    array: *const Array,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    let read = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array.cast_mut()) }?;
        let count = usize::try_from(ncoords).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let coords = unsafe { memory::values(coords, count) }.ok_or(NULL_POINTER)?;
        let len = count.checked_mul(array.item()?).ok_or(INVALID_PARAM)?;
        if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < len {
            return Err(INVALID_PARAM);
        }
        // SAFETY: there are as many bytes or more.
        let out = unsafe { memory::output(buffer, len) }.ok_or(NULL_POINTER)?;
        array.get_sparse(coords, out).map(|()| DONE)
    };
    guarded(PANICKED, || flat(read()))
}
