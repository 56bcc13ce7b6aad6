//! How frames are read and written: by the system's files, through maps, or by functions of the
//! program.

mod callbacks;
mod directory;
pub(crate) mod mmap;
pub(crate) mod stdio;

pub(crate) use callbacks::Callbacks;

use crate::process::registry;
use crate::structs::{Io, IoCallbacks, StdioParams};
use c_boundary::memory;
use std::ffi::c_void;

/// The ids of the kinds that are built in.
pub(crate) const FILESYSTEM: u8 = 0;
pub(crate) const MAP: u8 = 1;

/// What a kind of input and output consists of.
struct BuiltIn(IoCallbacks);

// SAFETY: the pointers in it are functions, and names that are never changed.
unsafe impl Sync for BuiltIn {}

static FILES: BuiltIn = BuiltIn(IoCallbacks {
    id: FILESYSTEM,
    name: c"filesystem".as_ptr().cast_mut(),
    is_allocation_necessary: true,
    open: Some(stdio::open),
    close: Some(stdio::close),
    size: Some(stdio::size),
    write: Some(stdio::write),
    read: Some(stdio::read),
    truncate: Some(stdio::truncate),
    destroy: Some(stdio::destroy),
});

static MAPS: BuiltIn = BuiltIn(IoCallbacks {
    id: MAP,
    name: c"filesystem_mmap".as_ptr().cast_mut(),
    is_allocation_necessary: false,
    open: Some(mmap::open),
    close: Some(mmap::close),
    size: Some(mmap::size),
    write: Some(mmap::write),
    read: Some(mmap::read),
    truncate: Some(mmap::truncate),
    destroy: Some(mmap::destroy),
});

/// The functions of a kind.
pub(crate) fn functions(id: u8) -> Option<&'static IoCallbacks> {
    match id {
        FILESYSTEM => Some(&FILES.0),
        MAP => Some(&MAPS.0),
        id => registry::input_output(id).map(|found| &found.0),
    }
}

/// Whether the parameters of stdio ask for locks.
///
/// # Safety
/// `params` is NULL, or points to parameters of stdio.
pub(crate) unsafe fn wants_locking(params: *mut c_void) -> bool {
    // Another byte than 0 and 1 is no `bool`: it is read as a number.
    // SAFETY: the caller promises it; the struct has one field of one byte.
    unsafe { memory::shared(params.cast::<u8>().cast_const()) }.is_some_and(|&locking| locking != 0)
}

const _: () = assert!(size_of::<StdioParams>() == 1);

/// Ends the use of parameters.
///
/// # Safety
/// They are not used any more by whoever has used them with this.
pub(crate) unsafe fn release(io: &Io) {
    if let Some(destroy) = functions(io.id).and_then(|functions| functions.destroy)
        && !io.params.is_null()
    {
        // SAFETY: the caller promises it, and the function is the one for these parameters.
        unsafe { destroy(io.params) };
    }
}
