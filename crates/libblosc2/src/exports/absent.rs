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
    b2nd_append
    b2nd_concatenate
    b2nd_copy
    b2nd_copy_buffer
    b2nd_copy_buffer2
    b2nd_delete
    b2nd_deserialize_meta
    b2nd_empty
    b2nd_expand_dims
    b2nd_free
    b2nd_free_ctx
    b2nd_from_cbuffer
    b2nd_from_cframe
    b2nd_from_schunk
    b2nd_full
    b2nd_get_orthogonal_selection
    b2nd_get_slice
    b2nd_get_slice_cbuffer
    b2nd_get_sparse_cbuffer
    b2nd_insert
    b2nd_nans
    b2nd_open
    b2nd_open_offset
    b2nd_print_meta
    b2nd_refresh
    b2nd_resize
    b2nd_save
    b2nd_serialize_meta
    b2nd_set_orthogonal_selection
    b2nd_set_slice_cbuffer
    b2nd_squeeze
    b2nd_squeeze_index
    b2nd_to_cbuffer
    b2nd_to_cframe
    b2nd_uninit
    b2nd_zeros
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
    b2nd_create_ctx
    blosc2_frame_get_offsets
    blosc2_schunk_open
    blosc2_schunk_open_offset
    blosc2_schunk_open_offset_udio
    blosc2_schunk_open_udio
    blosc2_stdio_mmap_open
    blosc2_stdio_open
    => null_mut(), *mut c_void
}
