//! Slices of arrays.

use super::{DONE, axes, give, plan};
use crate::b2nd::{self, Plan};
use crate::code::{INVALID_PARAM, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::structs::Array;
use c_boundary::{guarded, memory};
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_to_cbuffer(array: *const Array, buffer: *mut c_void, buffersize: i64) -> c_int {
    let read = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array.cast_mut()) }?;
        let shape = array.shapes().shape;
        let len = array.buffer_len(&shape)?;
        if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < len {
            return Err(INVALID_PARAM);
        }
        // SAFETY: there are as many bytes or more.
        let out = unsafe { memory::output(buffer, len) }.ok_or(NULL_POINTER)?;
        array.get_box(&vec![0; shape.len()], &shape, out, &shape).map(|()| DONE)
    };
    guarded(PANICKED, || flat(read()))
}

/// A box of an array, and the shape of the buffer for it.
struct Boxed<'a> {
    array: &'a mut Array,
    start: &'a [i64],
    stop: &'a [i64],
    buffershape: &'a [i64],
    len: usize,
}

impl Boxed<'_> {
    /// # Safety
    /// `array` is NULL or an array, and all others are NULL or have a number for each axis.
    unsafe fn new(
        array: *mut Array,
        start: *const i64,
        stop: *const i64,
        buffershape: *const i64,
        buffersize: i64,
    ) -> Outcome<Self> {
        // SAFETY: the caller promises it.
        let array = unsafe { b2nd::of_c(array) }?;
        let ndim = array.axes();
        // SAFETY: the caller promises it.
        let start = unsafe { axes(start, ndim) }?;
        // SAFETY: the caller promises it.
        let stop = unsafe { axes(stop, ndim) }?;
        // SAFETY: the caller promises it.
        let buffershape = unsafe { axes(buffershape, ndim) }?;
        array.check_box(start, stop, buffershape)?;
        let len = array.buffer_len(buffershape)?;
        if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < len {
            return Err(INVALID_PARAM);
        }
        Ok(Self { array, start, stop, buffershape, len })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_slice_cbuffer(
    array: *const Array,
    start: *const i64,
    stop: *const i64,
    buffer: *mut c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    // SAFETY: the contract of this function.
    let boxed = unsafe { Boxed::new(array.cast_mut(), start, stop, buffershape, buffersize) };
    let read = || -> Outcome<c_int> {
        let Boxed { array, start, stop, buffershape, len } = boxed?;
        // SAFETY: there are as many bytes or more.
        let out = unsafe { memory::output(buffer, len) }.ok_or(NULL_POINTER)?;
        array.get_box(start, stop, out, buffershape).map(|()| DONE)
    };
    guarded(PANICKED, || flat(read()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_set_slice_cbuffer(
    buffer: *const c_void,
    buffershape: *const i64,
    buffersize: i64,
    start: *const i64,
    stop: *const i64,
    array: *mut Array,
) -> c_int {
    // SAFETY: the contract of this function.
    let boxed = unsafe { Boxed::new(array, start, stop, buffershape, buffersize) };
    let write = || -> Outcome<c_int> {
        let Boxed { array, start, stop, buffershape, len } = boxed?;
        // SAFETY: there are as many bytes or more.
        let data = unsafe { memory::input(buffer, len) }.ok_or(NULL_POINTER)?;
        array.set_box(start, stop, data, buffershape).map(|()| DONE)
    };
    guarded(PANICKED, || flat(write()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_slice(
    ctx: *mut Plan,
    array: *mut *mut Array,
    src: *const Array,
    start: *const i64,
    stop: *const i64,
) -> c_int {
    // SAFETY: the contract of this function.
    let plan = unsafe { plan(ctx) };
    // SAFETY: the contract of this function.
    let source = unsafe { b2nd::of_c(src.cast_mut()) };
    let make = || -> Outcome<Box<Array>> {
        let source = source?;
        // SAFETY: the contract of this function.
        let start = unsafe { axes(start, source.axes()) }?;
        // SAFETY: the contract of this function.
        let stop = unsafe { axes(stop, source.axes()) }?;
        plan?.sliced(source, start, stop)
    };
    // SAFETY: the contract of this function.
    unsafe { give(array, make) }
}
