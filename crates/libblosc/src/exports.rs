//! The functions that C calls; include/blosc.h says what each is for.
//!
//! All that take pointers have the same contract: a pointer is NULL or points to what blosc.h says,
//! of the length that is given beside it or, for a chunk, in its header. What each block below
//! relies on is this contract. Each function is `guarded`.

use crate::code::{BAD_VERSION, DOES_NOT_FIT, FAILED};
use crate::compress::{self, Wishes};
use crate::environment::{self, Arguments};
use crate::header::{self, Lengths};
use crate::settings::{BLOCKSIZE, COMPRESSOR, IS_INITIALISED, SPLIT_MODE, THREADS, split_mode};
use crate::{codecs, decompress};
use c_boundary::{guarded, memory};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::Relaxed;

const VERSION: &CStr = c"1.21.6";

#[unsafe(no_mangle)]
extern "C" fn blosc_init() {
    guarded((), || IS_INITIALISED.store(true, Relaxed));
}

#[unsafe(no_mangle)]
extern "C" fn blosc_destroy() {
    let _ = blosc_free_resources();
    guarded((), || IS_INITIALISED.store(false, Relaxed));
}

#[unsafe(no_mangle)]
extern "C" fn blosc_free_resources() -> c_int {
    guarded(FAILED, || {
        if !IS_INITIALISED.load(Relaxed) {
            return FAILED;
        }
        compress::free_resources();
        decompress::free_resources();
        0
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    blosc_init();
    guarded(FAILED, || {
        let asked = Arguments { level: clevel, shuffle: doshuffle, typesize };
        let Arguments { level, shuffle, typesize } = match environment::before_compressing(asked) {
            Ok(arguments) => arguments,
            Err(code) => return code,
        };
        let wishes = Wishes {
            level,
            shuffle,
            typesize,
            codec: COMPRESSOR.get(),
            blocksize: BLOCKSIZE.get(),
            split: split_mode(),
            threads: THREADS.get(),
        };
        // SAFETY: the contract of this function.
        unsafe { compress_memory(&wishes, nbytes, src, dest, destsize) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_compress_ctx(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    compressor: *const c_char,
    blocksize: usize,
    numinternalthreads: c_int,
) -> c_int {
    guarded(FAILED, || {
        let wishes = Wishes {
            level: clevel,
            shuffle: doshuffle,
            typesize,
            // SAFETY: the contract of this function.
            codec: unsafe { blosc_compname_to_compcode(compressor) },
            blocksize: low_half(blocksize),
            split: split_mode(),
            threads: numinternalthreads,
        };
        // SAFETY: the contract of this function.
        unsafe { compress_memory(&wishes, nbytes, src, dest, destsize) }
    })
}

/// # Safety
/// `src` is NULL or has `nbytes` bytes to read, `dest` is NULL or has `destsize` to write.
unsafe fn compress_memory(
    wishes: &Wishes,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    if nbytes > header::MAX_NBYTES || destsize < header::LEN {
        return DOES_NOT_FIT;
    }
    // No more is touched than the longest chunk can need, whatever length is claimed.
    let room = destsize.min(nbytes + header::LEN);
    if memory::overlap(src, nbytes, dest, room) {
        return FAILED;
    }
    // SAFETY: the caller promises so many bytes, and they do not overlap with the output.
    let src = unsafe { memory::input(src, nbytes) };
    // SAFETY: the caller promises as many bytes or more, and they do not overlap with the input.
    let dest = unsafe { memory::output(dest, room) };
    match (src, dest) {
        (Some(src), Some(dest)) => compress::compress(wishes, src, dest),
        _ => FAILED,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    blosc_init();
    guarded(FAILED, || {
        environment::before_decompressing();
        // SAFETY: the contract of this function.
        unsafe { decompress_memory(src, dest, destsize, THREADS.get()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    numinternalthreads: c_int,
) -> c_int {
    // SAFETY: the contract of this function.
    guarded(FAILED, || unsafe { decompress_memory(src, dest, destsize, numinternalthreads) })
}

/// # Safety
/// `src` is NULL or a chunk, `dest` is NULL or has `destsize` bytes to write.
unsafe fn decompress_memory(src: *const c_void, dest: *mut c_void, destsize: usize, threads: c_int) -> c_int {
    // SAFETY: a chunk has a header.
    let Some(header) = (unsafe { header::read(src) }) else { return FAILED };
    let Lengths { nbytes, cbytes } = match header.check() {
        Ok(lengths) => lengths,
        Err(BAD_VERSION) if !header.is_known() => return FAILED,
        Err(code) => return code,
    };
    if nbytes == 0 {
        return 0;
    }
    if nbytes > destsize || isize::try_from(destsize).is_err() || memory::overlap(src, cbytes, dest, nbytes) {
        return FAILED;
    }
    // SAFETY: the chunk has as many bytes as its header says.
    let chunk = unsafe { memory::input(src, cbytes) };
    // SAFETY: these are no more than `destsize`, and do not overlap with the chunk.
    let dest = unsafe { memory::output(dest, nbytes) };
    match (chunk, dest) {
        (Some(chunk), Some(dest)) => decompress::decompress(&header, chunk, dest, threads),
        _ => FAILED,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_getitem(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int {
    // SAFETY: the contract of this function.
    guarded(FAILED, || unsafe { items_from_memory(src, start, nitems, dest) })
}

/// # Safety
/// `src` is NULL or a chunk, `dest` is NULL or has room for `nitems` of its items.
unsafe fn items_from_memory(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int {
    // SAFETY: a chunk has a header.
    let Some(header) = (unsafe { header::read(src) }) else { return FAILED };
    let Lengths { nbytes, cbytes } = match header.check() {
        Ok(lengths) => lengths,
        Err(code) => return code,
    };
    let (Ok(start), Ok(nitems)) = (usize::try_from(start), usize::try_from(nitems)) else { return FAILED };
    let (Some(start), Some(len)) = (start.checked_mul(header.typesize()), nitems.checked_mul(header.typesize())) else {
        return FAILED;
    };
    let is_inside = nbytes > 0 && start.checked_add(len).is_some_and(|end| end <= nbytes);
    if !is_inside || memory::overlap(src, cbytes, dest, len) {
        return FAILED;
    }
    // SAFETY: the chunk has as many bytes as its header says.
    let chunk = unsafe { memory::input(src, cbytes) };
    // SAFETY: that is the length of the items, and they do not overlap with the chunk.
    let dest = unsafe { memory::output(dest, len) };
    match (chunk, dest) {
        (Some(chunk), Some(dest)) => decompress::part(&header, chunk, start, dest),
        _ => FAILED,
    }
}

#[unsafe(no_mangle)]
extern "C" fn blosc_get_nthreads() -> c_int {
    guarded(FAILED, || THREADS.get())
}

#[unsafe(no_mangle)]
extern "C" fn blosc_set_nthreads(nthreads: c_int) -> c_int {
    blosc_init();
    guarded(FAILED, || THREADS.set(nthreads))
}

#[unsafe(no_mangle)]
extern "C" fn blosc_get_compressor() -> *const c_char {
    guarded(null(), || codecs::by_number(COMPRESSOR.get()).map_or(null(), |entry| entry.name.as_ptr()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_set_compressor(compname: *const c_char) -> c_int {
    blosc_init();
    guarded(FAILED, || {
        // SAFETY: the contract of this function.
        let number = unsafe { blosc_compname_to_compcode(compname) };
        COMPRESSOR.set(number);
        number
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    guarded(FAILED, || {
        let entry = codecs::by_number(compcode);
        // SAFETY: the contract of this function.
        unsafe { memory::store(compname, entry.map_or(null(), |entry| entry.name.as_ptr())) };
        if entry.is_some_and(codecs::Entry::is_there) { compcode } else { FAILED }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_compname_to_compcode(compname: *const c_char) -> c_int {
    guarded(FAILED, || {
        // SAFETY: the contract of this function.
        let name = unsafe { memory::text(compname) };
        name.and_then(codecs::number_of).unwrap_or(FAILED)
    })
}

#[unsafe(no_mangle)]
extern "C" fn blosc_list_compressors() -> *const c_char {
    guarded(null(), || codecs::LIST.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn blosc_get_version_string() -> *const c_char {
    guarded(null(), || VERSION.as_ptr())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    guarded(FAILED, || {
        // SAFETY: the contract of this function.
        let name = unsafe { memory::text(compname) };
        let entry = name.and_then(codecs::number_of).and_then(codecs::by_number);
        let copy = |text: &CStr, place: *mut *mut c_char| {
            let copied = if entry.is_some() && !place.is_null() { memory::copy_for_c(text) } else { null_mut() };
            // SAFETY: the contract of this function.
            unsafe { memory::store(place, copied) };
        };
        copy(entry.map_or(c"", |entry| entry.library), complib);
        copy(codecs::VERSION, version);
        entry.map_or(FAILED, codecs::Entry::library_number)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    guarded((), || {
        // SAFETY: the contract of this function.
        let sizes = unsafe { header::read(cbuffer) }.map(|header| header.sizes()).unwrap_or_default();
        // SAFETY: the contract of this function.
        unsafe { memory::store(nbytes, sizes.nbytes) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(cbytes, sizes.cbytes) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(blocksize, sizes.blocksize) };
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_cbuffer_validate(cbuffer: *const c_void, cbytes: usize, nbytes: *mut usize) -> c_int {
    guarded(FAILED, || {
        if cbytes < header::LEN {
            return FAILED;
        }
        // SAFETY: as many bytes as a header has are there.
        let Some(header) = (unsafe { header::read(cbuffer) }) else { return FAILED };
        let (is_valid, found) = header.validate(cbytes);
        // SAFETY: the contract of this function.
        unsafe { memory::store(nbytes, found) };
        if is_valid { 0 } else { FAILED }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_cbuffer_metainfo(cbuffer: *const c_void, typesize: *mut usize, flags: *mut c_int) {
    guarded((), || {
        // SAFETY: the contract of this function.
        let found = unsafe { header::read(cbuffer) }.map(|header| header.type_and_flags()).unwrap_or_default();
        // SAFETY: the contract of this function.
        unsafe { memory::store(typesize, found.0) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(flags, found.1) };
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_cbuffer_versions(cbuffer: *const c_void, version: *mut c_int, versionlz: *mut c_int) {
    guarded((), || {
        // SAFETY: the contract of this function.
        let found = unsafe { header::read(cbuffer) }.map(|header| (header.version, header.codec_version));
        let (of_chunk, of_codec) = found.unwrap_or_default();
        // SAFETY: the contract of this function.
        unsafe { memory::store(version, of_chunk.into()) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(versionlz, of_codec.into()) };
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    guarded(null(), || {
        // SAFETY: the contract of this function.
        let format = unsafe { header::read(cbuffer) }.map(|header| header.format());
        format.and_then(codecs::by_format).map_or(null(), |entry| entry.library.as_ptr())
    })
}

#[unsafe(no_mangle)]
extern "C" fn blosc_get_blocksize() -> c_int {
    guarded(FAILED, || BLOCKSIZE.get())
}

#[unsafe(no_mangle)]
extern "C" fn blosc_set_blocksize(blocksize: usize) {
    guarded((), || {
        BLOCKSIZE.set(low_half(blocksize));
    });
}

#[unsafe(no_mangle)]
extern "C" fn blosc_set_splitmode(splitmode: c_int) {
    guarded((), || {
        SPLIT_MODE.set(splitmode);
    });
}

/// A size as C keeps it: what does not fit into an `int` is cut off.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "C does the same")]
fn low_half(size: usize) -> c_int {
    size as c_int
}
