//! Functions that are not there yet. They are exported, so that every program can be loaded, and
//! fail: none of them pretends to have done something. The README lists them.

use crate::code::FAILURE;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

macro_rules! absent {
    ($($name:ident)* => $result:expr, $type:ty) => {
        $(#[unsafe(no_mangle)]
        extern "C" fn $name() -> $type {
            $result
        })*
    };
}

absent! {
    b2nd_concatenate
    b2nd_copy_buffer
    b2nd_copy_buffer2
    b2nd_expand_dims
    b2nd_get_sparse_cbuffer
    b2nd_open
    b2nd_open_offset
    b2nd_print_meta
    b2nd_save
    b2nd_squeeze
    b2nd_squeeze_index
    blosc2_remove_dir
    blosc2_remove_urlpath
    blosc2_rename_urlpath
    blosc2_stdio_close
    blosc2_stdio_destroy
    blosc2_stdio_mmap_close
    blosc2_stdio_mmap_destroy
    blosc2_stdio_mmap_truncate
    blosc2_stdio_truncate
    => FAILURE, c_int
}

absent! {
    b2nd_save_append
    blosc2_get_slice_nchunks
    blosc2_schunk_append_file
    blosc2_schunk_to_file
    blosc2_stdio_mmap_read
    blosc2_stdio_mmap_size
    blosc2_stdio_mmap_write
    blosc2_stdio_read
    blosc2_stdio_size
    blosc2_stdio_write
    => i64::from(FAILURE), i64
}

absent! {
    blosc2_frame_get_offsets
    blosc2_schunk_open
    blosc2_schunk_open_offset
    blosc2_schunk_open_offset_udio
    blosc2_schunk_open_udio
    blosc2_stdio_mmap_open
    blosc2_stdio_open
    => null_mut(), *mut c_void
}
