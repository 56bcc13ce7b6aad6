//! The HDF5 library that the process has mapped, found without linking it.

mod mapped;

use crate::class::Id;
use crate::{ChunkType, Result};
use mapped::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::ptr::null_mut;

/// The most axes that a dataset can have.
const MAX_RANK: c_int = 32;
/// The class of arrays among the types.
const ARRAY: c_int = 10;

/// The functions of HDF5 that filters need.
pub(crate) struct Hdf5 {
    get_filter:
        unsafe extern "C" fn(Id, c_int, *mut c_uint, *mut usize, *mut c_uint, usize, *mut c_char, *mut c_uint) -> c_int,
    modify_filter: unsafe extern "C" fn(Id, c_int, c_uint, usize, *const c_uint) -> c_int,
    get_chunk: unsafe extern "C" fn(Id, c_int, *mut u64) -> c_int,
    get_size: unsafe extern "C" fn(Id) -> usize,
    get_class: unsafe extern "C" fn(Id) -> c_int,
    get_super: unsafe extern "C" fn(Id) -> Id,
    close_type: unsafe extern "C" fn(Id) -> c_int,
    push: unsafe extern "C" fn(Id, *const c_char, *const c_char, c_uint, Id, Id, Id, *const c_char, ...) -> c_int,
    /// The class of errors, and what failed: the pipeline of filters, in a filter.
    error: [*const Id; 3],
}

impl Hdf5 {
    /// The functions of one library; `None` if it is not HDF5, or one whose identifiers are
    /// shorter.
    #[allow(clippy::multiple_unsafe_ops_per_block, reason = "one function of the same library after the other")]
    fn of(library: &Library) -> Option<Self> {
        let get_version: unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int =
            // SAFETY: the type is that of HDF5.
            unsafe { library.function(c"H5get_libversion")? };
        let (mut major, mut minor, mut release) = (0, 0, 0);
        // SAFETY: three numbers that can be written to.
        unsafe { get_version(&raw mut major, &raw mut minor, &raw mut release) };
        if (major, minor) < (1, 10) {
            return None;
        }
        // SAFETY: the types are those that HDF5 has since 1.10.
        unsafe {
            Some(Self {
                get_filter: library.function(c"H5Pget_filter_by_id2")?,
                modify_filter: library.function(c"H5Pmodify_filter")?,
                get_chunk: library.function(c"H5Pget_chunk")?,
                get_size: library.function(c"H5Tget_size")?,
                get_class: library.function(c"H5Tget_class")?,
                get_super: library.function(c"H5Tget_super")?,
                close_type: library.function(c"H5Tclose")?,
                push: library.function(c"H5Epush2")?,
                error: [c"H5E_ERR_CLS_g", c"H5E_PLINE_g", c"H5E_CANTFILTER_g"]
                    .map(|name| library.address(name).cast_const().cast()),
            })
        }
    }

    /// Any HDF5 of the process.
    pub(crate) fn any() -> Result<Self> {
        mapped::libraries().iter().find_map(Self::of).ok_or_else(none)
    }

    /// The HDF5 that a list of properties with the filter belongs to, if the process has several;
    /// the flags and the parameters of the filter there.
    pub(crate) fn with_filter(list: Id, filter: c_int, most: usize) -> Result<(Self, c_uint, Vec<c_uint>)> {
        let mut problem = none();
        for hdf5 in mapped::libraries().iter().filter_map(Self::of) {
            match hdf5.parameters(list, filter, most) {
                Ok((flags, given)) => return Ok((hdf5, flags, given)),
                Err(found) => problem = found,
            }
        }
        Err(problem)
    }

    /// The flags of a filter, and its parameters.
    fn parameters(&self, list: Id, filter: c_int, most: usize) -> Result<(c_uint, Vec<c_uint>)> {
        let (mut flags, mut count, mut values) = (0, most, vec![0; most]);
        // SAFETY: there is room for `count` numbers, and the name is not asked for.
        let found = unsafe {
            let values = values.as_mut_ptr();
            (self.get_filter)(list, filter, &raw mut flags, &raw mut count, values, 0, null_mut(), null_mut())
        };
        if found < 0 {
            return Err(format!("HDF5 does not tell the parameters of filter {filter}"));
        }
        values.truncate(count);
        Ok((flags, values))
    }

    /// Sets the parameters of a filter.
    pub(crate) fn set_parameters(&self, list: Id, filter: c_int, flags: c_uint, values: &[c_uint]) -> Result<()> {
        // SAFETY: as many numbers as is said.
        let set = unsafe { (self.modify_filter)(list, filter, flags, values.len(), values.as_ptr()) };
        if set < 0 { Err(format!("HDF5 does not take the parameters {values:?}")) } else { Ok(()) }
    }

    /// What the chunks of a dataset are like.
    pub(crate) fn chunk_type(&self, list: Id, datatype: Id) -> Result<ChunkType> {
        let mut shape = [0; MAX_RANK.unsigned_abs() as usize];
        // SAFETY: there is room for `MAX_RANK` numbers; HDF5 has no more axes.
        let rank = unsafe { (self.get_chunk)(list, MAX_RANK, shape.as_mut_ptr()) };
        let shape = usize::try_from(rank).ok().and_then(|rank| shape.get(..rank));
        let shape = shape.ok_or_else(|| format!("HDF5 tells {rank} as the rank of chunks"))?.to_vec();
        let item = self.size(datatype)?;
        // SAFETY: HDF5 checks what it is given.
        let element = if unsafe { (self.get_class)(datatype) } == ARRAY { self.element_size(datatype)? } else { item };
        Ok(ChunkType { shape, item, element })
    }

    /// The size of what a type is an array of.
    fn element_size(&self, array: Id) -> Result<usize> {
        // SAFETY: HDF5 checks what it is given.
        let element = unsafe { (self.get_super)(array) };
        let size = self.size(element);
        // SAFETY: `get_super` gave it to be closed.
        unsafe { (self.close_type)(element) };
        size
    }

    fn size(&self, datatype: Id) -> Result<usize> {
        // SAFETY: HDF5 checks what it is given.
        match unsafe { (self.get_size)(datatype) } {
            0 => Err("HDF5 does not tell the size of the type".to_owned()),
            size => Ok(size),
        }
    }

    /// Puts an error on the stack.
    pub(crate) fn push_error(&self, filter: &CStr, problem: &str) {
        let Ok(problem) = CString::new(problem) else { return };
        if self.error.iter().any(|place| place.is_null()) {
            return;
        }
        // SAFETY: these are numbers of the library, which stays mapped.
        let [class, major, minor] = self.error.map(|place| unsafe { place.read() });
        let file = c"blosc-oxide";
        // SAFETY: strings that end with a zero, a format that takes one of them, and identifiers of
        // HDF5's own.
        unsafe {
            let text = c"%s".as_ptr();
            (self.push)(0, file.as_ptr(), filter.as_ptr(), 0, class, major, minor, text, problem.as_ptr());
        }
    }
}

fn none() -> String {
    "there is no HDF5 library of version 1.10 or newer in this process that exports its functions".to_owned()
}
