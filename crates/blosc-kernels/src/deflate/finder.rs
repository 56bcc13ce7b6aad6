//! Finding the longest match of a position, in rows of earlier ones.

use alloc::vec::Vec;

use super::symbols::{MAX_DISTANCE, MAX_MATCH};
use crate::lz::matching::{common_length, load};
use crate::lz4::rows::{Row, cleared};

/// How many positions all rows can hold together: twice as many as matches can reach, since rows
/// fill unevenly.
const ENTRIES: usize = 2 * MAX_DISTANCE;
/// The fewest positions it is worth having rows for.
const MIN_ENTRIES: usize = 1024;
/// How many bytes are hashed, and so the least that a match has.
const HASHED: usize = 4;
/// How many bytes are read at once before a position, and from there on.
const BEFORE: usize = 1;
const BEHIND: usize = 7;

/// How many slots a row has.
const WIDTH: usize = 16;
/// How many more positions are looked at when a good match was found.
const MORE_ATTEMPTS: u32 = 4;
/// Of more positions than this in a row, all inside one match, not all are put into the rows.
const STRETCH: usize = 16;
/// How many of them are at each end; of those in between it is one in so many.
const STRETCH_ENDS: usize = 4;
const STRETCH_STEP: usize = 16;

/// How much is done to find long matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    /// How many earlier positions are looked at.
    pub(super) attempts: u32,
    /// With a match this long, only [`MORE_ATTEMPTS`] are made.
    pub(super) good: usize,
    /// A match this long is long enough.
    pub(super) enough: usize,
    /// A match shorter than this is given up for a longer one at the next position.
    pub(super) lazy: usize,
}

/// A match of the input with earlier bytes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) distance: usize,
}

impl Match {
    /// The position after the match.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.at + self.length
    }

    /// The match with `back` more bytes before it.
    #[inline(always)]
    pub(super) fn longer_before(self, back: usize) -> Self {
        Self { at: self.at - back, length: self.length + back, ..self }
    }
}

/// The memory of a [`Finder`].
#[derive(Debug, Clone, Default)]
pub(super) struct Rows(Vec<Row<WIDTH>>);

/// Finds matches of one input.
pub(super) struct Finder<'a> {
    src: &'a [u8],
    rows: &'a mut [Row<WIDTH>],
    row_bits: u32,
    depth: Depth,
    /// The first position that was not put into the rows yet.
    next: usize,
    /// The first position that is not followed by as many bytes as are read at once.
    end: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(rows: &'a mut Rows, src: &'a [u8], depth: Depth) -> Self {
        let entries = (2 * src.len()).clamp(MIN_ENTRIES, ENTRIES);
        let count = (entries / WIDTH).next_power_of_two();
        let rows = cleared(&mut rows.0, count);
        let end = (src.len() + 1).saturating_sub(BEHIND);
        Self { src, rows, row_bits: count.ilog2(), depth, next: BEFORE, end }
    }

    /// The first position at which no match is looked for.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// The longest match at `at`, of at least [`HASHED`] bytes.
    #[inline(always)]
    pub(super) fn longest(&mut self, at: usize) -> Option<Match> {
        let src = self.src;
        let end = src.len().min(at + MAX_MATCH);
        if at >= self.end || at < BEFORE || at + HASHED > end {
            return None;
        }
        self.insert_before(at);
        let around = Around::new(&src[at - BEFORE..at + BEHIND]);
        let mut best = Match { at, length: HASHED - 1, distance: 0 };
        if around.is_run_before() {
            let length = common_length(src, at - 1, at, end);
            if length > best.length {
                best.length = length;
                best.distance = 1;
                if length >= self.depth.enough || at + length >= end {
                    self.next = at;
                    return Some(best);
                }
            }
        }
        let (row, tag) = around.place(self.row_bits);
        let row = &mut self.rows[row];
        let mut candidates = row.candidates(tag);
        let mut tail = best.length + 1 - HASHED;
        let mut closing = word4(src, at + tail);
        let mut attempts = self.depth.attempts;
        while candidates != 0 && attempts > 0 {
            let distance = row.distance(at, candidates.trailing_zeros());
            candidates &= candidates - 1;
            attempts -= 1;
            if distance.wrapping_sub(1) >= MAX_DISTANCE.min(at) {
                continue;
            }
            let from = at - distance;
            // SAFETY: `from` is before `at`, and `word4` has checked that four bytes follow
            // `at + tail`.
            let other = u32::from_le_bytes(unsafe { load(src, from + tail) });
            if other != closing {
                continue;
            }
            let length = common_length(src, from, at, end);
            if length > best.length {
                best.length = length;
                best.distance = distance;
                if length >= self.depth.enough || at + length >= end {
                    break;
                }
                if length >= self.depth.good {
                    attempts = attempts.min(MORE_ATTEMPTS);
                }
                tail = length + 1 - HASHED;
                closing = word4(src, at + tail);
            }
        }
        if !around.is_inside_run() {
            row.insert(tag, at);
        }
        (best.distance > 0).then_some(best)
    }

    /// Puts the positions before `at` into the rows, and lets `at` be the last of them.
    #[inline(always)]
    fn insert_before(&mut self, at: usize) {
        if self.next + STRETCH < at {
            self.insert_stretch(at);
        }
        self.insert(at);
        self.next = at + 1;
    }

    /// Puts some of the positions before `at` into the rows, up to the last few.
    #[cold]
    fn insert_stretch(&mut self, at: usize) {
        let (first, last) = (self.next + STRETCH_ENDS, at - STRETCH_ENDS);
        self.insert(first);
        for position in (first..last).step_by(STRETCH_STEP) {
            self.next = position;
            self.insert(position + 1);
        }
        self.next = last;
    }

    /// Puts all positions before `end` into the rows.
    #[inline(always)]
    fn insert(&mut self, end: usize) {
        if self.next >= end {
            return;
        }
        let bytes = &self.src[self.next - BEFORE..end - 1 + BEHIND];
        for (position, bytes) in (self.next..end).zip(bytes.windows(BEFORE + BEHIND)) {
            let around = Around::new(bytes);
            if around.is_inside_run() {
                continue;
            }
            let (row, tag) = around.place(self.row_bits);
            self.rows[row].insert(tag, position);
        }
    }
}

/// A position: the byte before it is the lowest, then come those from there on.
#[derive(Clone, Copy)]
struct Around(u64);

impl Around {
    #[inline(always)]
    fn new(bytes: &[u8]) -> Self {
        Self(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    /// A bit is set where a byte differs from the one before it.
    #[inline(always)]
    fn changes(self) -> u64 {
        self.0 ^ self.0 >> 8
    }

    /// Whether the hashed bytes are all the same as the one before them.
    #[inline(always)]
    fn is_run_before(self) -> bool {
        self.changes() << 32 == 0
    }

    /// Whether so is the byte behind them. Then both neighbours have the same hash.
    #[inline(always)]
    fn is_inside_run(self) -> bool {
        self.changes() << 24 == 0
    }

    /// The row of the hashed bytes, and their tag.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "four bytes are hashed, and a tag is eight bits of the hash")]
    fn place(self, row_bits: u32) -> (usize, u8) {
        let hash = ((self.0 >> 8) as u32).wrapping_mul(2_654_435_761);
        let row = (hash >> (32 - row_bits)) as usize;
        (row, ((hash >> (24 - row_bits)) as u8).max(1))
    }
}

/// The four bytes at `at`.
#[inline(always)]
fn word4(src: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(src[at..at + 4].try_into().expect("four bytes"))
}
