//! Functions without a context: they use what is set for the process.

use crate::code::{self, FAILURE, INVALID_PARAM, MAX_BUFSIZE_EXCEEDED, Outcome, flat};
use crate::context::{Context, PANICKED};
use crate::process::environment::{self, Arguments};
use crate::process::settings::{self, BLOCKSIZE, COMPRESSOR, DELTA, IS_INITIALISED, SPLIT_MODE, THREADS};
use crate::structs::{Dparams, ThreadsFn};
use crate::{codecs, decompress, defaults};
use blosc_oxide::Format;
use c_boundary::{Idle, guarded, memory};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;
use std::sync::atomic::Ordering::Relaxed;

const VERSION: &CStr = c"3.3.5";
/// No chunk is shorter.
const MIN_DESTSIZE: usize = 32;
/// A typesize that a header has no place for counts as 1.
const MAX_TYPESIZE: usize = 255;

static WRITERS: Idle<Context> = Idle::new();
static READERS: Idle<Context> = Idle::new();

#[unsafe(no_mangle)]
extern "C" fn blosc2_init() {
    IS_INITIALISED.store(true, Relaxed);
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_destroy() {
    let _ = blosc2_free_resources();
    IS_INITIALISED.store(false, Relaxed);
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_free_resources() -> c_int {
    if !IS_INITIALISED.load(Relaxed) {
        return FAILURE;
    }
    guarded(PANICKED, || {
        WRITERS.clear();
        READERS.clear();
        0
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    let typesize = if typesize > MAX_TYPESIZE { 1 } else { i32::try_from(typesize).unwrap_or(1) };
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { compress(clevel, doshuffle, typesize, (src, nbytes), (dest, destsize)) }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: i32,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    let (Ok(srcsize), Ok(destsize)) = (usize::try_from(srcsize), usize::try_from(destsize)) else {
        return INVALID_PARAM;
    };
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { compress(clevel, doshuffle, typesize, (src, srcsize), (dest, destsize)) }))
}

/// # Safety
/// `src` and `dest` are NULL or of the lengths beside them.
unsafe fn compress(
    level: c_int,
    shuffle: c_int,
    typesize: i32,
    (src, srcsize): (*const c_void, usize),
    (dest, destsize): (*mut c_void, usize),
) -> Outcome<c_int> {
    blosc2_init();
    let Arguments { level, shuffle, typesize } =
        environment::before_compressing(Arguments { level, shuffle, typesize })?;
    if destsize < MIN_DESTSIZE || srcsize > blosc_oxide::limits::MAX_NBYTES {
        return Err(MAX_BUFSIZE_EXCEEDED);
    }
    // No more is touched than the longest chunk can need, whatever length is claimed.
    let room = destsize.min(srcsize + MIN_DESTSIZE);
    if memory::overlap(src, srcsize, dest, room) {
        return Err(INVALID_PARAM);
    }
    // SAFETY: the caller promises so many bytes, and they do not overlap with the output.
    let src = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    // SAFETY: the caller promises as many bytes or more, and they do not overlap with the input.
    let dest = unsafe { memory::output(dest, room) }.ok_or(INVALID_PARAM)?;
    let cparams = settings::cparams(level, shuffle, typesize);
    let mut writer = WRITERS.take().unwrap_or_else(|| Box::new(Context::to_compress(cparams, None)));
    writer.set_cparams(cparams);
    writer.format = if environment::wants_blosc1() { Format::Blosc1 } else { Format::Blosc2 };
    let len = writer.compress(src, dest);
    WRITERS.leave(writer);
    len
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    // SAFETY: a chunk is as long as its header says.
    let srcsize = unsafe { chunk_len(src) };
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        flat(srcsize.and_then(|srcsize| unsafe { decompress((src, srcsize), (dest, destsize)) }))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_decompress(src: *const c_void, srcsize: i32, dest: *mut c_void, destsize: i32) -> c_int {
    let (Ok(srcsize), Ok(destsize)) = (usize::try_from(srcsize), usize::try_from(destsize)) else {
        return INVALID_PARAM;
    };
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { decompress((src, srcsize), (dest, destsize)) }))
}

/// The length of a chunk by its header.
///
/// # Safety
/// `chunk` is NULL or a chunk.
pub(crate) unsafe fn chunk_len(chunk: *const c_void) -> Outcome<usize> {
    // SAFETY: every chunk has 16 bytes.
    let start: [u8; 16] = unsafe { memory::start(chunk) }.ok_or(INVALID_PARAM)?;
    let [.., c0, c1, c2, c3] = start;
    usize::try_from(i32::from_le_bytes([c0, c1, c2, c3])).map_err(|_| code::INVALID_HEADER)
}

/// # Safety
/// `src` and `dest` are NULL or of the lengths beside them.
unsafe fn decompress((src, srcsize): (*const c_void, usize), (dest, destsize): (*mut c_void, usize)) -> Outcome<c_int> {
    blosc2_init();
    environment::before_decompressing();
    // SAFETY: the caller promises so many bytes.
    let chunk = unsafe { memory::input(src, srcsize) }.ok_or(INVALID_PARAM)?;
    let room = destsize.min(decompress::header(chunk)?.nbytes());
    if memory::overlap(src, srcsize, dest, room) {
        return Err(INVALID_PARAM);
    }
    // SAFETY: these are no more than `destsize`, and do not overlap with the chunk.
    let dest = unsafe { memory::output(dest, room) }.ok_or(INVALID_PARAM)?;
    let mut reader = reader();
    let len = reader.decompress(chunk, dest);
    READERS.leave(reader);
    len
}

/// A context for the settings of the process.
fn reader() -> Box<Context> {
    let mut reader = READERS.take().unwrap_or_else(|| Box::new(Context::to_decompress(defaults::DPARAMS, None)));
    reader.dparams = Dparams { nthreads: i16::try_from(THREADS.get()).unwrap_or(1), ..defaults::DPARAMS };
    reader
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_getitem(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int {
    // SAFETY: a chunk is as long as its header says.
    let srcsize = unsafe { chunk_len(src) };
    guarded(PANICKED, || {
        // SAFETY: the contract of this function: there is room for the items.
        flat(srcsize.and_then(|srcsize| unsafe { items((src, srcsize), start, nitems, (dest, usize::MAX)) }))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_getitem(
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    let (Ok(srcsize), Ok(destsize)) = (usize::try_from(srcsize), usize::try_from(destsize)) else {
        return INVALID_PARAM;
    };
    // SAFETY: the contract of this function.
    guarded(PANICKED, || flat(unsafe { items((src, srcsize), start, nitems, (dest, destsize)) }))
}

/// # Safety
/// As for `super::contexts::items`.
unsafe fn items(
    src: (*const c_void, usize),
    start: c_int,
    nitems: c_int,
    dest: (*mut c_void, usize),
) -> Outcome<c_int> {
    let mut reader = reader();
    // SAFETY: the caller promises it.
    let len = unsafe { super::contexts::items(&mut reader, src, (start, nitems), None, dest) };
    READERS.leave(reader);
    len
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_nthreads() -> i16 {
    i16::try_from(THREADS.get()).unwrap_or(i16::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_set_nthreads(nthreads: i16) -> i16 {
    const REFUSED: i16 = -12;
    blosc2_init();
    if nthreads <= 0 {
        return REFUSED;
    }
    i16::try_from(THREADS.set(nthreads.into())).unwrap_or(i16::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_set_threads_callback(callback: Option<ThreadsFn>, callback_data: *mut c_void) {
    settings::set_program_threads(callback, callback_data);
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_get_compressor() -> *const c_char {
    codecs::name_of(COMPRESSOR.get()).0.map_or(null(), CStr::as_ptr)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_set_compressor(compname: *const c_char) -> c_int {
    blosc2_init();
    // SAFETY: the contract of this function.
    let number = unsafe { memory::text(compname) }.map_or(-1, codecs::number_of);
    COMPRESSOR.set(number);
    number
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_set_delta(dodelta: c_int) {
    DELTA.set(dodelta);
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_get_blocksize() -> c_int {
    BLOCKSIZE.get()
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_set_blocksize(blocksize: usize) {
    BLOCKSIZE.set(c_int::try_from(blocksize).unwrap_or(c_int::MAX));
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_set_splitmode(splitmode: c_int) {
    SPLIT_MODE.set(splitmode);
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_version_string() -> *const c_char {
    VERSION.as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_list_compressors() -> *const c_char {
    codecs::LIST.as_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compname_to_compcode(compname: *const c_char) -> c_int {
    // SAFETY: the contract of this function.
    unsafe { memory::text(compname) }.map_or(-1, codecs::number_of)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    let (name, code) = codecs::name_of(compcode);
    // SAFETY: the contract of this function.
    unsafe { memory::store(compname, name.map_or(null(), CStr::as_ptr)) };
    code
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    // SAFETY: the contract of this function.
    let Some((library, its_version, number)) = unsafe { memory::text(compname) }.and_then(codecs::library_of) else {
        return -1;
    };
    for (place, text) in [(complib, library), (version, its_version)] {
        if !place.is_null() {
            // SAFETY: the contract of this function.
            unsafe { memory::store(place, memory::copy_for_c(text)) };
        }
    }
    number
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_error_string(error_code: c_int) -> *const c_char {
    code::text(error_code).as_ptr()
}
