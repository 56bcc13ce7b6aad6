//! New arrays: of special values, of a buffer, of other arrays.

use super::{DONE, axes, give, plan};
use crate::b2nd::{self, Plan, boxes, fill, shape::Shapes};
use crate::code::{INVALID_PARAM, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::structs::{Array, MAX_DIM, Metalayer, Storage};
use c_boundary::{guarded, memory};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

const ZEROS: c_int = 1;
const NANS: c_int = 2;
const UNINIT: c_int = 4;

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_create_ctx(
    b2_storage: *const Storage,
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    metalayers: *const Metalayer,
    nmetalayers: i32,
) -> *mut Plan {
    let make = || -> Outcome<Plan> {
        let count = usize::try_from(ndim).ok().filter(|&count| count <= MAX_DIM).ok_or(INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let shape = unsafe { axes(shape, count) }?.to_vec();
        // SAFETY: the contract of this function.
        let chunks = unsafe { axes(chunkshape, count) }?.to_vec();
        // SAFETY: the contract of this function.
        let blocks = unsafe { axes(blockshape, count) }?.to_vec();
        // SAFETY: the contract of this function.
        let dtype = unsafe { memory::text(dtype) };
        let nlayers = usize::try_from(nmetalayers).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let layers = unsafe { memory::values(metalayers, nlayers) }.ok_or(INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        unsafe { Plan::new(b2_storage, &Shapes { shape, chunks, blocks }, (dtype, dtype_format), layers) }
    };
    guarded(null_mut(), || make().map_or(null_mut(), |plan| Box::into_raw(Box::new(plan))))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_free_ctx(ctx: *mut Plan) -> c_int {
    if !ctx.is_null() {
        // SAFETY: it comes from the function above, and is not used any more.
        guarded((), || drop(unsafe { Box::from_raw(ctx) }));
    }
    DONE
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_uninit(ctx: *mut Plan, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { special(ctx, array, UNINIT) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_empty(ctx: *mut Plan, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { special(ctx, array, UNINIT) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_zeros(ctx: *mut Plan, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { special(ctx, array, ZEROS) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_nans(ctx: *mut Plan, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { special(ctx, array, NANS) }
}

/// # Safety
/// `ctx` is NULL or a plan, and `array` is NULL or can be written to.
unsafe fn special(ctx: *mut Plan, array: *mut *mut Array, special: c_int) -> c_int {
    // SAFETY: the caller promises it.
    let plan = unsafe { plan(ctx) };
    // SAFETY: the caller promises it.
    unsafe { give(array, || plan?.special(special)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_full(ctx: *mut Plan, array: *mut *mut Array, fill_value: *const c_void) -> c_int {
    // SAFETY: the contract of this function.
    let plan = unsafe { plan(ctx) };
    let make = || -> Outcome<Box<Array>> {
        let plan = plan?;
        let typesize = usize::try_from(plan.cparams.typesize).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function: a value has the length of the typesize.
        let value = unsafe { memory::input(fill_value, typesize) }.ok_or(NULL_POINTER)?;
        plan.full(value)
    };
    // SAFETY: the contract of this function.
    unsafe { give(array, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_cbuffer(
    ctx: *mut Plan,
    array: *mut *mut Array,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    // SAFETY: the contract of this function.
    let plan = unsafe { plan(ctx) };
    let make = || -> Outcome<Box<Array>> {
        let plan = plan?;
        let shape = plan.shapes().shape;
        let item = usize::try_from(plan.cparams.typesize).map_err(|_| INVALID_PARAM)?;
        let len = fill::size(&shape, item)?;
        if usize::try_from(buffersize).map_err(|_| INVALID_PARAM)? < len {
            return Err(INVALID_PARAM);
        }
        // SAFETY: there are as many bytes or more.
        let data = unsafe { memory::input(buffer, len) }.ok_or(NULL_POINTER)?;
        let zero = vec![0; shape.len()];
        plan.filled(|start, stop, dense| {
            let lens = fill::lens(start, stop);
            let source = boxes::Side { shape: &shape, start };
            boxes::copy_box(item, &lens, (data, &source), (dense, &boxes::Side { shape: &lens, start: &zero }))
        })
    };
    // SAFETY: the contract of this function.
    unsafe { give(array, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_free(array: *mut Array) -> c_int {
    if !array.is_null() {
        // SAFETY: it comes from a function that makes arrays, and is not used any more.
        guarded((), || b2nd::drop_array(unsafe { Box::from_raw(array) }));
    }
    DONE
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy(ctx: *mut Plan, src: *const Array, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    let plan = unsafe { plan(ctx) };
    // SAFETY: the contract of this function.
    let source = unsafe { b2nd::of_c(src.cast_mut()) };
    let make = || -> Outcome<Box<Array>> { plan?.copied(source?) };
    // SAFETY: the contract of this function.
    unsafe { give(array, make) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_concatenate(
    ctx: *mut Plan,
    src1: *const Array,
    src2: *const Array,
    axis: i8,
    copy: bool,
    array: *mut *mut Array,
) -> c_int {
    if array.is_null() {
        return NULL_POINTER;
    }
    // SAFETY: the contract of this function.
    let plan = unsafe { plan(ctx) };
    let join = || -> Outcome<c_int> {
        // The second is a copy of the fields, because both may be the same array.
        // SAFETY: the contract of this function.
        let second = *unsafe { memory::shared(src2) }.ok_or(NULL_POINTER)?;
        // SAFETY: the contract of this function.
        let first = unsafe { b2nd::of_c(src1.cast_mut()) }?;
        let axis = usize::try_from(axis).ok().filter(|&axis| axis < first.axes()).ok_or(INVALID_PARAM)?;
        let joined = if copy {
            Box::into_raw(plan?.joined(first, &second, axis)?)
        } else {
            first.join(&second, axis)?;
            src1.cast_mut()
        };
        // SAFETY: the contract of this function.
        unsafe { memory::store(array, joined) };
        Ok(DONE)
    };
    guarded(PANICKED, || flat(join()))
}
