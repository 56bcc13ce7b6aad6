//! The kinds of input and output that are built in, for programs that call them themselves.

use crate::io::{mmap, stdio};
use std::ffi::{c_char, c_int, c_void};

/// Exports functions under other names.
macro_rules! exported {
    ($($name:ident = $function:path, ($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the contract of this function is that of the one that it calls.
            unsafe { $function($($argument),*) }
        })*
    };
}

exported! {
    blosc2_stdio_open = stdio::open, (urlpath: *const c_char, mode: *const c_char, params: *mut c_void) -> *mut c_void;
    blosc2_stdio_close = stdio::close, (stream: *mut c_void) -> c_int;
    blosc2_stdio_size = stdio::size, (stream: *mut c_void) -> i64;
    blosc2_stdio_write = stdio::write, (ptr: *const c_void, size: i64, nitems: i64, position: i64, stream: *mut c_void) -> i64;
    blosc2_stdio_read = stdio::read, (ptr: *mut *mut c_void, size: i64, nitems: i64, position: i64, stream: *mut c_void) -> i64;
    blosc2_stdio_truncate = stdio::truncate, (stream: *mut c_void, size: i64) -> c_int;
    blosc2_stdio_destroy = stdio::destroy, (params: *mut c_void) -> c_int;
    blosc2_stdio_mmap_open = mmap::open, (urlpath: *const c_char, mode: *const c_char, params: *mut c_void) -> *mut c_void;
    blosc2_stdio_mmap_close = mmap::close, (stream: *mut c_void) -> c_int;
    blosc2_stdio_mmap_size = mmap::size, (stream: *mut c_void) -> i64;
    blosc2_stdio_mmap_write = mmap::write, (ptr: *const c_void, size: i64, nitems: i64, position: i64, stream: *mut c_void) -> i64;
    blosc2_stdio_mmap_read = mmap::read, (ptr: *mut *mut c_void, size: i64, nitems: i64, position: i64, stream: *mut c_void) -> i64;
    blosc2_stdio_mmap_truncate = mmap::truncate, (stream: *mut c_void, size: i64) -> c_int;
    blosc2_stdio_mmap_destroy = mmap::destroy, (params: *mut c_void) -> c_int;
}
