//! Which words of a list have changed.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;

/// Changes that are no further apart count as one: a longer write costs less than one more.
const NEAR: usize = 64;
/// With more changes than this, all from the first to the last count as changed.
const MAX_CHANGES: usize = 1024;

/// Which words have changed: ranges in order, none near another. The last one may go on for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes(Vec<Range<usize>>);

impl Changes {
    /// All words have.
    pub(in crate::frame) fn all() -> Self {
        let all = 0..usize::MAX;
        Self(vec![all])
    }

    /// Notes words that have changed.
    pub(in crate::frame) fn note(&mut self, changed: Range<usize>) {
        if changed.is_empty() {
            return;
        }
        let first = self.0.partition_point(|range| range.end.saturating_add(NEAR) < changed.start);
        let end = self.0.partition_point(|range| range.start <= changed.end.saturating_add(NEAR));
        let joined = self.0.get(first..end).unwrap_or_default();
        let start = joined.first().map_or(changed.start, |range| range.start.min(changed.start));
        let stop = joined.last().map_or(changed.end, |range| range.end.max(changed.end));
        self.0.splice(first..end.max(first), std::iter::once(start..stop));
        if self.0.len() > MAX_CHANGES {
            let all = self.0.first().map_or(0, |range| range.start)..self.0.last().map_or(0, |range| range.end);
            self.0 = vec![all];
        }
    }

    /// The same for all that others are.
    pub(in crate::frame) fn add(&mut self, others: &Self) {
        others.0.iter().for_each(|range| self.note(range.clone()));
    }

    /// Those among the first `len` words.
    pub(in crate::frame) fn within(&self, len: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.iter().map(move |range| range.start..range.end.min(len)).filter(|range| !range.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_are_near_are_joined() {
        let mut changes = Changes::default();
        for range in [1000..1001, 5000..5001, 10..12, 3000..3000, 900..950, 70..80, 9000..usize::MAX] {
            changes.note(range);
        }
        assert_eq!(changes.0, [10..80, 900..1001, 5000..5001, 9000..usize::MAX]);
        assert_eq!(changes.within(950).collect::<Vec<_>>(), [10..80, 900..950]);
        changes.note(9500..usize::MAX);
        changes.note(200..6000);
        assert_eq!(changes.0, [10..80, 200..6000, 9000..usize::MAX]);
        let mut others = Changes::default();
        others.note(85..86);
        others.add(&changes);
        assert_eq!(others.0, [10..86, 200..6000, 9000..usize::MAX]);
        (0..2000).for_each(|at| others.note(100_000 + at * 100..100_001 + at * 100));
        assert_eq!(others.0, [10..86, 200..6000, 9000..usize::MAX]);
    }

    #[test]
    fn too_many_changes_are_one() {
        let mut changes = Changes::default();
        (0..1025).for_each(|at| changes.note(at * 100..at * 100 + 1));
        let all = 0..102_401;
        assert_eq!(changes.0, [all]);
    }
}
