//! C-Blosc 1.21, loaded when the program runs.

use crate::grid::Case;
use crate::rows::chunks::ChunkLibrary;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

type Compress = unsafe extern "C" fn(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
type Decompress = unsafe extern "C" fn(*const c_void, *mut c_void, usize) -> c_int;
type SetCompressor = unsafe extern "C" fn(*const c_char) -> c_int;
type SetThreads = unsafe extern "C" fn(c_int) -> c_int;

/// What is measured of the library: the functions that keep their memory from call to call, as ours do.
pub(crate) struct Blosc1 {
    compress: Compress,
    decompress: Decompress,
    set_compressor: SetCompressor,
    set_threads: SetThreads,
    version: String,
    /// Keeps the functions above loaded.
    _library: Library,
}

impl Blosc1 {
    /// Loads the library at `path`.
    pub(crate) fn load(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the file is a C-Blosc, whose initialisers only fill tables of its own.
        let library = unsafe { Library::new(path)? };
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type that it is stored as is the one that blosc.h declares for this name.
                unsafe { *library.get($name)? }
            };
        }
        let version: unsafe extern "C" fn() -> *const c_char = function!(b"blosc_get_version_string");
        let init: unsafe extern "C" fn() = function!(b"blosc_init");
        // SAFETY: takes nothing.
        let version = unsafe { version() };
        // SAFETY: the string is part of the library and ends with a zero byte.
        let version = unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned();
        // SAFETY: takes nothing and may be called once, which this is.
        unsafe { init() };
        Ok(Self {
            compress: function!(b"blosc_compress"),
            decompress: function!(b"blosc_decompress"),
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

    /// The library set up for a configuration. It has one state for the whole process, and so one user at a time.
    pub(crate) fn configured(&mut self, case: Case, typesize: usize) -> Configured<'_> {
        let codec = CString::new(case.codec).expect("a name without zeros");
        // SAFETY: the string ends with a zero byte and is only looked at.
        let is_known = unsafe { (self.set_compressor)(codec.as_ptr()) } >= 0;
        assert!(is_known, "C-Blosc has no {}", case.codec);
        // SAFETY: takes a number.
        unsafe { (self.set_threads)(case.threads.into()) };
        Configured { library: self, case, typesize }
    }
}

/// The library in one configuration.
pub(crate) struct Configured<'l> {
    library: &'l Blosc1,
    case: Case,
    typesize: usize,
}

impl ChunkLibrary for Configured<'_> {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        let shuffle = match self.case.filter {
            "shuffle" => 1,
            "bitshuffle" => 2,
            _ => 0,
        };
        let level = self.case.level.into();
        // SAFETY: both buffers have the lengths that are given.
        let len = unsafe {
            (self.library.compress)(
                level,
                shuffle,
                self.typesize,
                src.len(),
                src.as_ptr().cast(),
                dst.as_mut_ptr().cast(),
                dst.len(),
            )
        };
        usize::try_from(len).ok().filter(|&len| len > 0).unwrap_or_else(|| panic!("C-Blosc fails to compress: {len}"))
    }

    fn decompress(&mut self, src: &[u8], dst: &mut [u8]) {
        // SAFETY: `src` is a chunk that the library wrote, and `dst` has the length that is given.
        let len = unsafe { (self.library.decompress)(src.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len()) };
        assert_eq!(usize::try_from(len), Ok(dst.len()), "C-Blosc fails to decompress");
    }
}
