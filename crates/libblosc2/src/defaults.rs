//! The structs as they are before anything was chosen.

use crate::structs::{Cparams, Dparams, Io, MAX_FILTERS, StdioMmap, Storage};
use c_boundary::split;
use std::ptr::null_mut;

const SHUFFLE: u8 = 1;

pub(crate) const CPARAMS: Cparams = Cparams {
    compcode: 0,
    compcode_meta: 0,
    clevel: 5,
    use_dict: 0,
    typesize: 8,
    nthreads: 1,
    blocksize: 0,
    splitmode: split::FORWARD_COMPAT,
    schunk: null_mut(),
    filters: [0, 0, 0, 0, 0, SHUFFLE],
    filters_meta: [0; MAX_FILTERS],
    prefilter: None,
    preparams: null_mut(),
    tuner_params: null_mut(),
    tuner_id: 0,
    instr_codec: false,
    codec_params: null_mut(),
    filter_params: [null_mut(); MAX_FILTERS],
};

pub(crate) const DPARAMS: Dparams =
    Dparams { nthreads: 1, schunk: null_mut(), postfilter: None, postparams: null_mut(), typesize: 8 };

pub(crate) const STORAGE: Storage =
    Storage { contiguous: false, urlpath: null_mut(), cparams: null_mut(), dparams: null_mut(), io: null_mut() };

pub(crate) const IO: Io = Io { id: 0, name: c"filesystem".as_ptr(), params: null_mut() };

pub(crate) const STDIO_MMAP: StdioMmap = StdioMmap {
    mode: c"r".as_ptr(),
    initial_mapping_size: 1 << 30,
    needs_free: false,
    addr: null_mut(),
    urlpath: null_mut(),
    file_size: 0,
    mapping_size: 0,
    is_memory_only: false,
    file: null_mut(),
    fd: -1,
    access_flags: -1,
    map_flags: -1,
};
