//! Codecs, filters, tuners and kinds of input and output that the program brings.

use crate::code::{INVALID_PARAM, flat};
use crate::context::PANICKED;
use crate::io;
use crate::process::registry;
use crate::structs::{IoCallbacks, Tuner, UserCodec, UserFilter};
use c_boundary::{guarded, memory};
use std::ffi::c_int;
use std::ptr::null_mut;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_codec(codec: *mut UserCodec) -> c_int {
    // SAFETY: the contract of this function.
    let Some(codec) = (unsafe { memory::shared(codec) }) else { return INVALID_PARAM };
    // SAFETY: the contract of this function: the name is a string.
    let Some(name) = (unsafe { memory::text(codec.compname) }) else { return INVALID_PARAM };
    guarded(PANICKED, || flat(registry::add_codec(*codec, name).map(|()| 0)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_filter(filter: *mut UserFilter) -> c_int {
    // SAFETY: the contract of this function.
    let Some(filter) = (unsafe { memory::shared(filter) }) else { return INVALID_PARAM };
    // SAFETY: the contract of this function: the name is a string.
    let Some(name) = (unsafe { memory::text(filter.name) }) else { return INVALID_PARAM };
    guarded(PANICKED, || flat(registry::add_filter(*filter, name).map(|()| 0)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_tuner(tuner: *mut Tuner) -> c_int {
    // SAFETY: the contract of this function.
    let Some(tuner) = (unsafe { memory::shared(tuner) }) else { return INVALID_PARAM };
    // SAFETY: the contract of this function: the name is a string.
    let Some(name) = (unsafe { memory::text(tuner.name) }) else { return INVALID_PARAM };
    guarded(PANICKED, || flat(registry::add_tuner(*tuner, name).map(|()| 0)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_io_cb(io: *const IoCallbacks) -> c_int {
    // SAFETY: the contract of this function.
    let Some(callbacks) = (unsafe { memory::shared(io) }) else { return INVALID_PARAM };
    guarded(PANICKED, || flat(registry::add_input_output(*callbacks).map(|()| 0)))
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_io_cb(id: u8) -> *mut IoCallbacks {
    io::functions(id).map_or(null_mut(), |found| (&raw const *found).cast_mut())
}
