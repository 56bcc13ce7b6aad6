//! The latest sequence, held back until the next match is known: where the two meet is chosen so
//! that they take the fewest bytes together.

use core::ops::Range;

use super::rows::Match;
use super::sequence::{MATCH_COST, MIN_MATCH, SequenceWriter, extension_length};
use crate::lz::matching::common_length_before;

/// How far before itself a match is compared: far enough to take over all that a match has in one
/// byte of its length.
const FARTHEST_BACK: usize = 1024;

/// Literals and the match after them.
pub(super) struct Pending {
    literals: Range<usize>,
    found: Match,
}

impl Pending {
    /// What lies between `anchor` and the end of `found`.
    pub(super) fn new(anchor: usize, found: Match) -> Self {
        Self { literals: anchor..found.at, found }
    }

    /// Where the next literals start.
    pub(super) fn end(&self) -> usize {
        self.found.end()
    }

    /// Writes the sequence.
    #[inline(always)]
    pub(super) fn write(self, src: &[u8], writer: &mut SequenceWriter<'_>) -> Option<()> {
        writer.sequence(src, self.literals, self.found.at - self.found.from, self.found.length)
    }

    /// The sequence of the match that comes next. This one is written, as much of it as that
    /// leaves.
    #[inline(always)]
    pub(super) fn followed_by(mut self, next: Match, src: &[u8], writer: &mut SequenceWriter<'_>) -> Option<Self> {
        if next.at > self.end() {
            let anchor = self.end();
            self.write(src, writer)?;
            return Some(Self::new(anchor, next));
        }
        let start = self.literals.start;
        let back = common_length_before(src, next.from, next.at, (next.at - start).min(FARTHEST_BACK));
        if self.found.length < back + MATCH_COST {
            return Some(Self::new(start, next.longer_before(back)));
        }
        let moved = self.cheaper_cut(&next, back);
        self.found.length -= moved;
        let anchor = self.end();
        self.write(src, writer)?;
        Some(Self::new(anchor, next.longer_before(moved)))
    }

    /// How many bytes the next match should take over so that the lengths of both take fewer bytes,
    /// if it can take up to `back`.
    #[inline(always)]
    fn cheaper_cut(&self, next: &Match, back: usize) -> usize {
        let extra = self.found.length - MIN_MATCH;
        let Some(above) = extra.checked_sub(15) else { return 0 };
        let cut = above % 255 + 1;
        let next_extra = next.length - MIN_MATCH;
        let is_cheaper = extension_length(next_extra + cut) == extension_length(next_extra);
        if cut <= back && is_cheaper { cut } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Match, Pending, SequenceWriter};

    /// What is written for two matches in bytes that are all the same, and where the second starts
    /// then.
    fn joined(first: Match, second: Match) -> (usize, Match) {
        let (src, mut out) = ([7; 700], [0; 700]);
        let mut writer = SequenceWriter::new(&mut out);
        let pending = Pending::new(first.at - 2, first).followed_by(second, &src, &mut writer).expect("there is room");
        (writer.written(), pending.found)
    }

    #[test]
    fn a_match_takes_over_what_would_need_one_more_byte_for_the_length_before_it() {
        let (written, second) = joined(Match { at: 50, from: 0, length: 20 }, Match { at: 70, from: 10, length: 10 });
        assert_eq!((written, second.at, second.from, second.length), (5, 68, 8, 12));
        let (written, second) = joined(Match { at: 50, from: 0, length: 275 }, Match { at: 325, from: 10, length: 10 });
        assert_eq!((written, second.at, second.from, second.length), (6, 323, 8, 12));
    }

    #[test]
    fn a_length_that_would_only_move_its_byte_to_the_next_match_stays() {
        let (written, second) = joined(Match { at: 50, from: 0, length: 20 }, Match { at: 70, from: 10, length: 18 });
        assert_eq!((written, second.at, second.length), (6, 70, 18));
        let (written, second) = joined(Match { at: 50, from: 0, length: 40 }, Match { at: 90, from: 5, length: 10 });
        assert_eq!((written, second.at, second.length), (6, 90, 10));
    }

    #[test]
    fn a_match_that_reaches_over_the_one_before_it_replaces_it() {
        let (written, second) = joined(Match { at: 50, from: 0, length: 8 }, Match { at: 58, from: 20, length: 9 });
        assert_eq!((written, second.at, second.from, second.length), (0, 48, 10, 19));
        let (written, second) = joined(Match { at: 50, from: 0, length: 8 }, Match { at: 58, from: 6, length: 9 });
        assert_eq!((written, second.at, second.from, second.length), (0, 52, 0, 15));
        let (written, second) = joined(Match { at: 50, from: 0, length: 8 }, Match { at: 58, from: 5, length: 9 });
        assert_eq!((written, second.at, second.length), (5, 58, 9));
    }
}
