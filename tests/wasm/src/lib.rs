//! Reads chunks, frames and arrays out of the memory of a web page.
//!
//! The page asks for memory with [`allocate`], puts a file there, and calls [`read`] or [`slice`].
//! What these return is the address of a result: its length as four bytes, then the data.

use blosc_oxide::{Container, Frame, NdArray, Result, decompress};
use std::ops::Range;

/// Memory for `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(len: usize) -> *mut u8 {
    Box::leak(vec![0; len].into_boxed_slice()).as_mut_ptr()
}

/// All data of a chunk or a frame; no data if it is damaged.
///
/// # Safety
/// `file` is memory of [`allocate`] with this length, which it becomes the owner of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(file: *mut u8, len: usize) -> *const u8 {
    // SAFETY: the caller gives up memory that was allocated like this.
    let file = unsafe { Vec::from_raw_parts(file, len, len) };
    returned(&all(file).unwrap_or_default())
}

/// The items of a slice of an array of two dimensions; no data if it is damaged.
///
/// # Safety
/// As [`read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slice(file: *mut u8, len: usize, top: u32, bottom: u32, left: u32, right: u32) -> *const u8 {
    // SAFETY: the caller gives up memory that was allocated like this.
    let file = unsafe { Vec::from_raw_parts(file, len, len) };
    returned(&cut(file, top.into()..bottom.into(), left.into()..right.into()).unwrap_or_default())
}

fn all(file: Vec<u8>) -> Result<Vec<u8>> {
    if Container::detect(&file[..], 0)? == Some(Container::Chunk) {
        return decompress(&file);
    }
    let frame = Frame::open(file)?;
    frame.bytes(0..frame.nbytes())
}

fn cut(file: Vec<u8>, rows: Range<u64>, columns: Range<u64>) -> Result<Vec<u8>> {
    NdArray::open(file)?.slice(&[rows.into(), columns.into()])
}

fn returned(data: &[u8]) -> *const u8 {
    let mut result = u32::try_from(data.len()).unwrap_or_default().to_le_bytes().to_vec();
    result.extend(data);
    Box::leak(result.into_boxed_slice()).as_ptr()
}
