//! Arrays.

use crate::b2nd::{self, Plan, boxes, fill, meta, shape::Shapes};
use crate::code::{FAILURE, INVALID_PARAM, MEMORY_ALLOC, NULL_POINTER, Outcome, flat};
use crate::context::PANICKED;
use crate::schunk::frames;
use crate::structs::{Array, MAX_DIM, Metalayer, Schunk, Storage};
use c_boundary::{guarded, memory};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// How programs see that a function has worked.
const DONE: c_int = 0;
const ZEROS: c_int = 1;
const NANS: c_int = 2;
const UNINIT: c_int = 4;

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

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy(ctx: *mut Plan, src: *const Array, array: *mut *mut Array) -> c_int {
    // SAFETY: the contract of this function.
    let plan = unsafe { plan(ctx) };
    // SAFETY: the contract of this function.
    let source = unsafe { b2nd::of_c(src.cast_mut()) };
    let make = || -> Outcome<Box<Array>> {
        let source = source?;
        let shape = source.shapes().shape;
        let copy = plan?.sliced(source, &vec![0; shape.len()], &shape)?;
        match source.schunk()?.copy_vlmeta(copy.schunk()?) {
            Ok(()) => Ok(copy),
            Err(code) => {
                b2nd::drop_array(copy);
                Err(code)
            }
        }
    };
    // SAFETY: the contract of this function.
    unsafe { give(array, make) }
}

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
