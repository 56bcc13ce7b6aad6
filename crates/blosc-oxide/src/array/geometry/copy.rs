//! Copying between a chunk's data, which is in blocks, and a plain buffer.

use super::Geometry;
use super::coordinates::advance;
use crate::error::Result;
use crate::limits::MAX_DIMS;
use blosc_kernels::boxes::{Source, copy_box};
use std::ops::{Deref, DerefMut, Range};

/// A number for each dimension, without memory of its own.
#[derive(Debug, Clone, Copy)]
pub(in crate::array) struct Dims<T> {
    values: [T; MAX_DIMS],
    len: usize,
}

impl<T: Copy + Default> Dims<T> {
    pub(in crate::array) fn new(len: usize) -> Self {
        Self { values: [T::default(); MAX_DIMS], len: len.min(MAX_DIMS) }
    }
}

impl<T> Deref for Dims<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..self.len]
    }
}

impl<T> DerefMut for Dims<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..self.len]
    }
}

/// Bytes from one item to the next along each axis of a C-ordered array.
pub(in crate::array) fn c_strides(shape: impl DoubleEndedIterator<Item = usize>, typesize: usize) -> Vec<usize> {
    let mut strides: Vec<usize> = shape
        .rev()
        .scan(typesize, |stride, length| {
            let this = *stride;
            *stride = stride.saturating_mul(length);
            Some(this)
        })
        .collect();
    strides.reverse();
    strides
}

/// A box of items in a plain buffer that is read.
#[derive(Clone, Copy)]
pub(in crate::array) struct Plain<'a> {
    pub(in crate::array) bytes: &'a [u8],
    pub(in crate::array) start: usize,
    /// Bytes from one item to the next along each axis.
    pub(in crate::array) strides: &'a [usize],
}

/// Fills a buffer with the items of a box, which are `strides` bytes apart along each axis.
pub(in crate::array) type ReadItems<'a> = dyn Fn(&[Range<u64>], &mut [u8], &[usize]) -> Result<()> + Sync + 'a;

/// Copies a box of `shape` to the start of `out`, where items are `strides` bytes apart along each
/// axis.
pub(in crate::array) fn copy_items(
    typesize: usize,
    shape: &[usize],
    from: Plain<'_>,
    out: &mut [u8],
    strides: &[usize],
) {
    let signed = |strides: &[usize]| -> Vec<isize> { strides.iter().map(|stride| stride.cast_signed()).collect() };
    let source = Source { bytes: from.bytes, start: from.start, strides: &signed(from.strides) };
    copy_box(typesize, shape, source, out, 0, &signed(strides));
}

/// Puts the items of a box of `shape` into the data of a chunk, from its first item on. Items
/// outside the box do not change.
pub(in crate::array) fn put_into_blocks(geometry: &Geometry, shape: &[usize], from: Plain<'_>, data: &mut [u8]) {
    let ndim = geometry.ndim();
    let lengths: Vec<usize> = geometry.blocks().iter().map(|&length| size(length)).collect();
    let block_strides: Vec<isize> =
        c_strides(lengths.iter().copied(), geometry.typesize()).into_iter().map(usize::cast_signed).collect();
    let from_strides: Vec<isize> = from.strides.iter().map(|stride| stride.cast_signed()).collect();
    if shape.contains(&0) {
        return;
    }
    let counts: Vec<usize> = shape.iter().zip(&lengths).map(|(&length, &block)| length.div_ceil(block)).collect();
    let mut place = vec![0; ndim];
    let mut part = Dims::new(ndim);
    loop {
        let mut start = from.start;
        for axis in 0..ndim {
            let first = place[axis] * lengths[axis];
            start += first * from.strides[axis];
            part[axis] = lengths[axis].min(shape[axis] - first);
        }
        let number = size(geometry.block_number(place.iter().map(|&at| at as u64)));
        let block = &mut data[number * geometry.block_nbytes()..][..geometry.block_nbytes()];
        let source = Source { bytes: from.bytes, start, strides: &from_strides };
        copy_box(geometry.typesize(), &part, source, block, 0, &block_strides);
        if !advance(&mut place, |axis| counts[axis]) {
            return;
        }
    }
}

/// Counts of items that are in memory.
pub(in crate::array) fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_in_c_order() {
        assert_eq!(c_strides([2, 3, 4].into_iter(), 8), [96, 32, 8]);
        assert!(c_strides(std::iter::empty(), 8).is_empty());
    }

    #[test]
    fn items_are_put_block_by_block() {
        let geometry = Geometry::new(1, &[5, 7], &[4, 5], &[2, 3]).unwrap();
        let plain: Vec<u8> = (1..=35).collect();
        let mut data = [0; 24];
        put_into_blocks(&geometry, &[4, 5], Plain { bytes: &plain, start: 0, strides: &[7, 1] }, &mut data);
        assert_eq!(data, [1, 2, 3, 8, 9, 10, 4, 5, 0, 11, 12, 0, 15, 16, 17, 22, 23, 24, 18, 19, 0, 25, 26, 0]);
    }
}
