//! Filter plug-ins of HDF5 in safe code, without linking HDF5.
//!
//! A plug-in implements [`Filter`] and exports two functions with [`export_filter!`]. HDF5 finds it
//! through `HDF5_PLUGIN_PATH`, and calls it through the C structure in `class`. What a plug-in asks
//! of HDF5 goes to the library that the process has mapped (`hdf5`): it may be one that a Python
//! package brings along under a name of its own.

mod buffer;
mod callbacks;
mod class;
mod hdf5;

pub use buffer::Buffer;
pub use class::Class;

use blosc_oxide::Threads;
use std::ffi::{CStr, c_uint};

/// What HDF5 is told to do with what fails.
pub type Result<T> = std::result::Result<T, String>;

/// A filter of HDF5.
pub trait Filter {
    /// The number that it is registered by.
    const ID: i32;
    /// Its name, as HDF5 shows it.
    const NAME: &'static CStr;
    /// How many parameters it has at the most.
    const MAX_PARAMETERS: usize;

    /// The parameters that a dataset keeps, made of what its user has given and of what its chunks
    /// are like.
    ///
    /// # Errors
    /// If the filter cannot be used for such chunks.
    fn parameters(given: &[c_uint], chunks: &ChunkType) -> Result<Vec<c_uint>>;

    /// Compresses one chunk; `None` if it is not to be stored compressed, which is possible only if
    /// `is_optional`.
    ///
    /// # Errors
    /// If the parameters cannot be used.
    fn compress(parameters: &[c_uint], data: &[u8], is_optional: bool) -> Result<Option<Buffer>>;

    /// Decompresses one chunk.
    ///
    /// # Errors
    /// If it is damaged.
    fn decompress(parameters: &[c_uint], chunk: &[u8]) -> Result<Buffer>;
}

/// What the chunks of a dataset are like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkType {
    /// The lengths along all axes, in items.
    pub shape: Vec<u64>,
    /// The size of an item.
    pub item: usize,
    /// The size of what an item is an array of, or of the item itself.
    pub element: usize,
}

impl ChunkType {
    /// The size of a chunk, as parameters keep it.
    ///
    /// # Errors
    /// If HDF5 cannot have such chunks.
    pub fn nbytes(&self) -> Result<c_uint> {
        let nbytes = self.shape.iter().try_fold(self.item as u64, |product, &len| product.checked_mul(len));
        nbytes
            .and_then(|nbytes| c_uint::try_from(nbytes).ok())
            .ok_or_else(|| format!("chunks of {:?} items of {} bytes are too large", self.shape, self.item))
    }
}

/// The threads that work on a chunk: as many as the variable `BLOSC_NTHREADS` says, or the one that
/// HDF5 calls on.
#[must_use]
pub fn threads() -> Threads {
    let count = std::env::var("BLOSC_NTHREADS").ok().and_then(|count| count.trim().parse().ok());
    match count {
        Some(count @ 2..) => Threads::at_most(count),
        _ => Threads::serial(),
    }
}

/// Exports a [`Filter`] as the plug-in of the crate.
#[macro_export]
macro_rules! export_filter {
    ($filter:ty) => {
        static CLASS: $crate::Class = $crate::Class::new::<$filter>();

        /// The kind of plug-in: a filter.
        #[unsafe(no_mangle)]
        extern "C" fn H5PLget_plugin_type() -> std::ffi::c_int {
            $crate::Class::PLUGIN_TYPE
        }

        /// What HDF5 has to know of the filter.
        #[unsafe(no_mangle)]
        extern "C" fn H5PLget_plugin_info() -> *const std::ffi::c_void {
            (&raw const CLASS).cast()
        }
    };
}
