//! Choosing among overlapping matches.

use super::finder::{Depth, Finder, HASHED, Rows};
use super::symbols::MAX_MATCH;
use super::tokens::Tokens;
use crate::lz::matching::common_length_before;

/// How many literals in a row make positions being left out, one more for each time there are so many.
const SKIP_SHIFT: u32 = 9;
/// So many literals cost less than a match.
const CHEAP_LITERALS: usize = 2;

/// How much is done to find good matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub(super) depth: Depth,
    pub(super) choice: Choice,
}

/// When a match is given up for another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Choice {
    /// When the next one, extended back, leaves but few literals of it. Each position is looked at once.
    Extended,
    /// When it is shorter than `long` and there is a longer one that starts a byte later.
    Later { long: usize },
}

/// Finds the matches of an input and hands them on.
pub(super) fn parse(rows: &mut Rows, src: &[u8], effort: Effort, tokens: Tokens<'_>) -> Option<usize> {
    let finder = Finder::new(rows, src, effort.depth);
    match effort.choice {
        Choice::Extended => parse_extended(finder, src, tokens),
        Choice::Later { long } => parse_later(finder, long, tokens),
    }
}

fn parse_extended(mut finder: Finder<'_>, src: &[u8], mut tokens: Tokens<'_>) -> Option<usize> {
    let (mut anchor, mut at) = (0, 0);
    while at < finder.end() {
        let Some(mut now) = finder.longest(at, HASHED - 1) else {
            at += 1 + ((at - anchor) >> SKIP_SHIFT);
            continue;
        };
        while let Some(next) = finder.longest(now.end(), HASHED - 1) {
            let limit = (next.at - anchor).min(MAX_MATCH - next.length);
            let back = common_length_before(src, next.at - next.distance, next.at, limit);
            if now.length <= back + CHEAP_LITERALS {
                now = next.longer_before(back);
            } else {
                tokens.push(&now)?;
                anchor = now.end();
                now = next;
            }
        }
        tokens.push(&now)?;
        anchor = now.end();
        at = anchor + 1;
    }
    tokens.finish()
}

fn parse_later(mut finder: Finder<'_>, long: usize, mut tokens: Tokens<'_>) -> Option<usize> {
    let (mut anchor, mut at) = (0, 0);
    while at < finder.end() {
        let Some(mut best) = finder.longest(at, HASHED - 1) else {
            at += 1 + ((at - anchor) >> SKIP_SHIFT);
            continue;
        };
        while best.length < long
            && let Some(later) = finder.longest(best.at + 1, best.length)
        {
            best = later;
        }
        tokens.push(&best)?;
        anchor = best.end();
        at = anchor;
    }
    tokens.finish()
}
