//! An array cut into parts that follow each other in C order, each within a budget of memory.

use std::ops::Range;

/// Parts of an array, in C order: the items of each are in a row, and those of the next follow.
pub(super) struct Regions {
    shape: Vec<u64>,
    /// The axis along which parts are ranges: before it they are single indices, behind it everything.
    axis: usize,
    /// How long the ranges are.
    length: u64,
    /// Where the next part starts; `None` behind the last one.
    next: Option<Vec<u64>>,
}

impl Regions {
    /// Parts of at most `budget` bytes, unless a single item has more. They start at multiples of `cells` along the axis
    /// that is cut, if that fits the budget.
    pub(super) fn new(shape: &[u64], cells: &[u64], typesize: usize, budget: u64) -> Self {
        let nbytes_from = |axis: usize| {
            let items = shape.get(axis..).unwrap_or_default();
            items.iter().fold(typesize as u64, |nbytes, &length| nbytes.saturating_mul(length))
        };
        let axis =
            (0..shape.len()).find(|&axis| nbytes_from(axis + 1) <= budget).unwrap_or(shape.len().saturating_sub(1));
        let fitting = budget.checked_div(nbytes_from(axis + 1)).unwrap_or(u64::MAX).max(1);
        let cell = cells.get(axis).copied().unwrap_or(1).max(1);
        let length = if fitting >= cell { fitting - fitting % cell } else { fitting };
        let next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Self { shape: shape.to_vec(), axis, length, next }
    }

    fn advance(&mut self, mut place: Vec<u64>) -> Option<Vec<u64>> {
        for axis in (0..=self.axis).rev() {
            let step = if axis == self.axis { self.length } else { 1 };
            let (Some(at), Some(&length)) = (place.get_mut(axis), self.shape.get(axis)) else { return None };
            *at = at.saturating_add(step);
            if *at < length {
                return Some(place);
            }
            *at = 0;
        }
        None
    }
}

impl Iterator for Regions {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        let place = self.next.take()?;
        let lengths = self.shape.iter().enumerate();
        let region = lengths.zip(&place).map(|((axis, &length), &start)| match axis.cmp(&self.axis) {
            std::cmp::Ordering::Less => start..start + 1,
            std::cmp::Ordering::Equal => start..length.min(start.saturating_add(self.length)),
            std::cmp::Ordering::Greater => 0..length,
        });
        let region = region.collect();
        self.next = self.advance(place);
        Some(region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(shape: &[u64], cells: &[u64], budget: u64) -> Vec<Vec<(u64, u64)>> {
        let regions = Regions::new(shape, cells, 1, budget);
        regions.map(|region| region.into_iter().map(|range| (range.start, range.end)).collect()).collect()
    }

    #[test]
    fn parts_are_as_long_as_the_budget_allows() {
        assert_eq!(starts(&[5, 4], &[2, 2], 100), [[(0, 5), (0, 4)]]);
        assert_eq!(starts(&[5, 4], &[2, 2], 13), [[(0, 2), (0, 4)], [(2, 4), (0, 4)], [(4, 5), (0, 4)]]);
        assert_eq!(starts(&[2, 4], &[2, 3], 3).len(), 4);
        assert_eq!(starts(&[2, 4], &[2, 3], 3)[1], [(0, 1), (3, 4)]);
        assert_eq!(starts(&[2, 2], &[1, 1], 0).len(), 4);
        assert_eq!(starts(&[], &[], 8), [[(0, 0); 0]]);
        assert!(starts(&[3, 0], &[1, 1], 8).is_empty());
    }
}
