//! The literals and matches of a block, and where one block ends and the next begins.

use alloc::vec::Vec;

use super::bits::BitWriter;
use super::block::Block;
use super::counts::Counts;
use super::finder::Match;

/// So many symbols are looked at together: a block is some of such pieces.
const PIECE: u32 = 4096;
/// The most symbols of a block.
const BLOCK: u32 = 16 * PIECE;
/// The most literals of a sequence.
const RUN: usize = PIECE as usize;

/// Literals and the match after them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    pub(super) literals: u32,
    /// 0 if there is none.
    pub(super) length: u16,
    pub(super) distance: u16,
}

/// The memory of a [`Tokens`].
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    sequences: Vec<Sequence>,
    before: Counts,
    recent: Counts,
}

/// Gathers what was found, and writes a block when it is better ended.
pub(super) struct Tokens<'a> {
    src: &'a [u8],
    writer: BitWriter<'a>,
    sequences: &'a mut Vec<Sequence>,
    /// The counts of the block before the latest piece.
    before: &'a mut Counts,
    /// How many sequences these are of.
    before_sequences: usize,
    /// The counts of the latest piece.
    recent: &'a mut Counts,
    /// Where the block starts, where the latest piece does, and where it ends so far.
    start: usize,
    middle: usize,
    end: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(room: &'a mut Room, src: &'a [u8], dst: &'a mut [u8]) -> Self {
        let Room { sequences, before, recent } = room;
        sequences.clear();
        before.clear();
        recent.clear();
        let writer = BitWriter::new(dst);
        Self { src, writer, sequences, before, before_sequences: 0, recent, start: 0, middle: 0, end: 0 }
    }

    /// Adds a match and the literals between it and what was added before.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "lengths and distances of matches are small, and runs are cut")]
    pub(super) fn push(&mut self, found: &Match) -> Option<()> {
        self.push_runs(found.at)?;
        let literals = &self.src[self.end..found.at];
        self.recent.add_literals(literals);
        self.recent.add_match(found.length, found.distance);
        self.sequences.push(Sequence {
            literals: literals.len() as u32,
            length: found.length as u16,
            distance: found.distance as u16,
        });
        self.end = found.at + found.length;
        self.end_piece()
    }

    /// Adds literals as long as there are too many for one sequence before `end`.
    #[inline(always)]
    fn push_runs(&mut self, end: usize) -> Option<()> {
        while end - self.end > RUN {
            self.push_run(self.end + RUN)?;
        }
        Some(())
    }

    /// Adds literals up to `end`, which are not too many.
    #[cold]
    #[allow(clippy::cast_possible_truncation, reason = "runs are cut")]
    fn push_run(&mut self, end: usize) -> Option<()> {
        let literals = &self.src[self.end..end];
        self.recent.add_literals(literals);
        self.sequences.push(Sequence { literals: literals.len() as u32, length: 0, distance: 0 });
        self.end = end;
        self.end_piece()
    }

    #[inline(always)]
    fn end_piece(&mut self) -> Option<()> {
        if self.recent.symbols() < PIECE { Some(()) } else { self.settle_piece() }
    }

    /// Makes the latest piece part of the block, or the first of the next one.
    #[inline(never)]
    fn settle_piece(&mut self) -> Option<()> {
        if self.before.symbols() > 0 && (self.before.symbols() >= BLOCK || self.before.differ(self.recent)) {
            self.write_before(false)?;
        }
        self.before.add(self.recent);
        self.recent.clear();
        self.before_sequences = self.sequences.len();
        self.middle = self.end;
        Some(())
    }

    /// Writes what is before the latest piece as a block.
    fn write_before(&mut self, is_last: bool) -> Option<()> {
        let sequences = &self.sequences[..self.before_sequences];
        let block = Block { src: &self.src[self.start..self.middle], sequences, is_last };
        self.before.end_block();
        block.write(self.before, &mut self.writer)?;
        self.sequences.drain(..self.before_sequences);
        self.before.clear();
        self.before_sequences = 0;
        self.start = self.middle;
        Some(())
    }

    /// Adds the last literals and ends the stream: how long it is.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.push_runs(self.src.len())?;
        self.push_run(self.src.len())?;
        if self.before.symbols() > 0 && self.recent.symbols() > 0 && self.before.differ(self.recent) {
            self.write_before(false)?;
        }
        self.before.add(self.recent);
        self.before_sequences = self.sequences.len();
        self.middle = self.end;
        self.write_before(true)?;
        self.writer.finish()
    }
}
