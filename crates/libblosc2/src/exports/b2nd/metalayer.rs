//! The metalayer that makes an array of a super-chunk.

use super::{DONE, axes};
use crate::b2nd::{self, meta, shape::Shapes};
use crate::code::{FAILURE, INVALID_PARAM, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::structs::Array;
use c_boundary::{guarded, memory};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::null_mut;

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_serialize_meta(
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    smeta: *mut *mut u8,
) -> c_int {
    let write = || -> Outcome<c_int> {
        let count = usize::try_from(ndim).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let shape = unsafe { axes(shape, count) }?.to_vec();
        // SAFETY: the contract of this function.
        let chunks = unsafe { axes(chunkshape, count) }?.to_vec();
        // SAFETY: the contract of this function.
        let blocks = unsafe { axes(blockshape, count) }?.to_vec();
        // SAFETY: the contract of this function.
        let dtype: &CStr = unsafe { memory::text(dtype) }.unwrap_or(c"|u1");
        let bytes = meta::write(&Shapes { shape, chunks, blocks }, dtype, dtype_format)?;
        // SAFETY: the contract of this function.
        unsafe { memory::store(smeta, memory::bytes_for_c(&bytes)) };
        c_int::try_from(bytes.len()).map_err(|_| FAILURE)
    };
    guarded(PANICKED, || flat(write()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_deserialize_meta(
    smeta: *const u8,
    smeta_len: i32,
    ndim: *mut i8,
    shape: *mut i64,
    chunkshape: *mut i32,
    blockshape: *mut i32,
    dtype: *mut *mut c_char,
    dtype_format: *mut i8,
) -> c_int {
    let read = || -> Outcome<c_int> {
        let len = usize::try_from(smeta_len).map_err(|_| FAILURE)?;
        // SAFETY: the contract of this function.
        let bytes = unsafe { memory::input(smeta.cast(), len) }.ok_or(NULL_POINTER)?;
        let meta = meta::read(bytes)?;
        let count = meta.shapes.shape.len();
        // SAFETY: the contract of this function: there is place for all axes.
        unsafe { memory::values_mut(shape, count) }.ok_or(NULL_POINTER)?.copy_from_slice(&meta.shapes.shape);
        // SAFETY: as above.
        unsafe { memory::values_mut(chunkshape, count) }.ok_or(NULL_POINTER)?.copy_from_slice(&meta.shapes.chunks);
        // SAFETY: as above.
        unsafe { memory::values_mut(blockshape, count) }.ok_or(NULL_POINTER)?.copy_from_slice(&meta.shapes.blocks);
        // SAFETY: the contract of this function.
        unsafe { memory::store(ndim, i8::try_from(count).map_err(|_| FAILURE)?) };
        if !dtype.is_null() {
            // SAFETY: the contract of this function.
            unsafe { memory::store(dtype, meta.dtype.as_deref().map_or(null_mut(), memory::copy_for_c)) };
        }
        // SAFETY: the contract of this function.
        unsafe { memory::store(dtype_format, meta.dtype_format) };
        c_int::try_from(meta.len).map_err(|_| FAILURE)
    };
    guarded(PANICKED, || flat(read()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_print_meta(array: *const Array) -> c_int {
    let print = || -> Outcome<c_int> {
        // SAFETY: the contract of this function.
        let text = unsafe { b2nd::of_c(array.cast_mut()) }?.stored_meta()?.to_string();
        let text = CString::new(text).map_err(|_| FAILURE)?;
        // The program prints with C's `stdout`, whose buffer is not that of Rust.
        // SAFETY: the text ends with a zero.
        unsafe { libc::puts(text.as_ptr()) };
        Ok(DONE)
    };
    guarded(PANICKED, || flat(print()))
}
