//! The lowest levels of high compression: one table finds matches of seven bytes, another those of
//! four.

use super::sequence::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, SequenceWriter};
use crate::lz::matching::{common_length, common_length_before, hash4, hash7, low4};
use crate::lz::window::{Key, Positions, Window};

const BITS: u32 = 14;
const SLOTS: usize = 1 << BITS;
/// The step grows by one each time so many literals have come together.
const LITERALS_PER_STEP: usize = 512;

/// The tables of the middle levels.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    long: Positions<u32, SLOTS>,
    short: Positions<u32, SLOTS>,
}

impl Tables {
    pub(super) fn new() -> Self {
        Self { long: Positions::new(), short: Positions::new() }
    }
}

/// Seven bytes.
struct Word7;

impl Key<SLOTS> for Word7 {
    #[inline(always)]
    fn slot(word: u64) -> usize {
        hash7(word, BITS)
    }
}

/// Four bytes.
struct Word4;

impl Key<SLOTS> for Word4 {
    #[inline(always)]
    fn slot(word: u64) -> usize {
        hash4(low4(word), BITS)
    }
}

struct Search<'a> {
    src: &'a [u8],
    long: Window<'a, Word7, u32, SLOTS>,
    short: Window<'a, Word4, u32, SLOTS>,
    /// Where the last match may start.
    last_start: usize,
    /// Where the last match must end.
    end: usize,
}

/// Writes the block of everything from `start` on.
pub(super) fn encode(tables: &mut Tables, src: &[u8], start: usize, dst: &mut [u8]) -> Option<usize> {
    let mut writer = SequenceWriter::new(dst);
    let mut search = Search {
        src,
        long: Window::new(&mut tables.long, src)?,
        short: Window::new(&mut tables.short, src)?,
        last_start: src.len() - MATCH_MARGIN,
        end: src.len() - LAST_LITERALS,
    };
    for at in 0..start.min(search.last_start) {
        search.long.remember(at);
        search.short.remember(at);
    }
    let mut anchor = start;
    let mut at = start.max(1);
    while at <= search.last_start {
        let Some((found, from, length)) = search.match_at(at) else {
            at += 1 + (at - anchor) / LITERALS_PER_STEP;
            continue;
        };
        let back = common_length_before(src, from, found, found - anchor);
        writer.sequence(src, anchor..found - back, found - from, back + length)?;
        anchor = found + length;
        if anchor > search.last_start {
            break;
        }
        search.remember_end(found, anchor);
        at = anchor;
    }
    writer.finish(src, anchor..src.len())
}

impl Search<'_> {
    /// A match at `at` or right after it: where it is, where it came from and how long it is.
    #[inline(always)]
    fn match_at(&mut self, at: usize) -> Option<(usize, usize, usize)> {
        let long = self.long.swap(at);
        let short = self.short.swap(at);
        if let Some(length) = self.match_length(at, long) {
            return Some((at, long, length));
        }
        let length = self.match_length(at, short)?;
        if at < self.last_start {
            let from = self.long.swap(at + 1);
            if let Some(later) = self.match_length(at + 1, from)
                && later > length
            {
                return Some((at + 1, from, later));
            }
        }
        Some((at, short, length))
    }

    /// How long the match is, if it is one.
    #[inline(always)]
    fn match_length(&self, at: usize, from: usize) -> Option<usize> {
        let found = at - from <= MAX_DISTANCE && low4(self.long.word(from)) == low4(self.long.word(at));
        found.then(|| common_length(self.src, from, at, self.end))
    }

    /// Lets some positions of a match be found, near its start and near its end.
    #[inline(always)]
    fn remember_end(&mut self, start: usize, end: usize) {
        self.long.remember(start + 1);
        self.long.remember(start + 2);
        self.short.remember(start + 1);
        if end - start > 5 {
            self.long.remember(end - 5);
        }
        self.long.remember(end - 3);
        self.long.remember(end - 2);
        self.short.remember(end - 2);
        self.short.remember(end - 1);
    }
}
