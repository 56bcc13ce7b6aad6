//! Arrays.

mod buffers;
mod frames;
mod make;
mod metalayer;
mod resize;
mod selection;
mod slices;
mod views;

use crate::b2nd::Plan;
use crate::code::{NULL_POINTER, Outcome};
use crate::context::PANICKED;
use crate::structs::Array;
use c_boundary::{guarded, memory};
use std::ffi::c_int;

/// How programs see that a function has worked.
const DONE: c_int = 0;

/// Numbers, one for each axis.
///
/// # Safety
/// `numbers` is NULL or has as many as there are axes.
unsafe fn axes<'a, T: Copy>(numbers: *const T, ndim: usize) -> Outcome<&'a [T]> {
    // SAFETY: the caller promises it.
    unsafe { memory::values(numbers, ndim) }.ok_or(NULL_POINTER)
}

/// Gives an array to C, or returns the code.
///
/// # Safety
/// `place` is NULL or can be written to.
unsafe fn give(place: *mut *mut Array, make: impl FnOnce() -> Outcome<Box<Array>>) -> c_int {
    if place.is_null() {
        return NULL_POINTER;
    }
    guarded(PANICKED, || match make() {
        Ok(array) => {
            // SAFETY: the caller promises it.
            unsafe { memory::store(place, Box::into_raw(array)) };
            DONE
        }
        Err(code) => code,
    })
}

/// The plan that a pointer of C's points to.
///
/// # Safety
/// `ctx` is NULL, or comes from `b2nd_create_ctx` and is not freed yet.
unsafe fn plan<'a>(ctx: *mut Plan) -> Outcome<&'a mut Plan> {
    // SAFETY: the caller promises it.
    unsafe { memory::exclusive(ctx) }.ok_or(NULL_POINTER)
}
