//! Matches of three bytes, which the rows of the finder do not have.

use alloc::boxed::Box;

use super::finder::Match;
use super::symbols::MIN_MATCH;

/// Of three bytes farther away, the distance takes about as many bits as most bytes do.
pub(super) const FAR: usize = 4096;
/// How much of an input is looked at to know whether it has such matches.
const SAMPLE: usize = 2048;
/// At least one in so many bytes of the sample is where one could start.
const RARE: usize = 64;
/// Fewer than one in so many is where a longer one could.
const COMMON: usize = 4;

/// By a hash of `BITS` bits, the latest position of some bytes.
#[derive(Clone)]
pub(super) struct Latest<const BITS: u32>(Box<[u32]>);

/// For the positions of an input, and of a sample.
pub(super) type Table = Latest<14>;
type Small = Latest<11>;

/// Looks at a sample of an input.
#[derive(Clone, Default)]
pub(super) struct Sampler {
    three: Small,
    four: Small,
}

impl<const BITS: u32> Default for Latest<BITS> {
    fn default() -> Self {
        Self(alloc::vec![0; 1 << BITS].into_boxed_slice())
    }
}

impl<const BITS: u32> Latest<BITS> {
    pub(super) fn clear(&mut self) {
        self.0.fill(0);
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

    /// The position in the slot of these bytes, if there is one, in whose place `at` is put.
    #[inline(always)]
    fn replace(&mut self, bytes: u32, at: usize) -> Option<usize> {
        let next = u32::try_from(at + 1).ok()?;
        let slot = &mut self.0[(bytes.wrapping_mul(2_654_435_761) >> (32 - BITS)) as usize];
        let from = (core::mem::replace(slot, next) as usize).checked_sub(1)?;
        (from < at).then_some(from)
    }
}

impl Sampler {
    /// Whether matches of three bytes make a stream noticeably shorter: where longer ones are rare,
    /// and these are not.
    pub(super) fn are_worth_it(&mut self, src: &[u8]) -> bool {
        self.three.clear();
        self.four.clear();
        let sample = &src[src.len() / 2..];
        let sample = &sample[..sample.len().min(SAMPLE)];
        let (mut short, mut longer) = (0, 0);
        for (at, bytes) in sample.windows(MIN_MATCH + 1).enumerate() {
            let word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            let is_short = self.three.find(sample, at, SAMPLE).is_some();
            if self.four.replace(word, at).is_some_and(|from| sample[from..].starts_with(bytes)) {
                longer += 1;
                if longer * COMMON > sample.len() {
                    return false;
                }
            } else {
                short += usize::from(is_short);
            }
        }
        short > sample.len() / RARE && 2 * short > longer
    }
}

/// The three bytes at `at`.
#[inline(always)]
fn three(src: &[u8], at: usize) -> Option<u32> {
    let &[a, b, c] = src.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes([a, b, c, 0]))
}
