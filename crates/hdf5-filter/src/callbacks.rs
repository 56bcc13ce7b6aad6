//! What HDF5 calls: when a dataset is made, and for each chunk that is written or read.

use crate::class::Id;
use crate::hdf5::Hdf5;
use crate::{Buffer, Filter, Result};
use std::ffi::{c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

/// The flag of reading.
const REVERSE: c_uint = 0x0100;
/// The flag of a filter without which a chunk can be stored as well.
const OPTIONAL: c_uint = 0x0001;

/// Fills in the parameters of a dataset that is made. Without them no chunk could be written, so
/// that it fails if it cannot.
///
/// # Safety
/// HDF5 calls it, with its own identifiers.
pub(crate) unsafe extern "C" fn set_local<F: Filter>(list: Id, datatype: Id, _space: Id) -> c_int {
    let set = guarded(|| {
        let (hdf5, flags, given) = Hdf5::with_filter(list, F::ID, F::MAX_PARAMETERS)?;
        let chunks = hdf5.chunk_type(list, datatype)?;
        let parameters = F::parameters(&given, &chunks)?;
        hdf5.set_parameters(list, F::ID, flags, &parameters)
    });
    match set {
        Ok(()) => 1,
        Err(problem) => {
            report::<F>(&problem);
            -1
        }
    }
}

/// Compresses or decompresses a chunk: the length of the result, which takes the place of the
/// input; 0 if that has failed, or if an optional filter is not applied.
///
/// # Safety
/// HDF5 calls it: `values` are `count` numbers, and `*buf` is memory of the C library with
/// `*buf_size` bytes, the first `nbytes` of which are the input.
pub(crate) unsafe extern "C" fn filter<F: Filter>(
    flags: c_uint,
    count: usize,
    values: *const c_uint,
    nbytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
) -> usize {
    let filtered = guarded(|| {
        // SAFETY: HDF5 gives so many numbers.
        let values = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(values, count) } };
        // SAFETY: HDF5 says where its buffer is.
        let memory = unsafe { *buf };
        // SAFETY: the buffer has these bytes, and they stay what they are until it is replaced
        // below.
        let input = if nbytes == 0 { &[] } else { unsafe { slice::from_raw_parts(memory.cast::<u8>(), nbytes) } };
        if flags & REVERSE != 0 {
            F::decompress(values, input).map(Some)
        } else {
            F::compress(values, input, flags & OPTIONAL != 0)
        }
    });
    match filtered {
        Ok(Some(output)) => {
            // SAFETY: `buf` and `buf_size` are HDF5's, which expects them to be replaced.
            unsafe { replace(buf, buf_size, output) }
        }
        Ok(None) => 0,
        Err(problem) => {
            report::<F>(&problem);
            0
        }
    }
}

/// Puts `output` in the place of the buffer, and returns its length.
///
/// # Safety
/// `*buf` is memory of the C library that nobody else uses, and both places can be written to.
unsafe fn replace(buf: *mut *mut c_void, buf_size: *mut usize, output: Buffer) -> usize {
    let len = output.len();
    // SAFETY: the caller promises that there is a buffer.
    let memory = unsafe { *buf };
    // SAFETY: the caller promises that it is memory of the C library, which nobody else uses.
    unsafe { libc::free(memory) };
    // SAFETY: the caller promises that it can be written to.
    unsafe { *buf = output.into_raw() };
    // SAFETY: the caller promises that it can be written to.
    unsafe { *buf_size = len };
    len
}

/// What `call` returns; a panic is an error, since C cannot be unwound through.
fn guarded<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err("internal error: the filter has panicked".to_owned()))
}

/// Puts a problem on the stack of errors that HDF5 shows.
fn report<F: Filter>(problem: &str) {
    if let Ok(hdf5) = Hdf5::any() {
        hdf5.push_error(F::NAME, problem);
    }
}
