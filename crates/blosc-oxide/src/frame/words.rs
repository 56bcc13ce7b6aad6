//! Lists of words that a commit changes a few of: a hash that is brought up to date with what has
//! changed, and which words have changed.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;

/// What places are multiplied with, and the constants of the finalizer of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;
/// Changes that are no further apart count as one: a longer write costs less than one more.
const NEAR: usize = 64;
/// With more changes than this, all from the first to the last count as changed.
const MAX_CHANGES: usize = 1024;

/// The hash of a word at a place.
fn hash_of(at: usize, word: u64) -> u64 {
    let mixed = word.wrapping_add((at as u64).wrapping_add(1).wrapping_mul(STEP));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(FIRST);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(SECOND);
    mixed ^ (mixed >> 31)
}

/// The sum of the hashes of words, of which the first is at `first`.
pub(super) fn sum_of(first: usize, words: impl Iterator<Item = u64>) -> u64 {
    words.zip(first..).fold(0, |sum: u64, (word, at)| sum.wrapping_add(hash_of(at, word)))
}

/// The words that bytes are, from one on.
pub(super) fn words_from(bytes: &[u8], first: usize) -> impl ExactSizeIterator<Item = u64> + '_ {
    let (words, _) = bytes.as_chunks();
    words.get(first..).unwrap_or_default().iter().map(|word| u64::from_le_bytes(*word))
}

/// The sum of the hashes of a list of words, as far as it has been counted.
#[derive(Debug, Default)]
pub(super) struct WordSum {
    sum: u64,
    counted: usize,
}

impl WordSum {
    /// The words from `start` on are going to change; `words` are those that are there.
    pub(super) fn forget_from(&mut self, start: usize, words: impl Iterator<Item = u64>) {
        if start < self.counted {
            let counted = words.take(self.counted.saturating_sub(start));
            self.sum = self.sum.wrapping_sub(sum_of(start, counted));
            self.counted = start;
        }
    }

    /// The words from `start` on give way to as many others.
    pub(super) fn replace(
        &mut self,
        start: usize,
        old: impl ExactSizeIterator<Item = u64>,
        new: impl Iterator<Item = u64>,
    ) {
        if start.saturating_add(old.len()) <= self.counted {
            self.sum = self.sum.wrapping_sub(sum_of(start, old)).wrapping_add(sum_of(start, new));
        } else {
            self.forget_from(start, old);
        }
    }

    /// The sum of all words, of which there are `len`; `words` gives those from a place on.
    pub(super) fn total<I: Iterator<Item = u64>>(&mut self, len: usize, words: impl FnOnce(usize) -> I) -> u64 {
        self.sum = self.sum.wrapping_add(sum_of(self.counted, words(self.counted)));
        self.counted = len;
        self.sum
    }
}

/// Which words have changed: ranges in order, none near another. The last one may go on for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes(Vec<Range<usize>>);

impl Changes {
    /// All words have.
    pub(super) fn all() -> Self {
        let all = 0..usize::MAX;
        Self(vec![all])
    }

    /// Takes notice of words that have changed.
    pub(super) fn note(&mut self, changed: Range<usize>) {
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
    pub(super) fn add(&mut self, others: &Self) {
        others.0.iter().for_each(|range| self.note(range.clone()));
    }

    /// Those among the first `len` words.
    pub(super) fn within(&self, len: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.iter().map(move |range| range.start..range.end.min(len)).filter(|range| !range.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_follows_its_words() {
        let mut words: Vec<u64> = (0..50).map(|word| word * word).collect();
        let mut sum = WordSum::default();
        let check = |sum: &mut WordSum, words: &[u64]| {
            let expected = sum_of(0, words.iter().copied());
            assert_eq!(sum.total(words.len(), |from| words[from..].iter().copied()), expected);
        };
        check(&mut sum, &words);
        words.push(7);
        check(&mut sum, &words);
        sum.replace(3, words[3..5].iter().copied(), [8, 9].into_iter());
        words.splice(3..5, [8, 9]);
        check(&mut sum, &words);
        words.push(3);
        // The last word has not been counted.
        sum.replace(50, words[50..52].iter().copied(), [1, 2].into_iter());
        words.splice(50..52, [1, 2]);
        check(&mut sum, &words);
        sum.forget_from(10, words[10..].iter().copied());
        words.remove(10);
        check(&mut sum, &words);
        sum.forget_from(0, words.iter().copied());
        words.clear();
        check(&mut sum, &words);
    }

    #[test]
    fn a_sum_tells_words_that_have_changed_places() {
        let words = [5, 6, 7, 0];
        let all: Vec<u64> = [[5, 6, 7, 0], [6, 5, 7, 0], [5, 6, 0, 7], [5, 6, 7, 1]]
            .iter()
            .map(|words| sum_of(0, words.iter().copied()))
            .chain([sum_of(0, words[..3].iter().copied()), sum_of(1, words.into_iter())])
            .collect();
        assert!((1..all.len()).all(|at| !all[..at].contains(&all[at])), "{all:x?}");
    }

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
