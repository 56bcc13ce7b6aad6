//! Chunks of special values, and what a chunk's header says.

use crate::code::{self, DATA, FAILURE, INVALID_HEADER, INVALID_PARAM, Outcome, flat};
use crate::codecs;
use crate::context::{self, PANICKED};
use crate::structs::Cparams;
use blosc_oxide::{Pipeline, Special, fill_chunk, special_chunk};
use c_boundary::{guarded, memory};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

const KNOWN_VERSIONS: std::ops::RangeInclusive<u8> = 1..=6;
const MIN_LEN: i32 = 16;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_zeros(cparams: Cparams, nbytes: i32, dest: *mut c_void, destsize: i32) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { put_special(&cparams, Special::Zeros, nbytes, dest, destsize) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_nans(cparams: Cparams, nbytes: i32, dest: *mut c_void, destsize: i32) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { put_special(&cparams, Special::NaN, nbytes, dest, destsize) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_uninit(cparams: Cparams, nbytes: i32, dest: *mut c_void, destsize: i32) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { put_special(&cparams, Special::Uninit, nbytes, dest, destsize) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_repeatval(
    cparams: Cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    repeatval: *const c_void,
) -> c_int {
    guarded(PANICKED, || {
        let typesize = usize::try_from(cparams.typesize).unwrap_or_default();
        // SAFETY: the contract of this function: a value has the length of the typesize.
        let Some(value) = (unsafe { memory::input(repeatval, typesize) }) else { return INVALID_PARAM };
        // SAFETY: the contract of this function.
        flat(unsafe { put_chunk(repeated(&cparams, value, nbytes), dest, destsize) })
    })
}

/// # Safety
/// `dest` is NULL or has `destsize` bytes to write.
unsafe fn put_special(cparams: &Cparams, special: Special, nbytes: i32, dest: *mut c_void, destsize: i32) -> c_int {
    // SAFETY: the caller promises it.
    guarded(PANICKED, || flat(unsafe { put_chunk(special_of(cparams, special, nbytes), dest, destsize) }))
}

/// A chunk of a special value that needs nothing but its name.
pub(crate) fn special_of(cparams: &Cparams, special: Special, nbytes: i32) -> Outcome<Vec<u8>> {
    let nbytes = usize::try_from(nbytes).map_err(|_| DATA)?;
    // Filters that cannot be applied in their order, and dictionaries for codecs that have none,
    // are of no account where there is no data.
    let options = context::options_of_frame(cparams)?;
    let without_filters = || special_chunk(special, nbytes, &options.clone().with_pipeline(Pipeline::none()));
    special_chunk(special, nbytes, &options).or_else(|_| without_filters()).map_err(|_| DATA)
}

/// A chunk that repeats a value.
pub(crate) fn repeated(cparams: &Cparams, value: &[u8], nbytes: i32) -> Outcome<Vec<u8>> {
    let nbytes = usize::try_from(nbytes).map_err(|_| DATA)?;
    fill_chunk(value, nbytes, &context::options_of_frame(cparams)?).map_err(|_| DATA)
}

/// # Safety
/// `dest` is NULL or has `destsize` bytes to write.
unsafe fn put_chunk(chunk: Outcome<Vec<u8>>, dest: *mut c_void, destsize: i32) -> Outcome<c_int> {
    let chunk = chunk?;
    if usize::try_from(destsize).map_err(|_| DATA)? < chunk.len() {
        return Err(DATA);
    }
    // SAFETY: there are as many bytes or more.
    unsafe { memory::output(dest, chunk.len()) }.ok_or(INVALID_PARAM)?.copy_from_slice(&chunk);
    Ok(code::of_len(chunk.len()))
}

/// The fields of a header that sizes are told of.
#[derive(Clone, Copy, Default)]
struct Sizes {
    nbytes: i32,
    cbytes: i32,
    blocksize: i32,
}

/// What a header says of sizes, if it can be one.
///
/// # Safety
/// `cbuffer` is NULL or has a header.
unsafe fn sizes(cbuffer: *const c_void) -> Outcome<Sizes> {
    // SAFETY: the caller promises it.
    let start: [u8; 16] = unsafe { memory::start(cbuffer) }.ok_or(INVALID_HEADER)?;
    let [_, _, _, typesize, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = start;
    let found = Sizes {
        nbytes: i32::from_le_bytes([n0, n1, n2, n3]),
        cbytes: i32::from_le_bytes([c0, c1, c2, c3]),
        blocksize: i32::from_le_bytes([b0, b1, b2, b3]),
    };
    let is_good = found.cbytes >= MIN_LEN && typesize > 0 && (found.nbytes == 0 || found.blocksize > 0);
    if is_good { Ok(found) } else { Err(INVALID_HEADER) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut i32,
    cbytes: *mut i32,
    blocksize: *mut i32,
) -> c_int {
    // SAFETY: the contract of this function.
    let (found, code) = match unsafe { sizes(cbuffer) } {
        Ok(found) => (found, 0),
        Err(code) => (Sizes::default(), code),
    };
    for (place, size) in [(nbytes, found.nbytes), (cbytes, found.cbytes), (blocksize, found.blocksize)] {
        // SAFETY: the contract of this function.
        unsafe { memory::store(place, size) };
    }
    code
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: the contract of this function.
    let found = unsafe { sizes(cbuffer) }.unwrap_or_default();
    for (place, size) in [(nbytes, found.nbytes), (cbytes, found.cbytes), (blocksize, found.blocksize)] {
        // SAFETY: the contract of this function.
        unsafe { memory::store(place, usize::try_from(size).unwrap_or_default()) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_cbuffer_validate(cbuffer: *const c_void, cbytes: usize, nbytes: *mut usize) -> c_int {
    // SAFETY: the contract of this function.
    let found = if cbytes < 16 { Err(FAILURE) } else { unsafe { sizes(cbuffer) } };
    let found = found.and_then(|sizes| {
        let is_good = usize::try_from(sizes.cbytes) == Ok(cbytes)
            && usize::try_from(sizes.nbytes).is_ok_and(|nbytes| nbytes <= blosc_oxide::limits::MAX_NBYTES);
        if is_good { Ok(sizes.nbytes) } else { Err(INVALID_HEADER) }
    });
    // SAFETY: the contract of this function.
    unsafe { memory::store(nbytes, found.map_or(0, |nbytes| usize::try_from(nbytes).unwrap_or_default())) };
    found.map_or_else(|code| code, |_| 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_cbuffer_metainfo(cbuffer: *const c_void, typesize: *mut usize, flags: *mut c_int) {
    // SAFETY: the contract of this function.
    let start: Option<[u8; 16]> = unsafe { memory::start(cbuffer) };
    let found = start.filter(|start| KNOWN_VERSIONS.contains(&start[0]));
    let (size, bits) = found.map_or((0, 0), |start| (start[3], start[2]));
    // SAFETY: the contract of this function.
    unsafe { memory::store(typesize, size.into()) };
    // SAFETY: the contract of this function.
    unsafe { memory::store(flags, bits.into()) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_cbuffer_versions(cbuffer: *const c_void, version: *mut c_int, versionlz: *mut c_int) {
    // SAFETY: the contract of this function.
    let [of_chunk, of_codec] = unsafe { memory::start(cbuffer) }.unwrap_or_default();
    // SAFETY: the contract of this function.
    unsafe { memory::store(version, of_chunk.into()) };
    // SAFETY: the contract of this function.
    unsafe { memory::store(versionlz, of_codec.into()) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    // SAFETY: the contract of this function.
    let start: Option<[u8; 16]> = unsafe { memory::start(cbuffer) };
    start.and_then(|start| codecs::library_by_format(start[2] >> 5)).map_or(null(), CStr::as_ptr)
}
