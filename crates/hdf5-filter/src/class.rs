//! The structure that HDF5 knows a filter by.

use crate::{Filter, callbacks};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null;

/// An identifier of something that HDF5 keeps, since HDF5 1.10.
pub(crate) type Id = i64;

/// `H5Z_class2_t`.
#[repr(C)]
pub struct Class {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: *const c_void,
    set_local: unsafe extern "C" fn(Id, Id, Id) -> c_int,
    filter: unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize,
}

// SAFETY: it is never written to, and neither is the name that it points to.
unsafe impl Sync for Class {}

impl Class {
    /// What kind of plug-in a filter is.
    pub const PLUGIN_TYPE: c_int = 0;

    /// The structure of a filter.
    #[must_use]
    pub const fn new<F: Filter>() -> Self {
        Self {
            version: 1,
            id: F::ID,
            encoder_present: 1,
            decoder_present: 1,
            name: F::NAME.as_ptr(),
            can_apply: null(),
            set_local: callbacks::set_local::<F>,
            filter: callbacks::filter::<F>,
        }
    }
}
