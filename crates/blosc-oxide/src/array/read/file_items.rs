//! The items of an array in a file that is not compressed.

use super::regions::in_order;
use crate::array::geometry::coordinates::advance;
use crate::array::geometry::copy::{c_strides, size};
use crate::error::Result;
use crate::numpy::ItemOrder;
use crate::storage::{ReadAt, read_exact};
use std::ops::Range;

/// The items of an array in a file, all of them in a row.
pub(in crate::array) struct FileItems<'a, F> {
    pub(in crate::array) file: &'a F,
    /// Where they start.
    pub(in crate::array) start: u64,
    pub(in crate::array) shape: &'a [u64],
    pub(in crate::array) typesize: usize,
    /// The order that they are in.
    pub(in crate::array) order: ItemOrder,
}

impl<F: ReadAt> FileItems<'_, F> {
    /// Reads a box of items into `out`, and returns how far they are apart there along each axis.
    pub(in crate::array) fn read(&self, spans: &[Range<u64>], out: &mut Vec<u8>) -> Result<Vec<usize>> {
        let (shape, spans) = (in_order(self.shape, self.order), in_order(spans, self.order));
        let lengths: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
        out.resize(lengths.iter().product::<usize>() * self.typesize, 0);
        // Axes that are taken whole are one run with the one before them.
        let is_whole = |(span, length): &(&Range<u64>, &u64)| span.end - span.start == **length;
        let whole = spans.iter().zip(&shape).rev().take_while(is_whole).count();
        let outer = shape.len().saturating_sub(whole + 1);
        let run = lengths[outer..].iter().product::<usize>() * self.typesize;
        let mut place = vec![0; outer];
        for row in out.chunks_exact_mut(run.max(1)) {
            let item = spans.iter().enumerate().fold(0, |item, (axis, span)| {
                item * shape[axis] + span.start + place.get(axis).map_or(0, |&at| at as u64)
            });
            read_exact(self.file, self.start + item * self.typesize as u64, row, "npy")?;
            advance(&mut place, |axis| lengths[axis]);
        }
        Ok(in_order(&c_strides(lengths.iter().copied(), self.typesize), self.order))
    }
}
