//! The functions, each with the type that blosc.h gives it, and around them what tests need of
//! them.

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

/// Every codec that Blosc1 has.
pub const CODECS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// A library.
        #[allow(missing_docs, reason = "blosc.h describes the functions")]
        pub struct Blosc {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            path: PathBuf,
            _library: Library,
        }

        impl Blosc {
            /// The names of all functions.
            pub const NAMES: &[&str] = &[$(concat!("blosc_", stringify!($name))),*];

            /// Loads a library that has all functions.
            ///
            /// # Panics
            /// If it is not there, or has not all of them.
            #[must_use]
            pub fn load(path: &Path) -> Self {
                // SAFETY: it is a libblosc, which does nothing when it is loaded.
                let library = unsafe { Library::new(path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                Self {
                    $($name: {
                        let name = concat!("blosc_", stringify!($name));
                        // SAFETY: the type is the one that blosc.h declares.
                        *unsafe { library.get(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
                    },)*
                    path: path.to_owned(),
                    _library: library,
                }
            }
        }
    };
}

functions! {
    init: fn();
    destroy: fn();
    free_resources: fn() -> c_int;
    compress: fn(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
    compress_ctx: fn(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize, *const c_char, usize, c_int) -> c_int;
    decompress: fn(*const c_void, *mut c_void, usize) -> c_int;
    decompress_ctx: fn(*const c_void, *mut c_void, usize, c_int) -> c_int;
    getitem: fn(*const c_void, c_int, c_int, *mut c_void) -> c_int;
    get_nthreads: fn() -> c_int;
    set_nthreads: fn(c_int) -> c_int;
    get_compressor: fn() -> *const c_char;
    set_compressor: fn(*const c_char) -> c_int;
    compcode_to_compname: fn(c_int, *mut *const c_char) -> c_int;
    compname_to_compcode: fn(*const c_char) -> c_int;
    list_compressors: fn() -> *const c_char;
    get_version_string: fn() -> *const c_char;
    get_complib_info: fn(*const c_char, *mut *mut c_char, *mut *mut c_char) -> c_int;
    cbuffer_sizes: fn(*const c_void, *mut usize, *mut usize, *mut usize);
    cbuffer_validate: fn(*const c_void, usize, *mut usize) -> c_int;
    cbuffer_metainfo: fn(*const c_void, *mut usize, *mut c_int);
    cbuffer_versions: fn(*const c_void, *mut c_int, *mut c_int);
    cbuffer_complib: fn(*const c_void) -> *const c_char;
    get_blocksize: fn() -> c_int;
    set_blocksize: fn(usize);
    set_splitmode: fn(c_int);
}

/// What a header says of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "blosc.h describes them")]
pub struct Sizes {
    pub nbytes: usize,
    pub cbytes: usize,
    pub blocksize: usize,
}

/// Typesize and flags, the versions of chunk and codec, the library of the codec, whether the
/// length is right and that of the data.
pub type Description = ((usize, c_int), (c_int, c_int), Option<String>, (c_int, usize));

/// What is behind a chunk or an output must not be touched.
const FENCE: [u8; 64] = [0xA5; 64];

#[allow(clippy::missing_panics_doc, reason = "they are assertions of tests")]
impl Blosc {
    /// The file it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the library has a codec.
    pub fn has(&self, codec: &str) -> bool {
        let name = CString::new(codec).expect("a name");
        // SAFETY: a string.
        unsafe { (self.compname_to_compcode)(name.as_ptr()) >= 0 }
    }

    /// Sets the codec.
    pub fn set_codec(&self, codec: &str) -> c_int {
        let name = CString::new(codec).expect("a name");
        // SAFETY: a string.
        unsafe { (self.set_compressor)(name.as_ptr()) }
    }

    /// Compresses with the settings, to an output of `room` bytes: the chunk, or a code.
    pub fn chunk(
        &self,
        level: c_int,
        shuffle: c_int,
        typesize: usize,
        data: &[u8],
        room: usize,
    ) -> Result<Vec<u8>, c_int> {
        into_vec(room, |out| {
            // SAFETY: both pieces of memory are as long as is said.
            unsafe { (self.compress)(level, shuffle, typesize, data.len(), data.as_ptr().cast(), out, room) }
        })
    }

    /// Compresses without settings: the chunk, or a code.
    #[allow(clippy::too_many_arguments, reason = "as many as C has")]
    pub fn chunk_ctx(
        &self,
        level: c_int,
        shuffle: c_int,
        typesize: usize,
        data: &[u8],
        room: usize,
        codec: &str,
        blocksize: usize,
        threads: c_int,
    ) -> Result<Vec<u8>, c_int> {
        let name = CString::new(codec).expect("a name");
        into_vec(room, |out| {
            let (src, name) = (data.as_ptr().cast(), name.as_ptr());
            // SAFETY: both pieces of memory are as long as is said, and the name is a string.
            unsafe {
                (self.compress_ctx)(level, shuffle, typesize, data.len(), src, out, room, name, blocksize, threads)
            }
        })
    }

    /// Decompresses to an output of `room` bytes: the data, or a code.
    pub fn data(&self, chunk: &[u8], room: usize) -> Result<Vec<u8>, c_int> {
        // SAFETY: whoever damages a chunk for a test leaves its length right; the output is as long
        // as is said.
        into_vec(room, |out| unsafe { (self.decompress)(chunk.as_ptr().cast(), out, room) })
    }

    /// The same without settings.
    pub fn data_ctx(&self, chunk: &[u8], room: usize, threads: c_int) -> Result<Vec<u8>, c_int> {
        // SAFETY: as above.
        into_vec(room, |out| unsafe { (self.decompress_ctx)(chunk.as_ptr().cast(), out, room, threads) })
    }

    /// Items, with room for `room` bytes of them: their bytes, or a code.
    pub fn items(&self, chunk: &[u8], start: c_int, count: c_int, room: usize) -> Result<Vec<u8>, c_int> {
        // SAFETY: as above; whoever asks says how much room the items need.
        into_vec(room, |out| unsafe { (self.getitem)(chunk.as_ptr().cast(), start, count, out) })
    }

    /// The sizes that the header says.
    pub fn sizes(&self, chunk: &[u8]) -> Sizes {
        assert!(chunk.len() >= 16);
        let mut sizes = Sizes { nbytes: 77, cbytes: 77, blocksize: 77 };
        let Sizes { nbytes, cbytes, blocksize } = &mut sizes;
        // SAFETY: there is a header, and three numbers that can be written to.
        unsafe { (self.cbuffer_sizes)(chunk.as_ptr().cast(), nbytes, cbytes, blocksize) };
        sizes
    }

    /// Everything else that is told of a header: typesize and flags, versions, library, whether the
    /// length is right.
    pub fn description(&self, chunk: &[u8]) -> Description {
        assert!(chunk.len() >= 16);
        let src = chunk.as_ptr().cast();
        let (mut typesize, mut flags, mut version, mut of_codec, mut nbytes) = (77, 77, 77, 77, 77);
        // SAFETY: there is a header, and two numbers that can be written to.
        unsafe { (self.cbuffer_metainfo)(src, &raw mut typesize, &raw mut flags) };
        // SAFETY: the same.
        unsafe { (self.cbuffer_versions)(src, &raw mut version, &raw mut of_codec) };
        // SAFETY: there is a header.
        let library = text(unsafe { (self.cbuffer_complib)(src) });
        // SAFETY: there is a header, and a number that can be written to.
        let valid = unsafe { (self.cbuffer_validate)(src, chunk.len(), &raw mut nbytes) };
        ((typesize, flags), (version, of_codec), library, (valid, nbytes))
    }

    /// The codec that is set.
    pub fn codec(&self) -> Option<String> {
        // SAFETY: takes nothing.
        text(unsafe { (self.get_compressor)() })
    }
}

/// A string of C's, if it is one.
fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the library returns NULL or a string that stays.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// What `write` puts into memory of `room` bytes; a code if it returns one. Nothing may be written
/// behind these.
fn into_vec(room: usize, write: impl FnOnce(*mut c_void) -> c_int) -> Result<Vec<u8>, c_int> {
    let mut out = vec![0xCD; room];
    out.extend_from_slice(&FENCE);
    let len = write(out.as_mut_ptr().cast());
    assert_eq!(out[room..], FENCE, "written behind the output");
    match usize::try_from(len) {
        Ok(0) | Err(_) => Err(len),
        Ok(len) => {
            assert!(len <= room, "{len} bytes in {room}");
            out.truncate(len);
            Ok(out)
        }
    }
}
