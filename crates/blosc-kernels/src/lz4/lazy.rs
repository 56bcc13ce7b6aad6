//! Choosing among overlapping matches: one is given up for a later one if what follows does not
//! make up for it.

use super::pending::Pending;
use super::rows::{Depth, Finder, Match, Rows};
use super::sequence::{MATCH_COST, MATCH_MARGIN, MIN_MATCH, SequenceWriter};

/// How many bytes of input two bytes of output stand for where it is not known better.
const TYPICAL_RATIO: usize = 5;

/// How much is done to find good matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// How many earlier positions are looked at for each match.
    pub(super) depth: Depth,
    /// A match this long is not given up for one that starts a byte later.
    pub(super) long_match: usize,
}

/// What is known of the matches right after a match.
enum Following {
    Unknown,
    Nothing,
    Found(Match),
}

pub(super) struct Parser<'a, const WIDTH: usize> {
    src: &'a [u8],
    start: usize,
    finder: Finder<'a, WIDTH>,
    effort: Effort,
    /// Where the last match may start.
    last_start: usize,
}

impl<'a, const WIDTH: usize> Parser<'a, WIDTH> {
    /// A parser of everything from `start` on, where at least one match must be possible.
    pub(super) fn new(rows: &'a mut Rows<WIDTH>, src: &'a [u8], start: usize, effort: Effort) -> Self {
        let finder = Finder::new(rows, src, start, effort.depth);
        Self { src, start, finder, effort, last_start: src.len() - MATCH_MARGIN }
    }

    /// Writes the block.
    pub(super) fn run(mut self, dst: &mut [u8]) -> Option<usize> {
        let src = self.src;
        let mut writer = SequenceWriter::new(dst);
        let mut pending: Option<Pending> = None;
        let mut anchor = self.start;
        let mut at = self.start;
        let mut following = Following::Unknown;
        while at <= self.last_start {
            let first = match following {
                Following::Unknown => self.finder.longest(at, anchor, MIN_MATCH - 1),
                Following::Nothing => None,
                Following::Found(found) => Some(found),
            };
            following = Following::Unknown;
            let Some(mut best) = first else {
                at += 1;
                continue;
            };
            while let Some(later) = self.later(&best, anchor) {
                if later.at > best.at {
                    following = self.following(&best);
                    if !is_worth_it(&best, &later, &following) {
                        break;
                    }
                    following = Following::Unknown;
                }
                best = later;
            }
            pending = Some(match pending {
                Some(before) => before.followed_by(best, src, &mut writer)?,
                None => Pending::new(anchor, best),
            });
            anchor = best.end();
            at = anchor;
        }
        if let Some(last) = pending {
            last.write(src, &mut writer)?;
        }
        writer.finish(src, anchor..src.len())
    }

    /// A match that ends later than `now`, and starts at most two bytes later.
    #[inline(always)]
    fn later(&mut self, now: &Match, anchor: usize) -> Option<Match> {
        if now.length < self.effort.long_match
            && now.at < self.last_start
            && let Some(found) = self.finder.longest(now.at + 1, anchor, now.length)
        {
            return Some(found);
        }
        if now.end() - 2 > self.last_start {
            return None;
        }
        self.finder.farther(now, anchor)
    }

    /// What is right after a match.
    #[inline(always)]
    fn following(&mut self, now: &Match) -> Following {
        let at = now.end();
        if at > self.last_start {
            return Following::Nothing;
        }
        self.finder.longest(at, at, MIN_MATCH - 1).map_or(Following::Nothing, Following::Found)
    }
}

/// Whether `later` is better than `now` and what follows it, though more literals come before it.
///
/// One way leads to the end of `later` for these literals and one match, the other to the end of
/// what follows `now` for two matches; the rest of the difference is counted at a typical ratio. If
/// nothing follows, the bytes up to the end of `later` are literals.
#[inline(always)]
fn is_worth_it(now: &Match, later: &Match, following: &Following) -> bool {
    let literals = later.at - now.at;
    match following {
        Following::Found(next) => next.end() < later.end() + TYPICAL_RATIO * MATCH_COST.saturating_sub(literals) / 2,
        _ => literals < later.end() - now.end(),
    }
}
