//! The selection along one axis of an array.

use crate::error::{Result, bail};
use crate::limits::Limits;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// A selection along one axis.
///
/// ```
/// use blosc_oxide::AxisSelection;
/// let selections = [AxisSelection::from(3), (0..10).into(), (..).into(), AxisSelection::slice(9, None, -2), AxisSelection::indices([5, 1, 1])];
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxisSelection {
    /// Everything.
    All,
    /// One index; the result does not have this axis.
    Index(u64),
    /// From a start to before an end, by a step. A negative step goes down; without an end it goes
    /// on to the end of the axis.
    Slice {
        /// The first index.
        start: u64,
        /// The index before which it ends, or after which if the step is negative.
        end: Option<u64>,
        /// The distance from one index to the next; not 0.
        step: i64,
    },
    /// These indices, in any order, any number of times.
    Indices(Vec<u64>),
}

impl AxisSelection {
    /// From `start` to before `end` by `step`.
    #[must_use]
    pub fn slice(start: u64, end: impl Into<Option<u64>>, step: i64) -> Self {
        Self::Slice { start, end: end.into(), step }
    }

    /// These indices.
    #[must_use]
    pub fn indices(indices: impl IntoIterator<Item = u64>) -> Self {
        Self::Indices(indices.into_iter().collect())
    }

    /// The items of this range of the selection; it must not be empty, and the selection must be
    /// inside its axis.
    pub(in crate::array) fn part(&self, range: &Range<u64>) -> Self {
        match self {
            Self::All => range.clone().into(),
            Self::Index(index) => Self::Index(*index),
            Self::Slice { start, step, .. } => {
                let stride = step.unsigned_abs();
                let (first, last) = (range.start * stride, (range.end - 1) * stride);
                if *step > 0 {
                    return Self::slice(start + first, start + last + 1, *step);
                }
                Self::slice(start - first, (start - last).checked_sub(1), *step)
            }
            Self::Indices(indices) => Self::Indices(indices[size(range.start)..size(range.end)].to_vec()),
        }
    }

    /// The indices at which `mask` is true; it should have the length of the axis.
    #[must_use]
    pub fn mask(mask: &[bool]) -> Self {
        Self::Indices((0..).zip(mask).filter(|(_, is_taken)| **is_taken).map(|(index, _)| index).collect())
    }
}

impl From<u64> for AxisSelection {
    fn from(index: u64) -> Self {
        Self::Index(index)
    }
}

impl From<Range<u64>> for AxisSelection {
    fn from(range: Range<u64>) -> Self {
        Self::slice(range.start, range.end, 1)
    }
}

impl From<RangeFrom<u64>> for AxisSelection {
    fn from(range: RangeFrom<u64>) -> Self {
        Self::slice(range.start, None, 1)
    }
}

impl From<RangeTo<u64>> for AxisSelection {
    fn from(range: RangeTo<u64>) -> Self {
        Self::slice(0, range.end, 1)
    }
}

impl From<RangeFull> for AxisSelection {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

/// A selection that has been checked against the length of its axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::array) enum Indices {
    /// `start`, `start + step` and so on, `count` of them, counted backwards in the result if
    /// `is_reversed`.
    Steps { start: u64, step: u64, count: usize, is_reversed: bool },
    /// Indices with their places in the result, in the order of the indices.
    List(Vec<(u64, usize)>),
}

/// A selection of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::array) struct CheckedSelection {
    pub(in crate::array) indices: Indices,
    /// Whether the result has the axis.
    pub(in crate::array) keeps_axis: bool,
}

impl CheckedSelection {
    /// Checks `selection` against an axis of `length`.
    pub(in crate::array) fn new(selection: &AxisSelection, axis: usize, length: u64) -> Result<Self> {
        let indices = match selection {
            AxisSelection::All => steps(axis, length, 0, Some(length), 1)?,
            AxisSelection::Index(index) => {
                check(axis, *index, length)?;
                Indices::Steps { start: *index, step: 1, count: 1, is_reversed: false }
            }
            AxisSelection::Slice { start, end, step } => steps(axis, length, *start, *end, *step)?,
            AxisSelection::Indices(indices) => {
                let mut pairs: Vec<(u64, usize)> = indices.iter().copied().zip(0..).collect();
                pairs.iter().try_for_each(|&(index, _)| check(axis, index, length))?;
                pairs.sort_unstable();
                Indices::List(pairs)
            }
        };
        Ok(Self { indices, keeps_axis: !matches!(selection, AxisSelection::Index(_)) })
    }

    /// How many items are selected.
    pub(in crate::array) fn count(&self) -> usize {
        match &self.indices {
            Indices::Steps { count, .. } => *count,
            Indices::List(pairs) => pairs.len(),
        }
    }

    /// The selection within the items `cell`.
    fn spans(&self, cell: &Range<u64>) -> Vec<Span> {
        match &self.indices {
            Indices::Steps { start, step, count, is_reversed } => {
                let first = cell.start.saturating_sub(*start).div_ceil(*step);
                let end = cell.end.saturating_sub(*start).div_ceil(*step).min(*count as u64);
                if first >= end {
                    return Vec::new();
                }
                let stride = isize::try_from(*step).unwrap_or(isize::MAX);
                let number = size(end - first);
                let index = |k: u64| size(start + k * step - cell.start);
                vec![if *is_reversed {
                    Span { from: index(end - 1), step: -stride, to: count - size(end), count: number }
                } else {
                    Span { from: index(first), step: stride, to: size(first), count: number }
                }]
            }
            Indices::List(pairs) => {
                let first = pairs.partition_point(|&(index, _)| index < cell.start);
                let end = pairs.partition_point(|&(index, _)| index < cell.end);
                let in_cell = pairs[first..end.max(first)].iter();
                spans_of(in_cell.map(|&(index, place)| (size(index - cell.start), place)))
            }
        }
    }

    /// The cells of `cell` items that have any of it, out of `cells`.
    fn touched(&self, cell: u64, cells: u64) -> Vec<u64> {
        let mut touched = match &self.indices {
            Indices::Steps { count: 0, .. } => Vec::new(),
            Indices::Steps { start, step, count, .. } => {
                let last = start + step * (*count as u64 - 1);
                if *step <= cell {
                    (start / cell..=last / cell).collect()
                } else {
                    (0..*count as u64).map(|k| (start + k * step) / cell).collect()
                }
            }
            Indices::List(pairs) => pairs.iter().map(|&(index, _)| index / cell).collect(),
        };
        touched.dedup();
        touched.retain(|&at| at < cells);
        touched
    }

    /// How many blocks of `block` items can have any of it, if no chunk has more than `chunk`.
    fn most_blocks(&self, chunk: u64, block: u64) -> usize {
        let ends = match &self.indices {
            Indices::Steps { count: 0, .. } => None,
            Indices::Steps { start, step, count, .. } => Some((*start, start + step * (*count as u64 - 1))),
            Indices::List(pairs) => pairs.first().zip(pairs.last()).map(|(first, last)| (first.0, last.0)),
        };
        let Some((first, last)) = ends else { return 0 };
        let chunks = last / chunk - first / chunk + 1;
        self.count().min(size(chunks.saturating_mul(chunk.div_ceil(block))))
    }

    /// Whether the chunks of the axis take places in the result that lie apart.
    fn is_apart(&self) -> bool {
        match &self.indices {
            Indices::Steps { .. } => true,
            Indices::List(pairs) => pairs.is_sorted_by_key(|&(_, place)| place),
        }
    }
}

/// Items in a row of a cell, and where they go: `from`, `from + step` and so on go to `to`,
/// `to + 1` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::array) struct Span {
    pub(in crate::array) from: usize,
    pub(in crate::array) step: isize,
    pub(in crate::array) to: usize,
    pub(in crate::array) count: usize,
}

impl Span {
    /// The selected items of the cell.
    fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { from, step, count, .. } = *self;
        (0..count).map(move |k| from.saturating_add_signed(step * k.cast_signed()))
    }

    fn last(&self) -> usize {
        self.from.saturating_add_signed(self.step * (self.count.cast_signed() - 1))
    }
}

/// Pairs of indices and places as spans, each as long as it can be.
fn spans_of(pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (from, to) in pairs {
        if let Some(last) = spans.last_mut() {
            let step = from.cast_signed() - last.last().cast_signed();
            if to == last.to + last.count && (last.count == 1 || step == last.step) {
                last.step = step;
                last.count += 1;
                continue;
            }
        }
        spans.push(Span { from, step: 1, to, count: 1 });
    }
    spans
}

/// A selection along one axis, chunk by chunk and block by block.
#[derive(Debug)]
pub(in crate::array) struct AxisPlan {
    pub(in crate::array) count: usize,
    pub(in crate::array) keeps_axis: bool,
    pub(in crate::array) chunks: Vec<AxisChunk>,
    /// Whether the chunks take places in the result that lie apart.
    is_apart: bool,
}

/// The selection within the chunks at one index of the grid along an axis.
#[derive(Debug)]
pub(in crate::array) struct AxisChunk {
    /// Its index in the grid.
    pub(in crate::array) place: u64,
    pub(in crate::array) blocks: Vec<AxisBlock>,
    /// Whether all items of the array that the chunk has along this axis are taken.
    pub(in crate::array) is_covered: bool,
}

/// The selection within the blocks at one index along an axis.
#[derive(Debug)]
pub(in crate::array) struct AxisBlock {
    /// Its index in the chunk.
    pub(in crate::array) place: u64,
    pub(in crate::array) spans: Vec<Span>,
    /// The first and the last index that is taken.
    pub(in crate::array) first: usize,
    pub(in crate::array) last: usize,
}

impl AxisBlock {
    fn new(place: u64, spans: Vec<Span>) -> Option<Self> {
        let ends = || spans.iter().flat_map(|span| [span.from, span.last()]);
        let (first, last) = (ends().min()?, ends().max()?);
        Some(Self { place, spans, first, last })
    }

    /// The places in the result that it takes, and perhaps others between them.
    fn places(&self) -> Range<usize> {
        let start = self.spans.iter().map(|span| span.to).min().unwrap_or(0);
        let end = self.spans.iter().map(|span| span.to + span.count).max().unwrap_or(0);
        start..end
    }

    /// How many different items are taken.
    fn distinct(&self) -> usize {
        if let [span] = &self.spans[..] {
            return if span.step == 0 { 1 } else { span.count };
        }
        let mut indices: Vec<usize> = self.spans.iter().flat_map(Span::indices).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.len()
    }
}

/// A part of an axis that is worked on by itself.
#[derive(Debug, Clone)]
pub(in crate::array) struct Group {
    /// Which of the chunks of the plan.
    pub(in crate::array) chunks: Range<usize>,
    /// Which of the blocks, if it is one chunk and not all of it.
    pub(in crate::array) blocks: Option<Range<usize>>,
    /// The places in the result.
    pub(in crate::array) places: Range<usize>,
}

impl AxisPlan {
    /// The plan of an empty selection, because that of another axis is empty.
    pub(in crate::array) fn empty(selection: &CheckedSelection) -> Self {
        Self { count: selection.count(), keeps_axis: selection.keeps_axis, chunks: Vec::new(), is_apart: true }
    }

    /// What `selection` selects of an axis of `length`, in chunks of `chunk` and blocks of `block`.
    pub(in crate::array) fn new(
        selection: &CheckedSelection,
        length: u64,
        chunk: u64,
        block: u64,
        limits: Limits,
    ) -> Result<Self> {
        let room = size_of::<AxisChunk>() + size_of::<AxisBlock>() + size_of::<Span>();
        limits.check("a list of blocks", selection.most_blocks(chunk, block).saturating_mul(room))?;
        let chunks = selection.touched(chunk, length.div_ceil(chunk.max(1)));
        let chunks = chunks.into_iter().map(|place| {
            let start = place * chunk;
            let span = start..length.min(start + chunk);
            let blocks = blocks_of(selection, &span, block);
            let taken: usize = blocks.iter().map(AxisBlock::distinct).sum();
            AxisChunk { place, blocks, is_covered: taken as u64 == span.end - span.start }
        });
        let chunks = chunks.collect();
        Ok(Self { count: selection.count(), keeps_axis: selection.keeps_axis, chunks, is_apart: selection.is_apart() })
    }

    pub(in crate::array) fn nblocks(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.blocks.len()).sum()
    }

    /// The parts that can be worked on at the same time, in the order of their places: chunks, or
    /// their blocks.
    pub(in crate::array) fn groups(&self, by_block: bool) -> Vec<Group> {
        if !self.is_apart {
            return vec![Group { chunks: 0..self.chunks.len(), blocks: None, places: 0..self.count }];
        }
        let mut groups = Vec::new();
        for (at, chunk) in self.chunks.iter().enumerate() {
            let places = chunk.blocks.iter().map(AxisBlock::places);
            if by_block {
                groups.extend(places.enumerate().map(|(block, places)| Group {
                    chunks: at..at + 1,
                    blocks: Some(block..block + 1),
                    places,
                }));
            } else if let Some(places) = places.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) {
                groups.push(Group { chunks: at..at + 1, blocks: None, places });
            }
        }
        groups.sort_unstable_by_key(|group| group.places.start);
        groups
    }
}

/// The selection within the blocks of one chunk, which has the items `chunk` of the axis.
fn blocks_of(selection: &CheckedSelection, chunk: &Range<u64>, block: u64) -> Vec<AxisBlock> {
    let spans = selection.spans(chunk);
    let (Some(first), Some(last)) = (
        spans.iter().map(|span| span.from.min(span.last())).min(),
        spans.iter().map(|span| span.from.max(span.last())).max(),
    ) else {
        return Vec::new();
    };
    let blocks = first as u64 / block..=last as u64 / block;
    let taken: u64 = spans.iter().map(|span| span.count as u64).sum();
    let blocks: Vec<u64> = if blocks.end() - blocks.start() < taken {
        blocks.collect()
    } else {
        // Few items, far apart: most of the blocks between them have none.
        let mut blocks: Vec<u64> = spans.iter().flat_map(Span::indices).map(|index| index as u64 / block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    };
    let cell = |place: u64| chunk.start + place * block..chunk.end.min(chunk.start + (place + 1) * block);
    blocks.into_iter().filter_map(|place| AxisBlock::new(place, selection.spans(&cell(place)))).collect()
}

fn steps(axis: usize, length: u64, start: u64, end: Option<u64>, step: i64) -> Result<Indices> {
    if step == 0 {
        bail!(InvalidArgument, "axis {axis}: a step of 0 goes nowhere");
    }
    let stride = step.unsigned_abs();
    if step > 0 {
        let end = end.unwrap_or(length);
        if start > end || end > length {
            bail!(InvalidArgument, "axis {axis}: {start}..{end} is not within its {length} items");
        }
        let count = size((end - start).div_ceil(stride));
        return Ok(Indices::Steps { start, step: stride, count, is_reversed: false });
    }
    // Down to the end, which is not included, or to 0, which is.
    check(axis, start, length)?;
    let span = match end {
        Some(end) if end > start => bail!(InvalidArgument, "axis {axis}: {end} is not below {start}"),
        Some(end) => start - end,
        None => start + 1,
    };
    let count = span.div_ceil(stride);
    let lowest = start - stride * count.saturating_sub(1);
    Ok(Indices::Steps { start: lowest, step: stride, count: size(count), is_reversed: true })
}

fn check(axis: usize, index: u64, length: u64) -> Result<()> {
    if index >= length {
        bail!(InvalidArgument, "axis {axis}: {index} is not within its {length} items");
    }
    Ok(())
}

/// Counts of items that are in memory, or will be.
fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(selection: &AxisSelection, length: u64) -> Vec<u64> {
        let selection = CheckedSelection::new(selection, 0, length).unwrap();
        let plan = AxisPlan::new(&selection, length, 3, 2, Limits::new()).unwrap();
        let mut result = vec![u64::MAX; plan.count];
        for (chunk, block) in plan.chunks.iter().flat_map(|chunk| chunk.blocks.iter().map(move |block| (chunk, block)))
        {
            for span in &block.spans {
                for k in 0..span.count {
                    let index = span.from.checked_add_signed(span.step * k.cast_signed()).unwrap();
                    assert!((block.first..=block.last).contains(&index));
                    result[span.to + k] = chunk.place * 3 + block.place * 2 + index as u64;
                }
            }
        }
        result
    }

    #[test]
    fn picks_are_found_in_cells() {
        assert_eq!(taken(&AxisSelection::All, 5), [0, 1, 2, 3, 4]);
        assert_eq!(taken(&AxisSelection::Index(4), 5), [4]);
        assert_eq!(taken(&(2..9).into(), 10), [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(taken(&AxisSelection::slice(1, 10, 4), 10), [1, 5, 9]);
        assert_eq!(taken(&AxisSelection::slice(9, None, -2), 10), [9, 7, 5, 3, 1]);
        assert_eq!(taken(&AxisSelection::slice(8, 2, -3), 10), [8, 5]);
        assert_eq!(taken(&AxisSelection::indices([7, 0, 7, 3]), 10), [7, 0, 7, 3]);
        assert!(taken(&(3..3).into(), 10).is_empty());
    }

    #[test]
    fn groups_take_places_that_lie_apart() {
        let plan = |selection: &AxisSelection| {
            AxisPlan::new(&CheckedSelection::new(selection, 0, 10).unwrap(), 10, 4, 2, Limits::new()).unwrap()
        };
        let places = |plan: &AxisPlan, by_block| -> Vec<_> {
            plan.groups(by_block).into_iter().map(|group| (group.places.start, group.places.end)).collect()
        };
        assert_eq!(places(&plan(&AxisSelection::All), false), [(0, 4), (4, 8), (8, 10)]);
        assert_eq!(places(&plan(&AxisSelection::slice(9, None, -1)), false), [(0, 2), (2, 6), (6, 10)]);
        assert_eq!(places(&plan(&AxisSelection::slice(9, None, -1)), true), [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]);
        assert_eq!(places(&plan(&AxisSelection::indices([1, 1, 5, 9])), false), [(0, 2), (2, 3), (3, 4)]);
        assert_eq!(places(&plan(&AxisSelection::indices([5, 1, 9])), true), [(0, 3)]);
    }

    #[test]
    fn a_chunk_is_covered_if_all_of_it_is_taken() {
        let covered = |selection: &AxisSelection| -> Vec<bool> {
            let plan =
                AxisPlan::new(&CheckedSelection::new(selection, 0, 10).unwrap(), 10, 4, 3, Limits::new()).unwrap();
            plan.chunks.iter().map(|chunk| chunk.is_covered).collect()
        };
        assert_eq!(covered(&AxisSelection::All), [true, true, true]);
        assert_eq!(covered(&(1..10).into()), [false, true, true]);
        assert_eq!(covered(&AxisSelection::indices([3, 2, 1, 0, 8, 8])), [true, false]);
        assert_eq!(covered(&AxisSelection::slice(0, 10, 2)), [false; 3]);
    }

    #[test]
    fn picks_outside_are_refused() {
        for selection in [
            AxisSelection::Index(5),
            (0..6).into(),
            AxisSelection::slice(5, None, -1),
            AxisSelection::indices([5]),
            AxisSelection::slice(0, 5, 0),
        ] {
            assert!(CheckedSelection::new(&selection, 0, 5).is_err(), "{selection:?}");
        }
    }
}
