//! Arrays from and to super-chunks and frames.

use super::{DONE, give};
use crate::b2nd;
use crate::code::{INVALID_PARAM, MEMORY_ALLOC, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::schunk::frames;
use crate::structs::{Array, Schunk};
use c_boundary::{guarded, memory};
use std::ffi::c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_schunk(schunk: *mut Schunk, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { give(array, || b2nd::of_schunk(schunk)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_cframe(cframe: *mut u8, cframe_len: i64, copy: bool, array: *mut *mut Array) -> c_int {
    let make = || -> Outcome<Box<Array>> {
        let len = usize::try_from(cframe_len).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let bytes = unsafe { memory::input(cframe.cast(), len) }.ok_or(NULL_POINTER)?;
        let made = frames::of_bytes(bytes)?;
        b2nd::of_schunk(made).inspect(|array| {
            if !copy && let Ok(schunk) = array.schunk() {
                schunk.keep(cframe);
            }
        })
    };
    // SAFETY: the contract of this function.
    unsafe { give(array, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_to_cframe(
    array: *const Array,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    let write = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let array = unsafe { b2nd::of_c(array.cast_mut()) }?;
        let bytes = array.schunk()?.frame_bytes()?;
        let copy = memory::bytes_for_c(&bytes);
        if copy.is_null() {
            return Err(MEMORY_ALLOC);
        }
        // SAFETY: the contract of this function.
        unsafe { memory::store(cframe, copy) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(cframe_len, i64::try_from(bytes.len()).unwrap_or(i64::MAX)) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(needs_free, true) };
        Ok(DONE)
    };
    guarded(PANICKED, || flat(write()))
}
