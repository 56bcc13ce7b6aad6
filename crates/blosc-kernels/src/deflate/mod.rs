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
use short::{Latest, Sampler};
use symbols::{MAX_DISTANCE, MAX_MATCH};
use tokens::{Room, Tokens};

/// An encoder of deflate streams.
///
/// Keeps its tables between calls; what a call returns depends on its arguments only.
#[derive(Clone, Default)]
pub struct Deflater {
    quick: Option<quick::Table>,
    rows: Rows,
    room: Room,
    sampler: Sampler,
    short: Latest,
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

    /// Whether [`compress_as_zlib`](Self::compress_as_zlib) should look for matches of three bytes
    /// in `src`, by a sample of it.
    pub fn wants_short(&mut self, src: &[u8]) -> bool {
        self.sampler.are_worth_it(src)
    }

    /// Compresses about as well as zlib at the same level, from 1 to 9, which takes longer than
    /// [`compress`](Self::compress). zlib has matches of three bytes; here it is up to the caller.
    pub fn compress_as_zlib(&mut self, src: &[u8], dst: &mut [u8], level: u8, is_short: bool) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let depth = depth_of_zlib(level, is_short);
        let tokens = Tokens::new(&mut self.room, src, dst);
        if !is_short {
            return parse(&mut self.rows, None, src, depth, tokens);
        }
        let farthest = if level < 4 { MAX_DISTANCE } else { short::FAR };
        self.short.start(src.len(), farthest);
        parse(&mut self.rows, Some((&mut self.short, farthest)), src, depth, tokens)
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
    Depth { attempts, good, enough, lazy: 0 }
}

/// What is done to compress as well as zlib at a level: from 4 on that gives matches up for longer
/// ones, too.
fn depth_of_zlib(level: u8, is_short: bool) -> Depth {
    let (attempts, good, enough, lazy) = match level {
        // More only where there are few to look at.
        ..=1 => (if is_short { 4 } else { 2 }, 8, 16, 0),
        2 => (6, 8, 16, 0),
        3 => (8, 8, 32, 0),
        4 => (8, 16, 32, 4),
        5 => (15, 16, 64, 16),
        6 => (15, 16, 128, 16),
        7 => (15, 32, 128, 32),
        _ => (15, MAX_MATCH, MAX_MATCH, 128),
    };
    Depth { attempts, good, enough, lazy }
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deflater").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
