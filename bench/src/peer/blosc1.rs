//! A libblosc.so.1, C-Blosc's or ours, loaded when the program runs.

use crate::grid::Case;
use crate::rows::chunks::ChunkLibrary;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

type Compress = unsafe extern "C" fn(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, *mut c_void, usize) -> c_int;
type CompressCtx = unsafe extern "C" fn(
    c_int,
    c_int,
    usize,
    usize,
    *const c_void,
    *mut c_void,
    usize,
    *const c_char,
    usize,
    c_int,
) -> c_int;
type DecompressCtx = unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int) -> c_int;
type SetCompressor = unsafe extern "C" fn(*const c_char) -> c_int;
type SetThreads = unsafe extern "C" fn(c_int) -> c_int;

/// What is measured of the library: the functions that keep their memory from call to call, and
/// those that are told everything.
pub(crate) struct Blosc1 {
    compress: Compress,
    decompress: Decompress,
    compress_ctx: CompressCtx,
    decompress_ctx: DecompressCtx,
    set_compressor: SetCompressor,
    set_threads: SetThreads,
    version: String,
    /// Keeps the functions above loaded.
    _library: Library,
}

impl Blosc1 {
    /// Loads the library at `path`.
    pub(crate) fn load(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the file is a libblosc, whose initialisers only fill tables of its own.
        let library = unsafe { Library::new(path)? };
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type that it is stored as is the one that blosc.h declares for this
                // name.
                unsafe { *library.get($name)? }
            };
        }
        let version: unsafe extern "C" fn() -> *const c_char = function!(b"blosc_get_version_string");
        let init: unsafe extern "C" fn() = function!(b"blosc_init");
        // SAFETY: takes nothing.
        let version = unsafe { version() };
        // SAFETY: the string is part of the library and ends with a zero byte.
        let version = unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned();
        // SAFETY: takes nothing, and does nothing if it was called before.
        unsafe { init() };
        Ok(Self {
            compress: function!(b"blosc_compress"),
            decompress: function!(b"blosc_decompress"),
            compress_ctx: function!(b"blosc_compress_ctx"),
            decompress_ctx: function!(b"blosc_decompress_ctx"),
            set_compressor: function!(b"blosc_set_compressor"),
            set_threads: function!(b"blosc_set_nthreads"),
            version,
            _library: library,
        })
    }

    /// Which version the library is.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// The library set up for a configuration. It has one state for the whole process, and so one
    /// user at a time.
    pub(crate) fn configured(&mut self, case: Case, typesize: usize) -> Configured<'_> {
        let codec = name(case);
        // SAFETY: the string ends with a zero byte and is only looked at.
        let is_known = unsafe { (self.set_compressor)(codec.as_ptr()) } >= 0;
        assert!(is_known, "libblosc has no {}", case.codec);
        // SAFETY: takes a number.
        unsafe { (self.set_threads)(case.threads.into()) };
        Configured { library: self, case, typesize }
    }

    /// The functions without a state, for a configuration.
    pub(crate) fn context(&self, case: Case, typesize: usize) -> Context<'_> {
        Context { library: self, codec: name(case), case, typesize }
    }
}

fn name(case: Case) -> CString {
    CString::new(case.codec).expect("a name without zeros")
}

fn shuffle(case: Case) -> c_int {
    match case.filter {
        "shuffle" => 1,
        "bitshuffle" => 2,
        _ => 0,
    }
}

/// The length that was returned, of a chunk.
fn packed(len: c_int) -> usize {
    usize::try_from(len).ok().filter(|&len| len > 0).unwrap_or_else(|| panic!("libblosc fails to compress: {len}"))
}

/// The library in one configuration.
pub(crate) struct Configured<'l> {
    library: &'l Blosc1,
    case: Case,
    typesize: usize,
}

impl ChunkLibrary for Configured<'_> {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        let (level, shuffle) = (self.case.level.into(), shuffle(self.case));
        let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
        // SAFETY: both buffers have the lengths that are given.
        packed(unsafe { (self.library.compress)(level, shuffle, self.typesize, src.len(), from, to, dst.len()) })
    }

    fn decompress(&mut self, src: &[u8], dst: &mut [u8]) {
        // SAFETY: `src` is a chunk that a libblosc wrote, and `dst` has the length that is given.
        let len = unsafe { (self.library.decompress)(src.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len()) };
        assert_eq!(usize::try_from(len), Ok(dst.len()), "libblosc fails to decompress");
    }
}

/// The functions without a state, with what they are told.
pub(crate) struct Context<'l> {
    library: &'l Blosc1,
    codec: CString,
    case: Case,
    typesize: usize,
}

impl ChunkLibrary for Context<'_> {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        let (level, shuffle, threads) = (self.case.level.into(), shuffle(self.case), self.case.threads.into());
        let (from, to, codec) = (src.as_ptr().cast(), dst.as_mut_ptr().cast(), self.codec.as_ptr());
        let (typesize, len) = (self.typesize, src.len());
        // SAFETY: both buffers have the lengths that are given, and the name is a string.
        packed(unsafe {
            (self.library.compress_ctx)(level, shuffle, typesize, len, from, to, dst.len(), codec, 0, threads)
        })
    }

    fn decompress(&mut self, src: &[u8], dst: &mut [u8]) {
        let (from, to, threads) = (src.as_ptr().cast(), dst.as_mut_ptr().cast(), self.case.threads.into());
        // SAFETY: `src` is a chunk that a libblosc wrote, and `dst` has the length that is given.
        let len = unsafe { (self.library.decompress_ctx)(from, to, dst.len(), threads) };
        assert_eq!(usize::try_from(len), Ok(dst.len()), "libblosc fails to decompress");
    }
}
