//! Output of an array in C or Fortran order, in bounded memory.

use super::regions::{Axis, Budget, Region, Regions, in_order};
use crate::array::geometry::copy::{c_strides, size};
use crate::array::reader::ArrayReader;
use crate::array::select::axis::AxisSelection;
use crate::error::{Result, bail};
use crate::numpy::ItemOrder;
use std::io::Write;
use std::ops::Range;

/// The most bytes in memory at a time.
pub(in crate::array) const PART_NBYTES: u64 = 32 << 20;
/// The same for a row of blocks.
const ROW_NBYTES: u64 = 256 << 20;
const BUDGET: Budget = Budget { usual: PART_NBYTES, row: ROW_NBYTES };

/// A view of an array in C or Fortran order, to be written out.
///
/// ```
/// use blosc_oxide::{ArrayOptions, ItemOrder, NdArray, Options};
/// let array = NdArray::from_data(&ArrayOptions::new(&[2, 3], Options::new(1)), b"abcdef")?;
/// let mut out = Vec::new();
/// array.in_order(ItemOrder::Fortran).write_to(0..6, &mut out)?;
/// assert_eq!(out, b"adbecf");
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OrderedView<'a> {
    array: &'a ArrayReader,
    order: ItemOrder,
}

impl ArrayReader {
    /// The items in this order, to be written out.
    #[must_use]
    pub fn in_order(&self, order: ItemOrder) -> OrderedView<'_> {
        OrderedView { array: self, order }
    }

    /// Writes this range of the bytes of the array, in C order, to `out`; without padding, they are
    /// as many as all items have. No more than 32 MiB are in memory at a time, or a row of blocks
    /// that has up to 256 MiB: each block is decoded once then.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let array = NdArray::from_data(&ArrayOptions::new(&[2, 3], Options::new(1)), b"abcdef")?;
    /// let mut out = Vec::new();
    /// array.write_to(1..array.nbytes(), &mut out)?;
    /// assert_eq!(out, b"bcdef");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if there are not as many bytes; as reading the chunks, and whatever `out`
    /// reports. Everything before the failure has been written.
    pub fn write_to(&self, range: Range<u64>, out: impl Write) -> Result<()> {
        self.in_order(ItemOrder::C).write_to(range, out)
    }

    /// The bytes of the array in C order from `start` on, as many of them as can be read
    /// together without extra work; none at the end.
    ///
    /// # Errors
    /// As [`write_to`](Self::write_to).
    pub fn bytes_from(&self, start: u64) -> Result<Vec<u8>> {
        self.in_order(ItemOrder::C).bytes_from(start)
    }

    /// Writes the items that `selections` select, in C order, to `out`, in as little memory as
    /// [`write_to`](Self::write_to).
    ///
    /// # Errors
    /// As [`slice`](Self::slice), and whatever `out` reports. Everything before the failure has
    /// been written.
    pub fn slice_to(&self, selections: &[AxisSelection], out: impl Write) -> Result<()> {
        self.in_order(ItemOrder::C).slice_to(selections, out)
    }

    /// How many bytes all items have, without padding.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.geometry().nitems().saturating_mul(self.geometry().typesize() as u64)
    }
}

impl OrderedView<'_> {
    /// As [`ArrayReader::write_to`](crate::ArrayReader::write_to), in this order.
    ///
    /// # Errors
    /// As there.
    pub fn write_to(&self, range: Range<u64>, mut out: impl Write) -> Result<()> {
        let nbytes = self.array.nbytes();
        if range.start > range.end || range.end > nbytes {
            bail!(InvalidArgument, "bytes {range:?} are asked for, the array has {nbytes}");
        }
        let all = self.all();
        let wanted = range.end - range.start;
        let budget = Budget { usual: PART_NBYTES.min(wanted), row: ROW_NBYTES.min(wanted) };
        let regions = self.regions(&all, budget)?.starting_with(range.start);
        for region in regions.take_while(|region| region.start < range.end) {
            let part = self.part(&all, &region)?;
            let inside = |byte: u64| size(byte.saturating_sub(region.start)).min(part.len());
            out.write_all(&part[inside(range.start)..inside(range.end)])?;
        }
        Ok(out.flush()?)
    }

    /// As [`ArrayReader::bytes_from`](crate::ArrayReader::bytes_from), in this order.
    ///
    /// # Errors
    /// As there.
    pub fn bytes_from(&self, start: u64) -> Result<Vec<u8>> {
        let all = self.all();
        let Some(region) = self.regions(&all, BUDGET)?.starting_with(start).next() else { return Ok(Vec::new()) };
        let mut part = self.part(&all, &region)?;
        part.drain(..size(start - region.start).min(part.len()));
        Ok(part)
    }

    /// As [`ArrayReader::slice_to`](crate::ArrayReader::slice_to), in this order.
    ///
    /// # Errors
    /// As there.
    pub fn slice_to(&self, selections: &[AxisSelection], mut out: impl Write) -> Result<()> {
        for region in self.regions(selections, BUDGET)? {
            out.write_all(&self.part(selections, &region)?)?;
        }
        Ok(out.flush()?)
    }

    fn all(&self) -> Vec<AxisSelection> {
        vec![AxisSelection::All; self.array.geometry().ndim()]
    }

    /// The items that `selections` select, divided into parts in this order.
    fn regions(&self, selections: &[AxisSelection], budget: Budget) -> Result<Regions> {
        let geometry = self.array.geometry();
        let counts = self.array.taken(selections)?;
        let lengths = geometry.chunks().iter().zip(geometry.blocks());
        let axes = selections.iter().zip(counts).zip(lengths);
        let axes: Vec<Axis> =
            axes.map(|((selection, count), (&chunk, &block))| cut(selection, count, chunk, block)).collect();
        let limits = self.array.sc.limits();
        let budget = Budget { usual: limits.at_most(budget.usual), row: limits.at_most(budget.row) };
        Ok(Regions::new(&in_order(&axes, self.order), geometry.typesize(), budget))
    }

    /// The bytes of a part of the selected items.
    fn part(&self, selections: &[AxisSelection], region: &Region) -> Result<Vec<u8>> {
        let spans = in_order(&region.spans, self.order);
        let selections: Vec<AxisSelection> =
            selections.iter().zip(&spans).map(|(selection, span)| selection.part(span)).collect();
        if self.order == ItemOrder::C {
            return self.array.slice(&selections);
        }
        let shape = self.array.slice_shape(&selections)?;
        let typesize = self.array.geometry().typesize();
        let nbytes = shape.iter().fold(typesize, |nbytes, &length| nbytes.saturating_mul(length));
        self.array.sc.limits().check("a slice", nbytes)?;
        let mut out = vec![0; nbytes];
        let strides = in_order(&c_strides(shape.iter().rev().copied(), typesize), self.order);
        self.array.slice_into_strided(&selections, &mut out, &strides)?;
        Ok(out)
    }
}

/// How the selected items of an axis are stored.
fn cut(selection: &AxisSelection, count: usize, chunk: u64, block: u64) -> Axis {
    let length = count as u64;
    match selection {
        AxisSelection::All => Axis { length, start: 0, chunk, block },
        AxisSelection::Slice { start, step: 1, .. } => Axis { length, start: *start, chunk, block },
        AxisSelection::Slice { step, .. } => {
            let every = step.unsigned_abs().max(1);
            Axis { length, start: 0, chunk: chunk.div_ceil(every), block: block.div_ceil(every) }
        }
        AxisSelection::Index(_) | AxisSelection::Indices(_) => Axis { length, start: 0, chunk: 1, block: 1 },
    }
}
