//! Contexts: what compresses and what decompresses, with parameters of its own.

use crate::code::{FAILURE, INVALID_PARAM, MAX_BUFSIZE_EXCEEDED, NULL_POINTER, Outcome, WRITE_BUFFER, flat};
use crate::context::{self, Context, PANICKED, Role};
use crate::process::environment;
use crate::structs::{Cparams, Dparams};
use crate::{decompress, tuner};
use c_boundary::{guarded, memory};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// No chunk is shorter.
const MIN_DESTSIZE: usize = 32;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_create_cctx(cparams: Cparams) -> *mut Context {
    // SAFETY: the contract of this function.
    guarded(null_mut(), || unsafe { new_cctx(cparams) }.and_then(tuner::placed).unwrap_or(null_mut()))
}

/// # Safety
/// `cparams.preparams` is NULL or points to parameters.
pub(crate) unsafe fn new_cctx(mut cparams: Cparams) -> Outcome<Context> {
    environment::change_cparams(&mut cparams)?;
    // SAFETY: the caller promises it.
    let preparams = unsafe { memory::shared(cparams.preparams) }.copied();
    Ok(Context::to_compress(cparams, preparams))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_create_dctx(dparams: Dparams) -> *mut Context {
    // SAFETY: the contract of this function.
    guarded(null_mut(), || Box::into_raw(Box::new(unsafe { new_dctx(dparams) })))
}

/// # Safety
/// `dparams.postparams` is NULL or points to parameters.
pub(crate) unsafe fn new_dctx(mut dparams: Dparams) -> Context {
    environment::change_threads(&mut dparams.nthreads);
    // SAFETY: the caller promises it.
    let postparams = unsafe { memory::shared(dparams.postparams) }.copied();
    Context::to_decompress(dparams, postparams)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_free_ctx(context: *mut Context) {
    if !context.is_null() {
        // SAFETY: it comes from one of the two functions above, and is not used any more.
        guarded((), || unsafe { tuner::release(context) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_ctx_get_cparams(ctx: *mut Context, cparams: *mut Cparams) -> c_int {
    // SAFETY: the contract of this function.
    let Ok(context) = (unsafe { context::of_c(ctx, Role::Compress) }) else { return NULL_POINTER };
    let mut found = context.cparams;
    if found.blocksize == 0 {
        found.blocksize = context.blocksize;
    }
    // SAFETY: the contract of this function.
    unsafe { memory::store(cparams, found) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_ctx_get_dparams(ctx: *mut Context, dparams: *mut Dparams) -> c_int {
    // SAFETY: the contract of this function.
    let Ok(context) = (unsafe { context::of_c(ctx, Role::Decompress) }) else { return NULL_POINTER };
    // SAFETY: the contract of this function.
    unsafe { memory::store(dparams, context.dparams) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_set_maskout(ctx: *mut Context, maskout: *const bool, nblocks: c_int) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        let Ok(context) = (unsafe { context::of_c(ctx, Role::Decompress) }) else { return NULL_POINTER };
        let Ok(nblocks) = usize::try_from(nblocks) else { return INVALID_PARAM };
        // Other bytes than 0 and 1 are no `bool`: they are read as numbers.
        // SAFETY: the contract of this function.
        let Some(mask) = (unsafe { memory::values(maskout.cast::<u8>(), nblocks) }) else { return NULL_POINTER };
        context.maskout = Some(mask.iter().map(|&is_out| is_out != 0).collect());
        0
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compress_ctx(
    context: *mut Context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        let context = unsafe { context::of_c(context, Role::Compress) };
        // SAFETY: the contract of this function.
        flat(context.and_then(|context| unsafe { compress(context, (src, srcsize), (dest, destsize)) }))
    })
}

/// # Safety
/// `src` and `dest` are NULL or of the lengths beside them; with a prefilter, `src` is what the
/// program says it is.
pub(crate) unsafe fn compress(
    context: &mut Context,
    (src, srcsize): (*const c_void, i32),
    (dest, destsize): (*mut c_void, i32),
) -> Outcome<c_int> {
    let srcsize = usize::try_from(srcsize).map_err(|_| INVALID_PARAM)?;
    let destsize = usize::try_from(destsize).map_err(|_| INVALID_PARAM)?;
    if destsize < MIN_DESTSIZE || srcsize > blosc_oxide::limits::MAX_NBYTES {
        return Err(MAX_BUFSIZE_EXCEEDED);
    }
    let room = destsize.min(srcsize + MIN_DESTSIZE);
    if context.cparams.prefilter.is_some() {
        let data = context.prefiltered(src.cast(), srcsize)?;
        // SAFETY: the caller promises as many bytes or more, and the data are ours.
        let dest = unsafe { memory::output(dest, room) }.ok_or(INVALID_PARAM)?;
        return context.compress(&data, dest);
    }
    if memory::overlap(src, srcsize, dest, room) {
        return Err(INVALID_PARAM);
    }
    // SAFETY: the caller promises so many bytes, and they do not overlap with the output.
    let src = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    // SAFETY: the caller promises as many bytes or more, and they do not overlap with the input.
    let dest = unsafe { memory::output(dest, room) }.ok_or(INVALID_PARAM)?;
    context.compress(src, dest)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_decompress_ctx(
    context: *mut Context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        let context = unsafe { context::of_c(context, Role::Decompress) };
        // SAFETY: the contract of this function.
        flat(context.and_then(|context| unsafe { decompress_to(context, (src, srcsize), (dest, destsize)) }))
    })
}

/// # Safety
/// `src` and `dest` are NULL or of the lengths beside them.
unsafe fn decompress_to(
    context: &mut Context,
    (src, srcsize): (*const c_void, i32),
    (dest, destsize): (*mut c_void, i32),
) -> Outcome<c_int> {
    let srcsize = usize::try_from(srcsize).map_err(|_| INVALID_PARAM)?;
    let destsize = usize::try_from(destsize).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises so many bytes.
    let chunk = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    let room = destsize.min(decompress::header(chunk)?.nbytes());
    if memory::overlap(src, srcsize, dest, room) {
        return Err(INVALID_PARAM);
    }
    // SAFETY: these are no more than `destsize`, and do not overlap with the chunk.
    let dest = unsafe { memory::output(dest, room) }.ok_or(INVALID_PARAM)?;
    context.decompress(chunk, dest)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_getitem_ctx(
    context: *mut Context,
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { items_with(context, (src, srcsize), (start, nitems), None, (dest, destsize)) }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_getitem_bytes_ctx(
    context: *mut Context,
    src: *const c_void,
    srcsize: i32,
    start: i32,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        flat(unsafe { items_with(context, (src, srcsize), (start, nbytes), Some(1), (dest, destsize)) })
    })
}

/// # Safety
/// As for [`items`]; `context` is NULL or a context.
unsafe fn items_with(
    context: *mut Context,
    (src, srcsize): (*const c_void, i32),
    part: (c_int, c_int),
    unit: Option<usize>,
    (dest, destsize): (*mut c_void, i32),
) -> Outcome<c_int> {
    // SAFETY: the caller promises it.
    let context = unsafe { context::of_c(context, Role::Decompress) }?;
    let srcsize = usize::try_from(srcsize).map_err(|_| INVALID_PARAM)?;
    let destsize = usize::try_from(destsize).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises it.
    unsafe { items(context, (src, srcsize), part, unit, (dest, destsize)) }
}

/// Puts items into `dest`, or with a `unit` of 1 bytes of whole items; how many bytes these are.
///
/// # Safety
/// `src` is NULL or of the length beside it; `dest` is NULL or has that length, or room for the
/// items.
pub(super) unsafe fn items(
    context: &mut Context,
    (src, srcsize): (*const c_void, usize),
    (start, count): (c_int, c_int),
    unit: Option<usize>,
    (dest, destsize): (*mut c_void, usize),
) -> Outcome<c_int> {
    // SAFETY: the caller promises so many bytes.
    let chunk = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    let header = decompress::header(chunk)?;
    let size = unit.unwrap_or(header.typesize());
    let bytes =
        |number: c_int| usize::try_from(number).ok().and_then(|number| number.checked_mul(size)).ok_or(INVALID_PARAM);
    let (start, len) = (bytes(start)?, bytes(count)?);
    if len > destsize {
        return Err(WRITE_BUFFER);
    }
    let is_whole = start.is_multiple_of(header.typesize()) && len.is_multiple_of(header.typesize());
    if !is_whole || start.checked_add(len).is_none_or(|end| end > header.nbytes()) {
        return Err(INVALID_PARAM);
    }
    if memory::overlap(src, srcsize, dest, len) {
        return Err(INVALID_PARAM);
    }
    // SAFETY: these are no more than `destsize`, and do not overlap with the chunk.
    let dest = unsafe { memory::output(dest, len) }.ok_or(INVALID_PARAM)?;
    context.part(chunk, start, dest)?;
    c_int::try_from(len).map_err(|_| MAX_BUFSIZE_EXCEEDED)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlcompress_ctx(
    context: *mut Context,
    srcs: *const *const c_void,
    srcsizes: *const i32,
    nblocks: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        flat(unsafe { compress_blocks(context, (srcs, srcsizes, nblocks), (dest, destsize)) })
    })
}

/// # Safety
/// `context` is NULL or a context, there are `nblocks` sources and sizes that fit together, `dest`
/// has the length beside it.
unsafe fn compress_blocks(
    context: *mut Context,
    (srcs, srcsizes, nblocks): (*const *const c_void, *const i32, i32),
    (dest, destsize): (*mut c_void, i32),
) -> Outcome<c_int> {
    // SAFETY: the caller promises it.
    let context = unsafe { context::of_c(context, Role::Compress) }?;
    let nblocks = usize::try_from(nblocks).ok().filter(|&count| count > 0).ok_or(INVALID_PARAM)?;
    let destsize = usize::try_from(destsize).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises so many.
    let srcs = unsafe { memory::values(srcs, nblocks) }.ok_or(INVALID_PARAM)?;
    // SAFETY: the caller promises so many.
    let sizes = unsafe { memory::values(srcsizes, nblocks) }.ok_or(INVALID_PARAM)?;
    let mut blocks = Vec::with_capacity(nblocks);
    for (&src, &size) in srcs.iter().zip(sizes) {
        let size = usize::try_from(size).map_err(|_| INVALID_PARAM)?;
        if memory::overlap(src, size, dest, destsize) {
            return Err(INVALID_PARAM);
        }
        // SAFETY: the caller promises so many bytes, and they do not overlap with the output.
        blocks.push(unsafe { memory::input(src, size) }.ok_or(INVALID_PARAM)?);
    }
    // SAFETY: the caller promises so many bytes, and they do not overlap with the blocks.
    let dest = unsafe { memory::output(dest, destsize) }.ok_or(INVALID_PARAM)?;
    context.compress_blocks(&blocks, dest)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vldecompress_ctx(
    context: *mut Context,
    src: *const c_void,
    srcsize: i32,
    dests: *mut *mut c_void,
    destsizes: *mut i32,
    maxblocks: i32,
) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        flat(unsafe { decompress_blocks(context, (src, srcsize), (dests, destsizes, maxblocks)) })
    })
}

/// # Safety
/// `context` is NULL or a context, `src` has the length beside it, and there are places for
/// `maxblocks` blocks and sizes.
unsafe fn decompress_blocks(
    context: *mut Context,
    (src, srcsize): (*const c_void, i32),
    (dests, destsizes, maxblocks): (*mut *mut c_void, *mut i32, i32),
) -> Outcome<c_int> {
    // SAFETY: the caller promises it.
    let context = unsafe { context::of_c(context, Role::Decompress) }?;
    let srcsize = usize::try_from(srcsize).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises so many bytes.
    let src = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    let nblocks = Context::nblocks(src)?;
    if usize::try_from(maxblocks).map_err(|_| INVALID_PARAM)? < nblocks {
        return Err(INVALID_PARAM);
    }
    // SAFETY: the caller promises as many or more.
    let dests = unsafe { memory::values_mut(dests, nblocks) }.ok_or(INVALID_PARAM)?;
    // SAFETY: the caller promises as many or more.
    let sizes = unsafe { memory::values_mut(destsizes, nblocks) }.ok_or(INVALID_PARAM)?;
    let mut blocks = Vec::with_capacity(nblocks);
    for index in 0..nblocks {
        blocks.push(context.block(src, index)?);
    }
    for (index, block) in blocks.iter().enumerate() {
        dests[index] = memory::bytes_for_c(block).cast();
        sizes[index] = i32::try_from(block.len()).map_err(|_| FAILURE)?;
    }
    c_int::try_from(nblocks).map_err(|_| FAILURE)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlchunk_get_nblocks(src: *const c_void, srcsize: i32, nblocks: *mut i32) -> c_int {
    guarded(PANICKED, || {
        let Ok(srcsize) = usize::try_from(srcsize) else { return INVALID_PARAM };
        // SAFETY: the contract of this function.
        let Some(src) = (unsafe { memory::input(src, srcsize) }) else { return INVALID_PARAM };
        match Context::nblocks(src) {
            Ok(count) => {
                // SAFETY: the contract of this function.
                unsafe { memory::store(nblocks, i32::try_from(count).unwrap_or(i32::MAX)) };
                0
            }
            Err(code) => code,
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vldecompress_block_ctx(
    context: *mut Context,
    src: *const c_void,
    srcsize: i32,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        flat(unsafe { one_block(context, (src, srcsize), nblock) }.map(|block| {
            let len = i32::try_from(block.len()).unwrap_or(i32::MAX);
            // SAFETY: the contract of this function.
            unsafe { memory::store(dest, memory::bytes_for_c(&block)) };
            // SAFETY: the contract of this function.
            unsafe { memory::store(destsize, len) };
            len
        }))
    })
}

/// # Safety
/// `context` is NULL or a context, and `src` has the length beside it.
unsafe fn one_block(context: *mut Context, (src, srcsize): (*const c_void, i32), nblock: i32) -> Outcome<Vec<u8>> {
    // SAFETY: the caller promises it.
    let context = unsafe { context::of_c(context, Role::Decompress) }?;
    let srcsize = usize::try_from(srcsize).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises so many bytes.
    let src = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    let index = usize::try_from(nblock).map_err(|_| INVALID_PARAM)?;
    if index >= Context::nblocks(src)? {
        return Err(INVALID_PARAM);
    }
    context.block(src, index)
}
