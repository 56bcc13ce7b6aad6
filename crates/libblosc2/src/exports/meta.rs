//! Metalayers.

use crate::code::{INVALID_PARAM, Outcome, flat};
use crate::context::PANICKED;
use crate::schunk;
use crate::structs::{Cparams, Schunk};
use c_boundary::{guarded, memory};
use std::ffi::{CStr, c_char, c_int};

/// A super-chunk and the name of a metalayer.
struct Named<'a>(Outcome<(&'a mut Schunk, &'a CStr)>);

impl Named<'_> {
    /// # Safety
    /// `schunk` is NULL or a super-chunk, and `name` is NULL or a string.
    unsafe fn new(schunk: *mut Schunk, name: *const c_char) -> Self {
        // SAFETY: the caller promises it.
        let schunk = unsafe { schunk::of_c(schunk) };
        // SAFETY: the caller promises it.
        let name = unsafe { memory::text(name) };
        Self(schunk.ok().zip(name).ok_or(INVALID_PARAM))
    }

    fn call(self, action: impl FnOnce(&mut Schunk, &CStr) -> Outcome<c_int>) -> c_int {
        guarded(PANICKED, || flat(self.0.and_then(|(schunk, name)| action(schunk, name))))
    }
}

/// The content that C gives.
///
/// # Safety
/// `content` is NULL or has `len` bytes.
unsafe fn given<'a>(content: *const u8, len: i32) -> Outcome<&'a [u8]> {
    let len = usize::try_from(len).map_err(|_| INVALID_PARAM)?;
    // SAFETY: the caller promises it.
    unsafe { memory::input(content.cast(), len) }.ok_or(INVALID_PARAM)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_meta_add(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
) -> c_int {
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    // SAFETY: the contract of this function.
    found.call(|schunk, name| schunk.add_meta(name, unsafe { given(content, content_len) }?))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_meta_update(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
) -> c_int {
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    // SAFETY: the contract of this function.
    found.call(|schunk, name| schunk.update_meta(name, unsafe { given(content, content_len) }?))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_exists(schunk: *mut Schunk, name: *const c_char) -> c_int {
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    found.call(|schunk, name| schunk.find_vlmeta(name))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_add(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
    cparams: *mut Cparams,
) -> c_int {
    // SAFETY: the contract of this function.
    let cparams = unsafe { memory::shared(cparams) };
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    // SAFETY: the contract of this function.
    found.call(|schunk, name| schunk.add_vlmeta(name, unsafe { given(content, content_len) }?, cparams))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_update(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *mut u8,
    content_len: i32,
    cparams: *mut Cparams,
) -> c_int {
    // SAFETY: the contract of this function.
    let cparams = unsafe { memory::shared(cparams) };
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    // SAFETY: the contract of this function.
    found.call(|schunk, name| schunk.update_vlmeta(name, unsafe { given(content, content_len) }?, cparams))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_get(
    schunk: *mut Schunk,
    name: *const c_char,
    content: *mut *mut u8,
    content_len: *mut i32,
) -> c_int {
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    found.call(|schunk, name| {
        let (number, bytes) = schunk.vlmeta(name)?;
        // SAFETY: the contract of this function.
        unsafe { memory::store(content, memory::bytes_for_c(&bytes)) };
        // SAFETY: the contract of this function.
        unsafe { memory::store(content_len, crate::code::of_len(bytes.len())) };
        Ok(number)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_delete(schunk: *mut Schunk, name: *const c_char) -> c_int {
    // SAFETY: the contract of this function.
    let found = unsafe { Named::new(schunk, name) };
    found.call(|schunk, name| schunk.delete_vlmeta(name))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlmeta_get_names(schunk: *mut Schunk, names: *mut *mut c_char) -> c_int {
    guarded(PANICKED, || {
        // SAFETY: the contract of this function.
        let Ok(schunk) = (unsafe { schunk::of_c(schunk) }) else { return INVALID_PARAM };
        let found: Vec<*mut c_char> = schunk.vlmeta_names().collect();
        // SAFETY: the contract of this function: there is place for all of them.
        let Some(places) = (unsafe { memory::values_mut(names, found.len()) }) else { return INVALID_PARAM };
        places.copy_from_slice(&found);
        crate::code::of_len(found.len())
    })
}
