//! The structs that C programs read and write, of the sizes and with the offsets of SONAME 9.

use crate::context::Context;
use crate::frame::Frame;
use std::ffi::{c_char, c_int, c_void};
use std::mem::{offset_of, size_of};

pub(crate) const MAX_FILTERS: usize = 6;
pub(crate) const MAX_METALAYERS: usize = 16;
pub(crate) const MAX_VLMETALAYERS: usize = 8192;
pub(crate) const MAX_DIM: usize = 16;

pub(crate) type PrefilterFn = unsafe extern "C" fn(*mut PrefilterParams) -> c_int;
pub(crate) type PostfilterFn = unsafe extern "C" fn(*mut PostfilterParams) -> c_int;
pub(crate) type EncoderFn =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut Cparams, *const c_void) -> c_int;
pub(crate) type DecoderFn =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut Dparams, *const c_void) -> c_int;
pub(crate) type ForwardFn = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut Cparams, u8) -> c_int;
pub(crate) type BackwardFn = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut Dparams, u8) -> c_int;
pub(crate) type DoJob = unsafe extern "C" fn(*mut c_void);
pub(crate) type ThreadsFn = unsafe extern "C" fn(*mut c_void, DoJob, c_int, usize, *mut c_void);

/// `blosc2_cparams`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Cparams {
    pub(crate) compcode: u8,
    pub(crate) compcode_meta: u8,
    pub(crate) clevel: u8,
    pub(crate) use_dict: c_int,
    pub(crate) typesize: i32,
    pub(crate) nthreads: i16,
    pub(crate) blocksize: i32,
    pub(crate) splitmode: i32,
    pub(crate) schunk: *mut c_void,
    pub(crate) filters: [u8; MAX_FILTERS],
    pub(crate) filters_meta: [u8; MAX_FILTERS],
    pub(crate) prefilter: Option<PrefilterFn>,
    pub(crate) preparams: *mut PrefilterParams,
    pub(crate) tuner_params: *mut c_void,
    pub(crate) tuner_id: c_int,
    pub(crate) instr_codec: bool,
    pub(crate) codec_params: *mut c_void,
    pub(crate) filter_params: [*mut c_void; MAX_FILTERS],
}

/// `blosc2_dparams`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Dparams {
    pub(crate) nthreads: i16,
    pub(crate) schunk: *mut c_void,
    pub(crate) postfilter: Option<PostfilterFn>,
    pub(crate) postparams: *mut PostfilterParams,
    pub(crate) typesize: i32,
}

/// `blosc2_prefilter_params`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PrefilterParams {
    pub(crate) user_data: *mut c_void,
    pub(crate) input: *const u8,
    pub(crate) output: *mut u8,
    pub(crate) output_size: i32,
    pub(crate) output_typesize: i32,
    pub(crate) output_offset: i32,
    pub(crate) nchunk: i64,
    pub(crate) nblock: i32,
    pub(crate) tid: i32,
    pub(crate) ttmp: *mut u8,
    pub(crate) ttmp_nbytes: usize,
    pub(crate) ctx: *mut Context,
    pub(crate) output_is_disposable: bool,
}

/// `blosc2_postfilter_params`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PostfilterParams {
    pub(crate) user_data: *mut c_void,
    pub(crate) input: *const u8,
    pub(crate) output: *mut u8,
    pub(crate) size: i32,
    pub(crate) typesize: i32,
    pub(crate) offset: i32,
    pub(crate) nchunk: i64,
    pub(crate) nblock: i32,
    pub(crate) tid: i32,
    pub(crate) ttmp: *mut u8,
    pub(crate) ttmp_nbytes: usize,
    pub(crate) ctx: *mut Context,
}

/// `blosc2_io`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Io {
    pub(crate) id: u8,
    pub(crate) name: *const c_char,
    pub(crate) params: *mut c_void,
}

/// `blosc2_io_cb`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct IoCallbacks {
    pub(crate) id: u8,
    pub(crate) name: *mut c_char,
    pub(crate) is_allocation_necessary: bool,
    pub(crate) open: Option<unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void>,
    pub(crate) close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub(crate) size: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub(crate) write: Option<unsafe extern "C" fn(*const c_void, i64, i64, i64, *mut c_void) -> i64>,
    pub(crate) read: Option<unsafe extern "C" fn(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64>,
    pub(crate) truncate: Option<unsafe extern "C" fn(*mut c_void, i64) -> c_int>,
    pub(crate) destroy: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// `blosc2_storage`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Storage {
    pub(crate) contiguous: bool,
    pub(crate) urlpath: *mut c_char,
    pub(crate) cparams: *mut Cparams,
    pub(crate) dparams: *mut Dparams,
    pub(crate) io: *mut Io,
}

/// `blosc2_metalayer`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Metalayer {
    pub(crate) name: *mut c_char,
    pub(crate) content: *mut u8,
    pub(crate) content_len: i32,
}

/// `blosc2_schunk`
#[repr(C)]
pub(crate) struct Schunk {
    pub(crate) version: u8,
    pub(crate) compcode: u8,
    pub(crate) compcode_meta: u8,
    pub(crate) clevel: u8,
    pub(crate) splitmode: u8,
    pub(crate) typesize: i32,
    pub(crate) blocksize: i32,
    pub(crate) chunksize: i32,
    pub(crate) flags2: u8,
    pub(crate) use_dict: u8,
    pub(crate) filters: [u8; MAX_FILTERS],
    pub(crate) filters_meta: [u8; MAX_FILTERS],
    pub(crate) nchunks: i64,
    pub(crate) current_nchunk: i64,
    pub(crate) nbytes: i64,
    pub(crate) cbytes: i64,
    pub(crate) data: *mut *mut u8,
    pub(crate) data_len: usize,
    pub(crate) storage: *mut Storage,
    pub(crate) frame: *mut Frame,
    pub(crate) cctx: *mut Context,
    pub(crate) dctx: *mut Context,
    pub(crate) metalayers: [*mut Metalayer; MAX_METALAYERS],
    pub(crate) nmetalayers: u16,
    pub(crate) vlmetalayers: [*mut Metalayer; MAX_VLMETALAYERS],
    pub(crate) nvlmetalayers: i16,
    pub(crate) tuner_params: *mut c_void,
    pub(crate) tuner_id: c_int,
    pub(crate) ndim: i8,
    pub(crate) blockshape: *mut i64,
    pub(crate) view: bool,
    pub(crate) change_tick: i64,
}

/// `struct chunk_cache_s`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ChunkCache {
    pub(crate) data: *mut u8,
    pub(crate) nchunk: i64,
}

/// `b2nd_array_t`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Array {
    pub(crate) sc: *mut Schunk,
    pub(crate) shape: [i64; MAX_DIM],
    pub(crate) chunkshape: [i32; MAX_DIM],
    pub(crate) extshape: [i64; MAX_DIM],
    pub(crate) blockshape: [i32; MAX_DIM],
    pub(crate) extchunkshape: [i64; MAX_DIM],
    pub(crate) nitems: i64,
    pub(crate) chunknitems: i32,
    pub(crate) extnitems: i64,
    pub(crate) blocknitems: i32,
    pub(crate) extchunknitems: i64,
    pub(crate) ndim: i8,
    pub(crate) chunk_cache: ChunkCache,
    pub(crate) item_array_strides: [i64; MAX_DIM],
    pub(crate) item_chunk_strides: [i64; MAX_DIM],
    pub(crate) item_extchunk_strides: [i64; MAX_DIM],
    pub(crate) item_block_strides: [i64; MAX_DIM],
    pub(crate) block_chunk_strides: [i64; MAX_DIM],
    pub(crate) chunk_array_strides: [i64; MAX_DIM],
    pub(crate) dtype: *mut c_char,
    pub(crate) dtype_format: i8,
    pub(crate) last_tick: i64,
}

/// `blosc2_codec`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct UserCodec {
    pub(crate) compcode: u8,
    pub(crate) compname: *mut c_char,
    pub(crate) complib: u8,
    pub(crate) version: u8,
    pub(crate) encoder: Option<EncoderFn>,
    pub(crate) decoder: Option<DecoderFn>,
}

/// `blosc2_filter`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct UserFilter {
    pub(crate) id: u8,
    pub(crate) name: *mut c_char,
    pub(crate) version: u8,
    pub(crate) forward: Option<ForwardFn>,
    pub(crate) backward: Option<BackwardFn>,
}

/// `blosc2_tuner`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Tuner {
    pub(crate) init: Option<unsafe extern "C" fn(*mut c_void, *mut Context, *mut Context) -> c_int>,
    pub(crate) next_blocksize: Option<unsafe extern "C" fn(*mut Context) -> c_int>,
    pub(crate) next_cparams: Option<unsafe extern "C" fn(*mut Context) -> c_int>,
    pub(crate) update: Option<unsafe extern "C" fn(*mut Context, f64) -> c_int>,
    pub(crate) free: Option<unsafe extern "C" fn(*mut Context) -> c_int>,
    pub(crate) id: c_int,
    pub(crate) name: *mut c_char,
}

/// `blosc2_stdio_file`
#[repr(C)]
pub(crate) struct StdioFile {
    pub(crate) file: *mut libc::FILE,
}

/// `blosc2_stdio_params`
#[repr(C)]
pub(crate) struct StdioParams {
    pub(crate) locking: bool,
}

/// `blosc2_stdio_mmap`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct StdioMmap {
    pub(crate) mode: *const c_char,
    pub(crate) initial_mapping_size: usize,
    pub(crate) needs_free: bool,
    pub(crate) addr: *mut c_char,
    pub(crate) urlpath: *mut c_char,
    pub(crate) file_size: usize,
    pub(crate) mapping_size: usize,
    pub(crate) is_memory_only: bool,
    pub(crate) file: *mut libc::FILE,
    pub(crate) fd: c_int,
    pub(crate) access_flags: i64,
    pub(crate) map_flags: i64,
}

/// `blosc2_instr`
#[repr(C)]
pub(crate) struct Instr {
    pub(crate) cratio: f32,
    pub(crate) cspeed: f32,
    pub(crate) filter_speed: f32,
    pub(crate) flags: [u8; 4],
}

macro_rules! layout {
    ($type:ident $size:literal: $($field:ident = $offset:literal)*) => {
        const _: () = assert!(size_of::<$type>() == $size);
        $(const _: () = assert!(offset_of!($type, $field) == $offset);)*
    };
}

#[cfg(target_pointer_width = "64")]
mod layouts {
    use super::*;

    layout!(Cparams 136: compcode = 0 compcode_meta = 1 clevel = 2 use_dict = 4 typesize = 8 nthreads = 12 blocksize = 16 splitmode = 20 schunk = 24 filters = 32 filters_meta = 38 prefilter = 48 preparams = 56 tuner_params = 64 tuner_id = 72 instr_codec = 76 codec_params = 80 filter_params = 88);
    layout!(Dparams 40: nthreads = 0 schunk = 8 postfilter = 16 postparams = 24 typesize = 32);
    layout!(Storage 40: contiguous = 0 urlpath = 8 cparams = 16 dparams = 24 io = 32);
    layout!(Io 24: id = 0 name = 8 params = 16);
    layout!(IoCallbacks 80: id = 0 name = 8 is_allocation_necessary = 16 open = 24 close = 32 size = 40 write = 48 read = 56 truncate = 64 destroy = 72);
    layout!(Schunk 65840: version = 0 compcode = 1 compcode_meta = 2 clevel = 3 splitmode = 4 typesize = 8 blocksize = 12 chunksize = 16 flags2 = 20 use_dict = 21 filters = 22 filters_meta = 28 nchunks = 40 current_nchunk = 48 nbytes = 56 cbytes = 64 data = 72 data_len = 80 storage = 88 frame = 96 cctx = 104 dctx = 112 metalayers = 120 nmetalayers = 248 vlmetalayers = 256 nvlmetalayers = 65792 tuner_params = 65800 tuner_id = 65808 ndim = 65812 blockshape = 65816 view = 65824 change_tick = 65832);
    layout!(Metalayer 24: name = 0 content = 8 content_len = 16);
    layout!(Array 1376: sc = 0 shape = 8 chunkshape = 136 extshape = 200 blockshape = 328 extchunkshape = 392 nitems = 520 chunknitems = 528 extnitems = 536 blocknitems = 544 extchunknitems = 552 ndim = 560 chunk_cache = 568 item_array_strides = 584 chunk_array_strides = 1224 dtype = 1352 dtype_format = 1360 last_tick = 1368);
    layout!(PrefilterParams 88: user_data = 0 input = 8 output = 16 output_size = 24 output_typesize = 28 output_offset = 32 nchunk = 40 nblock = 48 tid = 52 ttmp = 56 ttmp_nbytes = 64 ctx = 72 output_is_disposable = 80);
    layout!(PostfilterParams 80: user_data = 0 input = 8 output = 16 size = 24 typesize = 28 offset = 32 nchunk = 40 nblock = 48 tid = 52 ttmp = 56 ttmp_nbytes = 64 ctx = 72);
    layout!(UserCodec 40: compcode = 0 compname = 8 complib = 16 version = 17 encoder = 24 decoder = 32);
    layout!(UserFilter 40: id = 0 name = 8 version = 16 forward = 24 backward = 32);
    layout!(Tuner 56: init = 0 next_blocksize = 8 next_cparams = 16 update = 24 free = 32 id = 40 name = 48);
    layout!(StdioFile 8: file = 0);
    layout!(StdioParams 1: locking = 0);
    layout!(StdioMmap 96: mode = 0 initial_mapping_size = 8 needs_free = 16 addr = 24 urlpath = 32 file_size = 40 mapping_size = 48 is_memory_only = 56 fd = 72 access_flags = 80 map_flags = 88);
    layout!(Instr 16: cratio = 0 flags = 12);
}
