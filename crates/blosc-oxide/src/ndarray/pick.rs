//! What is taken along each axis of an array.

use crate::error::{Result, bail};
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// What is taken along one axis.
///
/// ```
/// use blosc_oxide::Pick;
/// let picks = [Pick::from(3), (0..10).into(), (..).into(), Pick::steps(9, None, -2), Pick::list([5, 1, 1])];
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// Everything.
    All,
    /// One index; the axis is gone in the result.
    At(u64),
    /// From a start to before an end, by a step. A negative step goes down, and a missing end is where it runs out.
    Steps {
        /// The first index.
        start: u64,
        /// The index before which it ends, or after which if the step is negative.
        end: Option<u64>,
        /// How far from one index to the next; not 0.
        step: i64,
    },
    /// These indices, in any order, any number of times.
    List(Vec<u64>),
}

impl Pick {
    /// From `start` to before `end` by `step`.
    #[must_use]
    pub fn steps(start: u64, end: impl Into<Option<u64>>, step: i64) -> Self {
        Self::Steps { start, end: end.into(), step }
    }

    /// These indices.
    #[must_use]
    pub fn list(indices: impl IntoIterator<Item = u64>) -> Self {
        Self::List(indices.into_iter().collect())
    }
}

impl From<u64> for Pick {
    fn from(index: u64) -> Self {
        Self::At(index)
    }
}

impl From<Range<u64>> for Pick {
    fn from(range: Range<u64>) -> Self {
        Self::steps(range.start, range.end, 1)
    }
}

impl From<RangeFrom<u64>> for Pick {
    fn from(range: RangeFrom<u64>) -> Self {
        Self::steps(range.start, None, 1)
    }
}

impl From<RangeTo<u64>> for Pick {
    fn from(range: RangeTo<u64>) -> Self {
        Self::steps(0, range.end, 1)
    }
}

impl From<RangeFull> for Pick {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

/// A pick that has been checked against the length of its axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Indices {
    /// `start`, `start + step` and so on, `count` of them, counted backwards in the result if `is_reversed`.
    Steps { start: u64, step: u64, count: usize, is_reversed: bool },
    /// Indices with their places in the result, in the order of the indices.
    List(Vec<(u64, usize)>),
}

/// A pick of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisPick {
    pub(super) indices: Indices,
    /// Whether the axis is there in the result.
    pub(super) keeps_axis: bool,
}

/// The items of a pick that lie in one cell: `(index in the cell, place in the result)`, described or listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hits {
    pub(super) pairs: Vec<(usize, usize)>,
    /// Whether both numbers go up by one from each pair to the next.
    pub(super) is_run: bool,
}

impl Hits {
    /// How many different items there are.
    pub(super) fn distinct(&self) -> usize {
        let repeated = self.pairs.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        self.pairs.len() - repeated
    }
}

impl AxisPick {
    /// Checks `pick` against an axis of `length`.
    pub(super) fn new(pick: &Pick, axis: usize, length: u64) -> Result<Self> {
        let indices = match pick {
            Pick::All => steps(axis, length, 0, Some(length), 1)?,
            Pick::At(index) => {
                check(axis, *index, length)?;
                Indices::Steps { start: *index, step: 1, count: 1, is_reversed: false }
            }
            Pick::Steps { start, end, step } => steps(axis, length, *start, *end, *step)?,
            Pick::List(indices) => {
                let mut pairs: Vec<(u64, usize)> = indices.iter().copied().zip(0..).collect();
                pairs.iter().try_for_each(|&(index, _)| check(axis, index, length))?;
                pairs.sort_unstable();
                Indices::List(pairs)
            }
        };
        Ok(Self { indices, keeps_axis: !matches!(pick, Pick::At(_)) })
    }

    /// How many items are taken.
    pub(super) fn count(&self) -> usize {
        match &self.indices {
            Indices::Steps { count, .. } => *count,
            Indices::List(pairs) => pairs.len(),
        }
    }

    /// What is taken of the items `cell`.
    pub(super) fn hits(&self, cell: &Range<u64>) -> Hits {
        match &self.indices {
            Indices::Steps { start, step, count, is_reversed } => {
                let first = cell.start.saturating_sub(*start).div_ceil(*step);
                let last = cell.end.saturating_sub(*start).div_ceil(*step).min(*count as u64);
                let pairs = (first..last).map(|k| {
                    let place = size(k);
                    (size(start + k * step - cell.start), if *is_reversed { count - 1 - place } else { place })
                });
                Hits { pairs: pairs.collect(), is_run: *step == 1 && !is_reversed }
            }
            Indices::List(pairs) => {
                let first = pairs.partition_point(|&(index, _)| index < cell.start);
                let last = pairs.partition_point(|&(index, _)| index < cell.end);
                let hits = &pairs[first..last.max(first)];
                Hits {
                    pairs: hits.iter().map(|&(index, place)| (size(index - cell.start), place)).collect(),
                    is_run: false,
                }
            }
        }
    }

    /// The cells of `cell` items that have any of it, out of `cells`.
    pub(super) fn touched(&self, cell: u64, cells: u64) -> Vec<u64> {
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

    fn taken(pick: &Pick, length: u64) -> Vec<u64> {
        let pick = AxisPick::new(pick, 0, length).unwrap();
        let mut result = vec![u64::MAX; pick.count()];
        for cell in pick.touched(3, length.div_ceil(3)) {
            let span = cell * 3..(cell * 3 + 3).min(length);
            for (index, place) in pick.hits(&span).pairs {
                result[place] = span.start + index as u64;
            }
        }
        result
    }

    #[test]
    fn picks_are_found_in_cells() {
        assert_eq!(taken(&Pick::All, 5), [0, 1, 2, 3, 4]);
        assert_eq!(taken(&Pick::At(4), 5), [4]);
        assert_eq!(taken(&(2..9).into(), 10), [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(taken(&Pick::steps(1, 10, 4), 10), [1, 5, 9]);
        assert_eq!(taken(&Pick::steps(9, None, -2), 10), [9, 7, 5, 3, 1]);
        assert_eq!(taken(&Pick::steps(8, 2, -3), 10), [8, 5]);
        assert_eq!(taken(&Pick::list([7, 0, 7, 3]), 10), [7, 0, 7, 3]);
        assert!(taken(&(3..3).into(), 10).is_empty());
    }

    #[test]
    fn picks_outside_are_refused() {
        for pick in [Pick::At(5), (0..6).into(), Pick::steps(5, None, -1), Pick::list([5]), Pick::steps(0, 5, 0)] {
            assert!(AxisPick::new(&pick, 0, 5).is_err(), "{pick:?}");
        }
    }
}
