//! Matches of three bytes, which the rows of the finder do not have.

use alloc::vec::Vec;

use super::finder::Match;
use super::symbols::MIN_MATCH;

/// Of three bytes farther away, the distance takes about as many bits as most bytes do.
pub(super) const FAR: usize = 4096;
/// How much of an input is looked at to know whether longer matches are rare.
const SAMPLE: usize = 2048;
/// They are if they start at fewer than one in so many bytes of the sample.
const COMMON: usize = 2;

/// How many slots the table of a sample has, as a power of two.
const SAMPLE_BITS: u32 = 11;
/// The same of an input, at the most.
const MAX_BITS: u32 = 16;

/// By a hash, the latest position of some bytes.
#[derive(Clone, Default)]
pub(super) struct Latest {
    /// One more than a position; 0 where there is none.
    slots: Vec<u32>,
    bits: u32,
}

/// Looks at a sample of an input.
#[derive(Clone, Default)]
pub(super) struct Sampler(Latest);

impl Latest {
    /// Forgets what was there, and makes room for the positions of an input of `length` bytes of
    /// which those are of use that are at most `farthest` bytes away: so many slots that few of
    /// these drive each other out.
    pub(super) fn start(&mut self, length: usize, farthest: usize) {
        let slots = (4 * length.min(farthest)).next_power_of_two();
        self.clear(slots.ilog2().min(MAX_BITS));
    }

    fn clear(&mut self, bits: u32) {
        self.bits = bits;
        self.slots.clear();
        self.slots.resize(1 << bits, 0);
    }

    /// The match of three bytes at `at`, which is remembered, with those at most `farthest` bytes
    /// before.
    #[inline(always)]
    pub(super) fn find(&mut self, src: &[u8], at: usize, farthest: usize) -> Option<Match> {
        let bytes = three(src, at)?;
        let distance = at - self.replace(bytes, at)?;
        let is_match = distance <= farthest && three(src, at - distance) == Some(bytes);
        is_match.then_some(Match { at, length: MIN_MATCH, distance })
    }

    /// Remembers the three bytes at `at`.
    #[inline(always)]
    pub(super) fn remember(&mut self, src: &[u8], at: usize) {
        if let Some(bytes) = three(src, at) {
            self.replace(bytes, at);
        }
    }

    /// The position in the slot of these bytes, if there is one, in whose place `at` is put.
    #[inline(always)]
    fn replace(&mut self, bytes: u32, at: usize) -> Option<usize> {
        let next = u32::try_from(at + 1).ok()?;
        let hash = u64::from(bytes.wrapping_mul(2_654_435_761));
        let slot = &mut self.slots[(hash << self.bits >> 32) as usize];
        let from = (core::mem::replace(slot, next) as usize).checked_sub(1)?;
        (from < at).then_some(from)
    }
}

impl Sampler {
    /// Whether matches of three bytes may make a stream shorter: not where longer ones are common,
    /// which leave few bytes to them.
    pub(super) fn are_worth_it(&mut self, src: &[u8]) -> bool {
        self.0.clear(SAMPLE_BITS);
        let sample = &src[src.len() / 2..];
        let sample = &sample[..sample.len().min(SAMPLE)];
        let mut longer = 0;
        for (at, bytes) in sample.windows(MIN_MATCH + 1).enumerate() {
            let word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            if self.0.replace(word, at).is_some_and(|from| sample[from..].starts_with(bytes)) {
                longer += 1;
                if longer * COMMON > sample.len() {
                    return false;
                }
            }
        }
        true
    }
}

/// The three bytes at `at`.
#[inline(always)]
fn three(src: &[u8], at: usize) -> Option<u32> {
    let &[a, b, c] = src.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes([a, b, c, 0]))
}
