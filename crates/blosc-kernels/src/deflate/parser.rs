//! Choosing among overlapping matches.

use super::finder::{Depth, Finder, Rows};
use super::symbols::MAX_MATCH;
use super::tokens::Tokens;
use crate::lz::matching::common_length_before;

/// Positions are left out where there is no match for long, one more for each time that there are so many literals.
const SKIP_SHIFT: u32 = 9;
/// So many literals cost less than a match.
const CHEAP_LITERALS: usize = 2;

/// Finds the matches of an input and hands them on.
///
/// Before a match is taken, the next one is looked for, which must be done anyway. If it can be extended back so far that
/// but few literals are left of the first, these and the longer match cost less than two matches.
pub(super) fn parse(rows: &mut Rows, src: &[u8], depth: Depth, mut tokens: Tokens<'_>) -> Option<usize> {
    let mut finder = Finder::new(rows, src, depth);
    let (mut anchor, mut at) = (0, 0);
    while at < finder.end() {
        let Some(mut now) = finder.longest(at) else {
            at += 1 + ((at - anchor) >> SKIP_SHIFT);
            continue;
        };
        while let Some(next) = finder.longest(now.end()) {
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
