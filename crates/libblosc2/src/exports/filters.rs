//! The two transposes, for programs that use them without a chunk.

use crate::code::INVALID_PARAM;
use crate::context::PANICKED;
use blosc_kernels::{bitshuffle, shuffle};
use c_boundary::{guarded, memory};
use std::ffi::c_void;

const MAX_TYPESIZE: i32 = 255;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_shuffle(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the contract of this function.
    unsafe { transpose(shuffle::shuffle, typesize, blocksize, src, dest) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_unshuffle(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the contract of this function.
    unsafe { transpose(shuffle::unshuffle, typesize, blocksize, src, dest) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_bitshuffle(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the contract of this function.
    unsafe { transpose(bitshuffle::bitshuffle, typesize, blocksize, src, dest) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_bitunshuffle(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void) -> i32 {
    // SAFETY: the contract of this function.
    unsafe { transpose(bitshuffle::bitunshuffle, typesize, blocksize, src, dest) }
}

/// # Safety
/// `src` and `dest` are NULL or have `blocksize` bytes.
unsafe fn transpose(
    by: fn(usize, &[u8], &mut [u8]),
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    let Ok(len) = usize::try_from(blocksize) else { return INVALID_PARAM };
    if !(1..=MAX_TYPESIZE).contains(&typesize) || memory::overlap(src, len, dest, len) {
        return INVALID_PARAM;
    }
    // SAFETY: the caller promises so many bytes, and they do not overlap with the output.
    let src = unsafe { memory::input(src, len) };
    // SAFETY: the caller promises so many bytes, and they do not overlap with the input.
    let dest = unsafe { memory::output(dest, len) };
    let (Some(src), Some(dest)) = (src, dest) else { return INVALID_PARAM };
    guarded(PANICKED, || {
        by(typesize.unsigned_abs() as usize, src, dest);
        blocksize
    })
}
