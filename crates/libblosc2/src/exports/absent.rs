//! Functions that are not there yet. They are exported, so that every program can be loaded, and
//! fail: none of them pretends to have done something. The README lists them.

use crate::code::FAILURE;
use std::ffi::c_int;

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
    b2nd_print_meta
    b2nd_squeeze
    b2nd_squeeze_index
    => FAILURE, c_int
}
