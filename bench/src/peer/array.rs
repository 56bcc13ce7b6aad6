//! Arrays of C-Blosc2.

use super::frame::Storage;
use super::{CParams, DParams, Params, Peer, int};
use libloading::Library;
use std::ffi::{c_char, c_int, c_void};

type Array = *mut c_void;
type ArrayContext = *mut c_void;
type CreateContext = unsafe extern "C" fn(
    *const Storage,
    i8,
    *const i64,
    *const i32,
    *const i32,
    *const c_char,
    i8,
    *const c_void,
    i32,
) -> ArrayContext;
type SetSlice = unsafe extern "C" fn(*const c_void, *const i64, i64, *const i64, *const i64, Array) -> c_int;
type GetSlice = unsafe extern "C" fn(Array, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int;

/// The functions of the library that work on arrays.
pub(super) struct Functions {
    create_context: CreateContext,
    free_context: unsafe extern "C" fn(ArrayContext) -> c_int,
    from_buffer: unsafe extern "C" fn(ArrayContext, *mut Array, *const c_void, i64) -> c_int,
    to_buffer: unsafe extern "C" fn(Array, *mut c_void, i64) -> c_int,
    get_slice: GetSlice,
    set_slice: SetSlice,
    get_sparse: unsafe extern "C" fn(Array, i64, *const i64, *mut c_void, i64) -> c_int,
    free: unsafe extern "C" fn(Array) -> c_int,
}

impl Functions {
    pub(super) fn load(library: &Library) -> Result<Self, libloading::Error> {
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type that it is stored as is the one that b2nd.h declares for this
                // name.
                unsafe { *library.get($name)? }
            };
        }
        Ok(Self {
            create_context: function!(b"b2nd_create_ctx"),
            free_context: function!(b"b2nd_free_ctx"),
            from_buffer: function!(b"b2nd_from_cbuffer"),
            to_buffer: function!(b"b2nd_to_cbuffer"),
            get_slice: function!(b"b2nd_get_slice_cbuffer"),
            set_slice: function!(b"b2nd_set_slice_cbuffer"),
            get_sparse: function!(b"b2nd_get_sparse_cbuffer"),
            free: function!(b"b2nd_free"),
        })
    }
}

/// How an array is cut up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) shape: [u64; 3],
    pub(crate) chunks: [u64; 3],
    pub(crate) blocks: [u64; 3],
}

/// An array of the library, in memory.
pub(crate) struct PeerArray<'p> {
    functions: &'p Functions,
    array: Array,
}

impl Peer {
    /// An array that holds `data`.
    pub(crate) fn array(&self, params: Params, cut: Cut, data: &[u8]) -> PeerArray<'_> {
        let cparams = CParams::new(params);
        let null = std::ptr::null_mut();
        let dparams = DParams {
            nthreads: params.threads,
            schunk: null,
            postfilter: null,
            postparams: null,
            typesize: int(params.typesize),
        };
        let storage = Storage::in_memory(&cparams, &dparams);
        let (shape, chunks, blocks) = (cut.shape.map(long), cut.chunks.map(short), cut.blocks.map(short));
        let functions = &self.arrays;
        // SAFETY: the structures are laid out as the library declares them, the lists have as many
        // numbers as there are dimensions, and a type and metalayers need not be given. It copies
        // what it keeps.
        let context = unsafe {
            (functions.create_context)(
                &raw const storage,
                3,
                shape.as_ptr(),
                chunks.as_ptr(),
                blocks.as_ptr(),
                std::ptr::null(),
                0,
                std::ptr::null(),
                0,
            )
        };
        assert!(!context.is_null(), "C-Blosc2 makes no context");
        let mut array = null;
        // SAFETY: the context is alive, and the buffer has the length that is given.
        let code =
            unsafe { (functions.from_buffer)(context, &raw mut array, data.as_ptr().cast(), length(data.len())) };
        assert!(code == 0 && !array.is_null(), "C-Blosc2 makes no array: {code}");
        // SAFETY: the context is alive, and nobody has it after this.
        unsafe { (functions.free_context)(context) };
        PeerArray { functions, array }
    }
}

impl PeerArray<'_> {
    /// Reads all items.
    pub(crate) fn read(&self, out: &mut [u8]) {
        // SAFETY: the array is alive, and the buffer has the length that is given.
        let code = unsafe { (self.functions.to_buffer)(self.array, out.as_mut_ptr().cast(), length(out.len())) };
        assert_eq!(code, 0, "C-Blosc2 fails to read an array");
    }

    /// Reads the items from `start` to `stop`.
    pub(crate) fn slice(&self, start: [u64; 3], stop: [u64; 3], out: &mut [u8]) {
        let shape: [i64; 3] = std::array::from_fn(|axis| long(stop[axis] - start[axis]));
        let (start, stop) = (start.map(long), stop.map(long));
        // SAFETY: the array is alive, the lists have as many numbers as it has dimensions, and the
        // buffer has the length that is given.
        let code = unsafe {
            (self.functions.get_slice)(
                self.array,
                start.as_ptr(),
                stop.as_ptr(),
                out.as_mut_ptr().cast(),
                shape.as_ptr(),
                length(out.len()),
            )
        };
        assert_eq!(code, 0, "C-Blosc2 fails to read a slice");
    }

    /// Writes the items from `start` to `stop`.
    pub(crate) fn set_slice(&mut self, start: [u64; 3], stop: [u64; 3], data: &[u8]) {
        let shape: [i64; 3] = std::array::from_fn(|axis| long(stop[axis] - start[axis]));
        let (start, stop) = (start.map(long), stop.map(long));
        // SAFETY: the array is alive, the lists have as many numbers as it has dimensions, and the
        // buffer has the length that is given.
        let code = unsafe {
            (self.functions.set_slice)(
                data.as_ptr().cast(),
                shape.as_ptr(),
                length(data.len()),
                start.as_ptr(),
                stop.as_ptr(),
                self.array,
            )
        };
        assert_eq!(code, 0, "C-Blosc2 fails to write a slice");
    }

    /// Reads the items at these positions, counted in C order.
    pub(crate) fn points(&self, positions: &[i64], out: &mut [u8]) {
        let count = length(positions.len());
        // SAFETY: the array is alive, there are as many positions as is said, and the buffer has
        // the length that is given.
        let code = unsafe {
            (self.functions.get_sparse)(
                self.array,
                count,
                positions.as_ptr(),
                out.as_mut_ptr().cast(),
                length(out.len()),
            )
        };
        assert_eq!(code, 0, "C-Blosc2 fails to read points");
    }
}

impl Drop for PeerArray<'_> {
    fn drop(&mut self) {
        // SAFETY: the array is alive, and nobody has it after this.
        unsafe { (self.functions.free)(self.array) };
    }
}

fn long(number: u64) -> i64 {
    i64::try_from(number).expect("arrays here are small")
}

fn short(number: u64) -> i32 {
    i32::try_from(number).expect("chunks here are small")
}

fn length(len: usize) -> i64 {
    i64::from(int(len))
}
