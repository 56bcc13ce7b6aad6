//! A hash of a list of words of which a commit changes a few: it is brought up to date with those.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

/// What places are multiplied with, and the constants of the finalizer of SplitMix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;

/// The hash of a word at a place.
fn hash_of(at: usize, word: u64) -> u64 {
    let mixed = word.wrapping_add((at as u64).wrapping_add(1).wrapping_mul(STEP));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(FIRST);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(SECOND);
    mixed ^ (mixed >> 31)
}

/// The sum of the hashes of words, of which the first is at `first`.
pub(in crate::frame) fn sum_of(first: usize, words: impl Iterator<Item = u64>) -> u64 {
    words.zip(first..).fold(0, |sum: u64, (word, at)| sum.wrapping_add(hash_of(at, word)))
}

/// The words that bytes are, from one on.
pub(in crate::frame) fn words_from(bytes: &[u8], first: usize) -> impl ExactSizeIterator<Item = u64> + '_ {
    let (words, _) = bytes.as_chunks();
    words.get(first..).unwrap_or_default().iter().map(|word| u64::from_le_bytes(*word))
}

/// The sum of the hashes of a list of words, as far as it has been counted.
#[derive(Debug, Default)]
pub(in crate::frame) struct WordSum {
    sum: u64,
    counted: usize,
}

impl WordSum {
    /// The words from `start` on are going to change; `words` are those that are there.
    pub(in crate::frame) fn forget_from(&mut self, start: usize, words: impl Iterator<Item = u64>) {
        if start < self.counted {
            let counted = words.take(self.counted.saturating_sub(start));
            self.sum = self.sum.wrapping_sub(sum_of(start, counted));
            self.counted = start;
        }
    }

    /// Replaces the words from `start` on by as many others.
    pub(in crate::frame) fn replace(
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

    /// The sum of all `len` words; `words` iterates from an index on.
    pub(in crate::frame) fn total<I: Iterator<Item = u64>>(
        &mut self,
        len: usize,
        words: impl FnOnce(usize) -> I,
    ) -> u64 {
        self.sum = self.sum.wrapping_add(sum_of(self.counted, words(self.counted)));
        self.counted = len;
        self.sum
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
}
