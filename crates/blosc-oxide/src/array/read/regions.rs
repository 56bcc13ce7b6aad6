//! An array, or a selection of its items, divided into consecutive parts in C order, each within a
//! budget of memory.

use crate::numpy::ItemOrder;
use std::ops::Range;

/// Values for the axes of an array, reordered so that the slowest axis of this order is first; also
/// the inverse.
pub(in crate::array) fn in_order<T: Clone>(values: &[T], order: ItemOrder) -> Vec<T> {
    match order {
        ItemOrder::C => values.to_vec(),
        ItemOrder::Fortran => values.iter().rev().cloned().collect(),
    }
}

/// How large parts may be.
#[derive(Debug, Clone, Copy)]
pub(in crate::array) struct Budget {
    pub(in crate::array) usual: u64,
    /// For parts that are a row of blocks: if they were less, each block would be decoded several
    /// times.
    pub(in crate::array) row: u64,
}

/// The selection along an axis, and how it is stored.
#[derive(Debug, Clone)]
pub(in crate::array) struct Axis {
    /// How many items are selected.
    pub(in crate::array) length: u64,
    /// The position of the first one in its chunk.
    pub(in crate::array) start: u64,
    /// How many selected items a chunk has.
    pub(in crate::array) chunk: u64,
    /// How many selected items a block has.
    pub(in crate::array) block: u64,
}

/// The parts, in order: the items of each are contiguous in the output.
pub(in crate::array) struct Regions {
    lengths: Vec<u64>,
    /// The axis along which parts are ranges: before it they are single indices, behind it
    /// everything.
    axis: usize,
    /// How long the ranges are, but for the first and the last.
    run: u64,
    /// How much shorter the first range is, so that the others start where chunks or blocks do.
    shift: u64,
    /// How many bytes an index of the axis takes.
    row_nbytes: u64,
    next: u64,
}

/// A part.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::array) struct Region {
    /// Where it starts among the bytes of all parts.
    pub(in crate::array) start: u64,
    /// Its items along each axis.
    pub(in crate::array) spans: Vec<Range<u64>>,
}

impl Regions {
    /// Parts within `budget`, unless a single item has more. They start where chunks do, else where
    /// blocks do, if that fits.
    pub(in crate::array) fn new(axes: &[Axis], typesize: usize, budget: Budget) -> Self {
        let row_nbytes = |axis: usize| {
            let inner = axes.get(axis + 1..).unwrap_or_default();
            inner.iter().fold(typesize as u64, |nbytes, axis| nbytes.saturating_mul(axis.length)).max(1)
        };
        let blocks_fit = |axis: usize| row_nbytes(axis).saturating_mul(axes[axis].block) <= budget.row;
        let fits = |axis: usize| row_nbytes(axis) <= budget.usual || blocks_fit(axis);
        let axis = (0..axes.len()).find(|&axis| fits(axis)).unwrap_or(axes.len().saturating_sub(1));
        let row_nbytes = row_nbytes(axis);
        let lengths = axes.iter().map(|axis| axis.length).collect();
        let Some(cut) = axes.get(axis) else {
            return Self { lengths, axis, run: 1, shift: 0, row_nbytes, next: 0 };
        };
        let fitting = (budget.usual / row_nbytes).max(if blocks_fit(axis) { cut.block } else { 1 }).max(1);
        let cell = [cut.chunk, cut.block].into_iter().find(|&cell| cell > 0 && cell <= fitting).unwrap_or(1);
        Self { lengths, axis, run: fitting - fitting % cell, shift: cut.start % cell, row_nbytes, next: 0 }
    }

    /// The same from the part on that has this byte.
    pub(in crate::array) fn starting_with(mut self, byte: u64) -> Self {
        let row = byte / self.row_nbytes;
        let (outer, index) = (row / self.axis_length().max(1), row % self.axis_length().max(1));
        self.next = outer * self.runs() + (index + self.shift) / self.run;
        self
    }

    fn axis_length(&self) -> u64 {
        self.lengths.get(self.axis).copied().unwrap_or(1)
    }

    /// How many parts there are for each index of the axes before.
    fn runs(&self) -> u64 {
        self.axis_length().saturating_add(self.shift).div_ceil(self.run)
    }

    fn total(&self) -> u64 {
        if self.lengths.contains(&0) {
            return 0;
        }
        self.lengths.iter().take(self.axis).fold(self.runs(), |count, &length| count.saturating_mul(length))
    }
}

impl Iterator for Regions {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        if self.next >= self.total() {
            return None;
        }
        let (outer, run) = (self.next / self.runs(), self.next % self.runs());
        self.next += 1;
        let from = (run * self.run).saturating_sub(self.shift);
        let to = ((run + 1) * self.run - self.shift).min(self.axis_length());
        let mut spans: Vec<Range<u64>> = self.lengths.iter().map(|&length| 0..length).collect();
        let mut rest = outer;
        for axis in (0..self.axis).rev() {
            let at = rest % self.lengths[axis];
            spans[axis] = at..at + 1;
            rest /= self.lengths[axis];
        }
        if let Some(span) = spans.get_mut(self.axis) {
            *span = from..to;
        }
        Some(Region { start: (outer * self.axis_length() + from) * self.row_nbytes, spans })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(lengths: &[u64], chunks: &[u64], blocks: &[u64], start: u64) -> Vec<Axis> {
        let cells = chunks.iter().zip(blocks);
        lengths.iter().zip(cells).map(|(&length, (&chunk, &block))| Axis { length, start, chunk, block }).collect()
    }

    fn spans(lengths: &[u64], chunks: &[u64], budget: u64) -> Vec<Vec<(u64, u64)>> {
        let regions = Regions::new(
            &axes(lengths, chunks, &vec![1; lengths.len()], 0),
            1,
            Budget { usual: budget, row: 8 * budget },
        );
        regions.map(|region| region.spans.into_iter().map(|span| (span.start, span.end)).collect()).collect()
    }

    #[test]
    fn parts_are_as_long_as_the_budget_allows() {
        assert_eq!(spans(&[5, 4], &[2, 2], 100), [[(0, 5), (0, 4)]]);
        assert_eq!(spans(&[5, 4], &[2, 2], 13), [[(0, 2), (0, 4)], [(2, 4), (0, 4)], [(4, 5), (0, 4)]]);
        assert_eq!(spans(&[2, 4], &[2, 3], 3), [[(0, 1), (0, 4)], [(1, 2), (0, 4)]], "a row of blocks");
        assert_eq!(spans(&[2, 2], &[1, 1], 0).len(), 4);
        assert_eq!(spans(&[], &[], 8), [[(0, 0); 0]]);
        assert!(spans(&[3, 0], &[1, 1], 8).is_empty());
    }

    #[test]
    fn parts_start_where_chunks_or_else_blocks_do() {
        let starts = |start, budget| -> Vec<u64> {
            Regions::new(&axes(&[40], &[12], &[4], start), 1, Budget { usual: budget, row: 0 })
                .map(|region| region.start)
                .collect()
        };
        assert_eq!(starts(0, 30), [0, 24]);
        assert_eq!(starts(5, 12), [0, 7, 19, 31]);
        assert_eq!(starts(5, 11), [0, 7, 15, 23, 31, 39]);
    }

    #[test]
    fn parts_follow_each_other_and_every_byte_is_found_in_one() {
        let cases = [(&[7][..], &[3][..]), (&[4, 5, 6], &[2, 2, 6]), (&[3, 1, 2], &[1, 1, 1]), (&[], &[])];
        for (lengths, chunks) in cases {
            for budget in [0, 1, 10, 40, 1000] {
                let regions = || Regions::new(&axes(lengths, chunks, chunks, 1), 2, Budget { usual: budget, row: 0 });
                let mut at = 0;
                for region in regions() {
                    assert_eq!(region.start, at, "{lengths:?}, {budget}");
                    let end = at + 2 * region.spans.iter().map(|span| span.end - span.start).product::<u64>();
                    for byte in at..end {
                        assert_eq!(
                            regions().starting_with(byte).next().as_ref(),
                            Some(&region),
                            "{lengths:?}, {budget}"
                        );
                    }
                    at = end;
                }
                assert_eq!(at, 2 * lengths.iter().product::<u64>(), "{lengths:?}, {budget}");
            }
        }
    }
}
