//! The encoder of deflate streams, for input and output that are in memory as a whole.
//!
//! There is no window to slide and no state to leave and enter again. Matches are found in rows of
//! earlier positions, all of a row compared at once; a block ends where what follows is better
//! written with codes of its own.

mod bits;
mod block;
mod code;
mod counts;
mod finder;
mod parser;
mod quick;
mod short;
mod symbols;
mod tokens;

use core::fmt;

use crate::lz::window::MAX_INPUT;
use finder::{Depth, Rows};
use parser::parse;
use short::{Sampler, Table};
use symbols::MAX_DISTANCE;
use tokens::{Room, Tokens};

/// An encoder of deflate streams.
///
/// Keeps its tables between calls; what a call returns depends on its arguments only.
#[derive(Clone, Default)]
pub struct Deflater {
    quick: Option<quick::Table>,
    rows: Rows,
    room: Room,
    short: Option<(Sampler, Table)>,
}

impl Deflater {
    /// One with empty tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compresses `src` into `dst` and returns the length of the stream, or `None` if `dst` is too
    /// small for it.
    ///
    /// A higher `level`, from 1 to 5, is slower and compresses better.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        if level <= 1 {
            return quick::compress(self.quick.get_or_insert_default(), src, dst);
        }
        let tokens = Tokens::new(&mut self.room, src, dst);
        parse(&mut self.rows, None, src, depth(level), tokens)
    }

    /// Whether [`compress_short`](Self::compress_short) makes a shorter stream of `src`, by a
    /// sample of it.
    pub fn wants_short(&mut self, src: &[u8]) -> bool {
        self.short.get_or_insert_default().0.are_worth_it(src)
    }

    /// Compresses with matches of three bytes as well, at a level of 2 or more.
    pub fn compress_short(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (_, table) = self.short.get_or_insert_default();
        table.clear();
        let tokens = Tokens::new(&mut self.room, src, dst);
        let farthest = if level < 4 { MAX_DISTANCE } else { short::FAR };
        parse(&mut self.rows, Some((table, farthest)), src, depth(level), tokens)
    }
}

/// What is done at a level from 2 on.
fn depth(level: u8) -> Depth {
    let (attempts, good, enough) = match level {
        ..=2 => (2, 8, 16),
        3 => (6, 8, 32),
        4 => (8, 16, 32),
        _ => (15, 16, 64),
    };
    Depth { attempts, good, enough }
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deflater").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
