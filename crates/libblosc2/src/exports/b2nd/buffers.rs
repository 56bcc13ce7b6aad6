//! Boxes of items in memory, copied from one array to another.

use super::{DONE, axes};
use crate::b2nd::boxes::{Side, copy_box};
use crate::b2nd::fill;
use crate::code::{INVALID_PARAM, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::structs::MAX_DIM;
use c_boundary::{guarded, memory};
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer(
    ndim: i8,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    // SAFETY: the contract of this function is that of the other.
    unsafe {
        b2nd_copy_buffer2(ndim, itemsize.into(), src, src_pad_shape, src_start, src_stop, dst, dst_pad_shape, dst_start)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    let copy = || -> Outcome<c_int> {
        let ndim = usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM).ok_or(INVALID_PARAM)?;
        let item = usize::try_from(itemsize).ok().filter(|&item| item > 0).ok_or(INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let src_shape = unsafe { axes(src_pad_shape, ndim) }?;
        // SAFETY: the contract of this function.
        let start = unsafe { axes(src_start, ndim) }?;
        // SAFETY: the contract of this function.
        let stop = unsafe { axes(src_stop, ndim) }?;
        // SAFETY: the contract of this function.
        let dst_shape = unsafe { axes(dst_pad_shape, ndim) }?;
        // SAFETY: the contract of this function.
        let target = unsafe { axes(dst_start, ndim) }?;
        let lens = fill::lens(start, stop);
        let (from, to) = (Side { shape: src_shape, start }, Side { shape: dst_shape, start: target });
        if !from.has(&lens) || !to.has(&lens) {
            return Err(INVALID_PARAM);
        }
        // SAFETY: the contract of this function: a buffer has all items of its shape.
        let src = unsafe { memory::input(src, fill::size(src_shape, item)?) }.ok_or(NULL_POINTER)?;
        // SAFETY: the contract of this function: a buffer has all items of its shape.
        let dst = unsafe { memory::output(dst, fill::size(dst_shape, item)?) }.ok_or(NULL_POINTER)?;
        copy_box(item, &lens, (src, &from), (dst, &to)).map(|()| DONE)
    };
    guarded(PANICKED, || flat(copy()))
}
