//! Super-chunks.

use crate::code::{self, FAILURE, INVALID_PARAM, MEMORY_ALLOC, Outcome, flat};
use crate::context::{Context, PANICKED};
use crate::frame::Frame;
use crate::schunk::{self, edit::Given, frames};
use crate::structs::{Cparams, Dparams, Schunk, Storage};
use c_boundary::{guarded, memory};
use std::borrow::Cow;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// What a function makes of a super-chunk.
fn with<T: From<c_int>>(schunk: Outcome<&mut Schunk>, call: impl FnOnce(&mut Schunk) -> Outcome<T>) -> T {
    guarded(PANICKED.into(), || flat(schunk.and_then(call)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_new(storage: *mut Storage) -> *mut Schunk {
    // SAFETY: the contract of this function.
    guarded(null_mut(), || unsafe { schunk::new(storage) }.unwrap_or(null_mut()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_free(schunk: *mut Schunk) -> c_int {
    if !schunk.is_null() {
        // SAFETY: it comes from a function that makes super-chunks, and is not used any more.
        guarded((), || unsafe { schunk::free(schunk) });
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_copy(schunk: *mut Schunk, storage: *mut Storage) -> *mut Schunk {
    guarded(null_mut(), || {
        // SAFETY: the contract of this function.
        let Ok(source) = (unsafe { schunk::of_c(schunk) }) else { return null_mut() };
        // SAFETY: the contract of this function.
        unsafe { source.copy(storage) }.unwrap_or(null_mut())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_from_buffer(cframe: *mut u8, len: i64, copy: bool) -> *mut Schunk {
    guarded(null_mut(), || {
        let Ok(size) = usize::try_from(len) else { return null_mut() };
        // SAFETY: the contract of this function.
        let Some(bytes) = (unsafe { memory::input(cframe.cast(), size) }) else { return null_mut() };
        let made = frames::of_bytes(bytes).unwrap_or(null_mut());
        if !copy {
            // SAFETY: it was made just now, or is NULL.
            if let Ok(fields) = unsafe { schunk::of_c(made) } {
                fields.keep(cframe);
            }
        }
        made
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_avoid_cframe_free(schunk: *mut Schunk, avoid_cframe_free: bool) {
    // SAFETY: the contract of this function.
    let Ok(schunk) = (unsafe { schunk::of_c(schunk) }) else { return };
    // SAFETY: it is NULL, or was made of a box and belongs to this super-chunk.
    if let Some(Frame::Buffer(buffer)) = unsafe { memory::exclusive(schunk.frame) } {
        buffer.is_lent = avoid_cframe_free;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_to_buffer(schunk: *mut Schunk, cframe: *mut *mut u8, needs_free: *mut bool) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let bytes = schunk.frame_bytes()?;
        let copy = memory::bytes_for_c(&bytes);
        if copy.is_null() {
            return Err(MEMORY_ALLOC);
        }
        give(cframe, copy, needs_free, true);
        i64::try_from(bytes.len()).map_err(|_| FAILURE)
    })
}

/// Stores what C gets, and whether it has to free it.
fn give(place: *mut *mut u8, bytes: *mut u8, needs_free: *mut bool, is_own: bool) {
    // SAFETY: the contract of the functions that call this.
    unsafe { memory::store(place, bytes) };
    // SAFETY: the contract of the functions that call this.
    unsafe { memory::store(needs_free, is_own) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_frame_len(schunk: *mut Schunk) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| match schunk.stored_len() {
        Some(len) => len,
        None => i64::try_from(schunk.frame_bytes()?.len()).map_err(|_| FAILURE),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_chunk(schunk: *mut Schunk, chunk: *mut u8, copy: bool) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    // SAFETY: the contract of this function.
    with(schunk, |schunk| unsafe { schunk.append(Given { chunk, copy }) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_update_chunk(schunk: *mut Schunk, nchunk: i64, chunk: *mut u8, copy: bool) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    // SAFETY: the contract of this function.
    with(schunk, |schunk| unsafe { schunk.update(nchunk, Given { chunk, copy }) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_insert_chunk(schunk: *mut Schunk, nchunk: i64, chunk: *mut u8, copy: bool) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    // SAFETY: the contract of this function.
    with(schunk, |schunk| unsafe { schunk.insert(nchunk, Given { chunk, copy }) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_delete_chunk(schunk: *mut Schunk, nchunk: i64) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| schunk.delete(nchunk))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_buffer(schunk: *mut Schunk, src: *const c_void, nbytes: i32) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    // SAFETY: the contract of this function.
    with(schunk, |schunk| unsafe { schunk.append_buffer(src, nbytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_fill_special(
    schunk: *mut Schunk,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| schunk.fill_special(nitems, special_value, chunksize))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_reorder_offsets(schunk: *mut Schunk, offsets_order: *mut i64) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        // SAFETY: the contract of this function.
        let order = unsafe { memory::values(offsets_order.cast_const(), schunk.count()) }.ok_or(INVALID_PARAM)?;
        schunk.reorder(order).map(|()| 0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    dest: *mut c_void,
    nbytes: i32,
) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let room = usize::try_from(nbytes).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let dest = unsafe { memory::output(dest, room) }.ok_or(INVALID_PARAM)?;
        schunk.decompress(nchunk, dest)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let index = schunk.index(nchunk)?;
        let bytes = schunk.chunk(index)?;
        match &bytes {
            Cow::Borrowed(_) => give(chunk, schunk.pointer(index), needs_free, false),
            Cow::Owned(bytes) => give(chunk, memory::bytes_for_c(bytes), needs_free, true),
        }
        Ok(code::of_len(bytes.len()))
    })
}

/// Chunks in memory are not lazy.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { blosc2_schunk_get_chunk(schunk, nchunk, chunk, needs_free) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_vlblock(
    schunk: *mut Schunk,
    nchunk: i64,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let index = schunk.index(nchunk)?;
        let chunk = schunk.chunk(index)?;
        let block = usize::try_from(nblock).map_err(|_| INVALID_PARAM)?;
        if block >= Context::nblocks(&chunk)? {
            return Err(INVALID_PARAM);
        }
        let data = schunk.reader(nchunk)?.block(&chunk, block)?;
        let len = code::of_len(data.len());
        // SAFETY: the contract of this function.
        unsafe { memory::store(dest, memory::bytes_for_c(&data)) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(destsize, len) };
        Ok(len)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_slice_buffer(
    schunk: *mut Schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let pieces = schunk.pieces(start, stop)?;
        let len = pieces.iter().map(|piece| piece.part.len()).sum();
        // SAFETY: the contract of this function.
        let out = unsafe { memory::output(buffer, len) }.ok_or(INVALID_PARAM)?;
        schunk.get_slice(&pieces, out).map(|()| 0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_set_slice_buffer(
    schunk: *mut Schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let pieces = schunk.pieces(start, stop)?;
        let len = pieces.iter().map(|piece| piece.part.len()).sum();
        // SAFETY: the contract of this function.
        let data = unsafe { memory::input(buffer, len) }.ok_or(INVALID_PARAM)?;
        schunk.set_slice(&pieces, data).map(|()| 0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_sparse_buffer(
    schunk: *mut Schunk,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        let count = usize::try_from(ncoords).map_err(|_| INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let positions = unsafe { memory::values(coords, count) }.ok_or(INVALID_PARAM)?;
        let len = count.checked_mul(schunk.item()?).ok_or(INVALID_PARAM)?;
        // SAFETY: the contract of this function.
        let out = unsafe { memory::output(buffer, len) }.ok_or(INVALID_PARAM)?;
        schunk.get_sparse(positions, out).map(|()| 0)
    })
}

/// A copy of a struct that C frees with `free`.
fn copied<T: Copy>(value: T) -> *mut T {
    // SAFETY: asks for memory.
    let place: *mut T = unsafe { libc::malloc(size_of::<T>()) }.cast();
    // SAFETY: it is NULL, or has the size and more than the alignment of the value.
    unsafe { memory::store(place, value) };
    place
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_cparams(schunk: *mut Schunk, cparams: *mut *mut Cparams) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        // SAFETY: the contract of this function.
        unsafe { memory::store(cparams, copied(schunk.cparams())) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_dparams(schunk: *mut Schunk, dparams: *mut *mut Dparams) -> c_int {
    // SAFETY: the contract of this function.
    let schunk = unsafe { schunk::of_c(schunk) };
    with(schunk, |schunk| {
        // SAFETY: the contract of this function.
        unsafe { memory::store(dparams, copied(schunk.dparams())) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_lock(schunk: *mut Schunk) -> c_int {
    // SAFETY: the contract of this function.
    with(unsafe { schunk::of_c(schunk) }, |schunk| schunk.lock().map(|()| 0))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_unlock(schunk: *mut Schunk) -> c_int {
    // SAFETY: the contract of this function.
    with(unsafe { schunk::fields(schunk) }, |schunk| {
        schunk.unlock();
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_refresh(schunk: *mut Schunk) -> c_int {
    // SAFETY: the contract of this function.
    with(unsafe { schunk::fields(schunk) }, |schunk| schunk.catch_up().map(c_int::from))
}
