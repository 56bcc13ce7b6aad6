//! Arrays that show the data of others with other axes.

use super::{axes, give};
use crate::b2nd;
use crate::code::{INVALID_PARAM, Outcome};
use crate::structs::{Array, MAX_DIM};
use std::ffi::c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_squeeze(array: *mut Array, view: *mut *mut Array) -> c_int {
    let make = || -> Outcome<Box<Array>> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array) }?;
        let is_single: Vec<bool> = array.shapes().shape.iter().map(|&len| len == 1).collect();
        array.squeezed(&is_single)
    };
    // SAFETY: the contract of this function.
    unsafe { give(view, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_squeeze_index(array: *mut Array, view: *mut *mut Array, index: *const bool) -> c_int {
    let make = || -> Outcome<Box<Array>> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array) }?;
        // SAFETY: the contract of this function.
        let index = unsafe { axes(index, array.axes()) }?;
        array.squeezed(index)
    };
    // SAFETY: the contract of this function.
    unsafe { give(view, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_expand_dims(
    array: *const Array,
    view: *mut *mut Array,
    axis: *const bool,
    final_dims: u8,
) -> c_int {
    let make = || -> Outcome<Box<Array>> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array.cast_mut()) }?;
        let ndim = usize::from(final_dims);
        if ndim > MAX_DIM {
            return Err(INVALID_PARAM);
        }
        // SAFETY: the contract of this function.
        let axis = unsafe { axes(axis, ndim) }?;
        array.expanded(axis)
    };
    // SAFETY: the contract of this function.
    unsafe { give(view, make) }
}
