//! Choosing among overlapping matches.

use super::finder::{Depth, Finder, Match, Rows};
use super::short::Latest;
use super::symbols::MAX_MATCH;
use super::tokens::Tokens;
use crate::lz::matching::common_length_before;

/// Positions are left out where there is no match for long, one more for each time that there are
/// so many literals.
const SKIP_SHIFT: u32 = 9;
/// So many literals cost less than a match.
const CHEAP_LITERALS: usize = 2;
/// The bytes inside of matches up to here can be found as matches of three bytes.
const FEW: usize = 5;

/// Finds the matches of an input and hands them on.
///
/// Before a match is taken, the next one is looked for, which must be done anyway. If it can be
/// extended back so far that but few literals are left of the first, these and the longer match
/// cost less than two matches.
///
/// A match that is shorter than what the depth calls lazy is given up for a longer one that starts
/// a byte later.
///
/// With a table of `short` ones, these are taken where there is no other, if they are near enough.
pub(super) fn parse(
    rows: &mut Rows,
    short: Option<(&mut Latest, usize)>,
    src: &[u8],
    depth: Depth,
    tokens: Tokens<'_>,
) -> Option<usize> {
    let mut finder = Finder::new(rows, src, depth);
    let end = finder.end();
    match short {
        None => parse_with(|at| finder.longest(at), depth.lazy, end, src, tokens),
        Some((table, farthest)) => {
            let find = |at| {
                let found = finder.longest(at).or_else(|| table.find(src, at, farthest))?;
                if depth.lazy == 0 && found.length <= FEW {
                    // Nothing is looked for there any more.
                    (at..found.end()).for_each(|position| table.remember(src, position));
                }
                Some(found)
            };
            parse_with(find, depth.lazy, end, src, tokens)
        }
    }
}

#[inline(always)]
fn parse_with(
    mut find: impl FnMut(usize) -> Option<Match>,
    lazy: usize,
    end: usize,
    src: &[u8],
    mut tokens: Tokens<'_>,
) -> Option<usize> {
    let mut find = |at| {
        let mut now = find(at)?;
        while now.length < lazy
            && let Some(later) = find(now.at + 1)
            && later.length > now.length
        {
            now = later;
        }
        Some(now)
    };
    let (mut anchor, mut at) = (0, 0);
    while at < end {
        let Some(mut now) = find(at) else {
            at += 1 + ((at - anchor) >> SKIP_SHIFT);
            continue;
        };
        while let Some(next) = find(now.end()) {
            let limit = (next.at - anchor).min(MAX_MATCH - next.length);
            let back = common_length_before(src, next.at - next.distance, next.at, limit);
            let between = next.at - now.end();
            if now.length + between <= back + CHEAP_LITERALS {
                now = next.longer_before(back);
            } else {
                tokens.push(&now)?;
                anchor = now.end();
                now = next.longer_before(back.min(between));
            }
        }
        tokens.push(&now)?;
        anchor = now.end();
        at = anchor + 1;
    }
    tokens.finish()
}
