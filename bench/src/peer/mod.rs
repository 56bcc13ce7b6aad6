//! The C libraries, loaded when the program runs: C-Blosc2 here, C-Blosc in `blosc1`.

mod array;
mod blosc1;
mod chunks;
mod frame;

pub(crate) use array::{Cut, PeerArray};
pub(crate) use blosc1::Blosc1;

use libloading::Library;
use std::ffi::{c_int, c_void};
use std::path::Path;

/// The parameters of compression, as `blosc2.h` of C-Blosc2 3.3 lays them out.
#[repr(C)]
#[derive(Clone)]
struct CParams {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    prefilter: *const c_void,
    preparams: *mut c_void,
    tuner_params: *mut c_void,
    tuner_id: c_int,
    instr_codec: bool,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; 6],
}

impl CParams {
    fn new(params: Params) -> Self {
        let null = std::ptr::null_mut();
        Self {
            compcode: params.codec,
            compcode_meta: 0,
            clevel: params.level,
            use_dict: 0,
            typesize: int(params.typesize),
            nthreads: params.threads,
            blocksize: 0,
            splitmode: 4,
            schunk: null,
            filters: [0, 0, 0, 0, 0, params.filter],
            filters_meta: [0; 6],
            prefilter: null,
            preparams: null,
            tuner_params: null,
            tuner_id: 0,
            instr_codec: false,
            codec_params: null,
            filter_params: [null; 6],
        }
    }
}

/// The parameters of decompression.
#[repr(C)]
struct DParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *const c_void,
    postparams: *mut c_void,
    typesize: i32,
}

type Context = *mut c_void;
type CreateCompressor = unsafe extern "C" fn(CParams) -> Context;
type CreateDecompressor = unsafe extern "C" fn(DParams) -> Context;
type Compress = unsafe extern "C" fn(Context, *const c_void, i32, *mut c_void, i32) -> c_int;
type GetItem = unsafe extern "C" fn(Context, *const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
type Filter = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;
type Free = unsafe extern "C" fn(Context);

/// What is measured of the library.
pub(crate) struct Peer {
    create_compressor: CreateCompressor,
    create_decompressor: CreateDecompressor,
    compress: Compress,
    decompress: Compress,
    getitem: GetItem,
    free: Free,
    shuffle: Filter,
    unshuffle: Filter,
    bitshuffle: Filter,
    bitunshuffle: Filter,
    frames: frame::Functions,
    arrays: array::Functions,
    version: String,
    /// Keeps the functions above loaded.
    _library: Library,
}

/// What a chunk is compressed with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Params {
    pub(crate) codec: u8,
    pub(crate) level: u8,
    pub(crate) filter: u8,
    pub(crate) typesize: usize,
    pub(crate) threads: i16,
}

impl Peer {
    /// Loads the library at `path`.
    pub(crate) fn load(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the file is a C-Blosc2, whose initialisers only fill tables of its own.
        let library = unsafe { Library::new(path)? };
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type that it is stored as is the one that blosc2.h declares for this
                // name.
                unsafe { *library.get($name)? }
            };
        }
        let version: unsafe extern "C" fn() -> *const std::ffi::c_char = function!(b"blosc2_get_version_string");
        let init: unsafe extern "C" fn() = function!(b"blosc2_init");
        // SAFETY: takes nothing.
        let version = unsafe { version() };
        // SAFETY: the string is part of the library and ends with a zero byte.
        let version = unsafe { std::ffi::CStr::from_ptr(version) }.to_string_lossy().into_owned();
        // SAFETY: takes nothing and may be called once, which this is.
        unsafe { init() };
        Ok(Self {
            create_compressor: function!(b"blosc2_create_cctx"),
            create_decompressor: function!(b"blosc2_create_dctx"),
            compress: function!(b"blosc2_compress_ctx"),
            decompress: function!(b"blosc2_decompress_ctx"),
            getitem: function!(b"blosc2_getitem_ctx"),
            free: function!(b"blosc2_free_ctx"),
            shuffle: function!(b"blosc2_shuffle"),
            unshuffle: function!(b"blosc2_unshuffle"),
            bitshuffle: function!(b"blosc2_bitshuffle"),
            bitunshuffle: function!(b"blosc2_bitunshuffle"),
            frames: frame::Functions::load(&library)?,
            arrays: array::Functions::load(&library)?,
            version,
            _library: library,
        })
    }

    /// Which version the library is.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// A context that compresses.
    pub(crate) fn compressor(&self, params: Params) -> PeerContext<'_> {
        let cparams = CParams::new(params);
        // SAFETY: the structure is laid out as the library declares it, and every pointer in it may
        // be null.
        let context = unsafe { (self.create_compressor)(cparams) };
        PeerContext { peer: self, context }
    }

    /// A context that decompresses.
    pub(crate) fn decompressor(&self, threads: i16) -> PeerContext<'_> {
        let null = std::ptr::null_mut();
        let dparams = DParams { nthreads: threads, schunk: null, postfilter: null, postparams: null, typesize: 0 };
        // SAFETY: the structure is laid out as the library declares it, and every pointer in it may
        // be null.
        let context = unsafe { (self.create_decompressor)(dparams) };
        PeerContext { peer: self, context }
    }

    /// Runs one of its filters; `name` is one of shuffle, unshuffle, bitshuffle and bitunshuffle.
    pub(crate) fn filter(&self, name: &str, typesize: usize, src: &[u8], dst: &mut [u8]) {
        assert_eq!(src.len(), dst.len());
        let filter = match name {
            "shuffle" => self.shuffle,
            "unshuffle" => self.unshuffle,
            "bitshuffle" => self.bitshuffle,
            _ => self.bitunshuffle,
        };
        // SAFETY: both buffers have the length that is given.
        unsafe { filter(int(typesize), int(src.len()), src.as_ptr().cast(), dst.as_mut_ptr().cast()) };
    }
}

/// A context of the library.
pub(crate) struct PeerContext<'p> {
    peer: &'p Peer,
    context: Context,
}

impl PeerContext<'_> {
    /// Compresses `src` into `dst` and returns the length.
    pub(crate) fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        // SAFETY: the context is alive, and both buffers have the lengths that are given.
        let len = unsafe {
            (self.peer.compress)(
                self.context,
                src.as_ptr().cast(),
                int(src.len()),
                dst.as_mut_ptr().cast(),
                int(dst.len()),
            )
        };
        usize::try_from(len).unwrap_or_else(|_| panic!("C-Blosc2 fails to compress: {len}"))
    }

    /// Decompresses `src` into `dst` and returns the length.
    pub(crate) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        // SAFETY: the context is alive, and both buffers have the lengths that are given.
        let len = unsafe {
            (self.peer.decompress)(
                self.context,
                src.as_ptr().cast(),
                int(src.len()),
                dst.as_mut_ptr().cast(),
                int(dst.len()),
            )
        };
        usize::try_from(len).unwrap_or_else(|_| panic!("C-Blosc2 fails to decompress: {len}"))
    }

    /// Decodes items from `start` on, as many as fill `dst`.
    pub(crate) fn items(&mut self, src: &[u8], start: usize, count: usize, dst: &mut [u8]) {
        // SAFETY: the context is alive, and both buffers have the lengths that are given.
        let len = unsafe {
            (self.peer.getitem)(
                self.context,
                src.as_ptr().cast(),
                int(src.len()),
                int(start),
                int(count),
                dst.as_mut_ptr().cast(),
                int(dst.len()),
            )
        };
        assert_eq!(usize::try_from(len), Ok(dst.len()), "C-Blosc2 fails to get items");
    }
}

impl Drop for PeerContext<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is alive, and nobody has it after this.
        unsafe { (self.peer.free)(self.context) };
    }
}

fn int(size: usize) -> i32 {
    i32::try_from(size).expect("sizes here are far below 2 GiB")
}
