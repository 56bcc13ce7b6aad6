//! Prefix codes: their lengths from how often symbols occur, and the codes from these.

/// The longest code there may be.
pub(super) const MAX_LEN: usize = 15;
/// The most symbols of a code.
const MAX_SYMBOLS: usize = 288;
/// A symbol in the low bits of a number that is ordered by the count above it.
const SYMBOL_BITS: u32 = 9;

/// Bits and how many they are: in the low 24 and in the upper 8.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Bits(u32);

impl Bits {
    pub(super) const fn new(value: u32, count: u32) -> Self {
        Self(value | count << 24)
    }

    #[inline(always)]
    pub(super) const fn value(self) -> u32 {
        self.0 & 0xFF_FFFF
    }

    #[inline(always)]
    pub(super) const fn count(self) -> u32 {
        self.0 >> 24
    }

    /// The same and `count` more bits behind them.
    pub(super) const fn followed_by(self, value: u32, count: u32) -> Self {
        Self::new(self.value() | value << self.count(), self.count() + count)
    }
}

/// The lengths of the shortest code for symbols that occur so often, none longer than `limit`.
/// There are always at least two codes, as some decoders want it.
pub(super) fn make_lengths(counts: &[u32], limit: usize, lens: &mut [u8]) {
    lens.fill(0);
    let mut order = [0_u32; MAX_SYMBOLS];
    let mut used = 0;
    for (symbol, &count) in (0_u32..).zip(counts) {
        order[used] = count << SYMBOL_BITS | symbol;
        used += usize::from(count > 0);
    }
    if used < 2 {
        lens[0] = 1;
        lens[1] = 1;
        if let [one] = order[..used]
            && one & SYMBOL_MASK > 1
        {
            lens[1] = 0;
            lens[(one & SYMBOL_MASK) as usize] = 1;
        }
        return;
    }
    let order = &mut order[..used];
    order.sort_unstable();
    let mut of_len = leaves(order, limit);
    shorten(&mut of_len, limit);
    let mut len = limit;
    for &mut symbol in order {
        while of_len[len] == 0 {
            len -= 1;
        }
        of_len[len] -= 1;
        lens[(symbol & SYMBOL_MASK) as usize] = u8::try_from(len).unwrap_or(0);
    }
}

const SYMBOL_MASK: u32 = (1 << SYMBOL_BITS) - 1;

/// How many codes of each length the best code has, for at least two counts in ascending order.
/// What would be longer than `limit` counts as `limit`.
fn leaves(order: &[u32], limit: usize) -> [u32; MAX_LEN + 1] {
    let weight_of = |index: usize| order.get(index).map_or(u32::MAX, |&entry| entry >> SYMBOL_BITS);
    // The two lightest trees are joined again and again. Both leaves and joined trees come in
    // ascending order, so the lightest are always the first ones left of either. A joined tree has
    // its weight until it is joined itself, then the index of the tree it is part of.
    let mut trees = [0_u32; MAX_SYMBOLS];
    let joins = order.len() - 1;
    let (mut leaf, mut tree) = (0, 0);
    for join in 0..joins {
        let mut weight = 0;
        for _ in 0..2 {
            if tree < join && trees[tree] < weight_of(leaf) {
                weight += trees[tree];
                trees[tree] = u32::try_from(join).unwrap_or(0);
                tree += 1;
            } else {
                weight += weight_of(leaf);
                leaf += 1;
            }
        }
        trees[join] = weight;
    }
    // From the root down: how deep each joined tree is. Places at a depth that are no joined trees
    // are leaves.
    let mut of_depth = [0_u32; MAX_SYMBOLS];
    trees[joins - 1] = 0;
    of_depth[0] = 1;
    for join in (0..joins - 1).rev() {
        let depth = trees[trees[join] as usize] + 1;
        trees[join] = depth;
        of_depth[depth as usize] += 1;
    }
    let mut of_len = [0; MAX_LEN + 1];
    for (above, pair) in of_depth.windows(2).enumerate().take(joins) {
        of_len[(above + 1).min(limit)] += 2 * pair[0] - pair[1];
    }
    of_len
}

/// Makes codes longer until there is space for those that were cut to `limit`.
fn shorten(of_len: &mut [u32; MAX_LEN + 1], limit: usize) {
    let room = 1_u32 << limit;
    let mut taken: u32 = (1..=limit).map(|len| of_len[len] << (limit - len)).sum();
    while taken > room {
        // A code of `limit` bits and one that is shorter become two of one bit more than the
        // shorter.
        let len = (1..limit).rev().find(|&len| of_len[len] > 0).unwrap_or(1);
        of_len[len] -= 1;
        of_len[len + 1] += 2;
        of_len[limit] -= 1;
        taken -= 1;
    }
}

/// The codes of these lengths, as they are written: the first bit is the lowest.
pub(super) fn make_codes(lens: &[u8], codes: &mut [Bits]) {
    let mut of_len = [0_u32; MAX_LEN + 1];
    for &len in lens {
        of_len[usize::from(len)] += 1;
    }
    of_len[0] = 0;
    let mut next = [0_u32; MAX_LEN + 1];
    for len in 1..=MAX_LEN {
        next[len] = (next[len - 1] + of_len[len - 1]) << 1;
    }
    for (code, &len) in codes.iter_mut().zip(lens) {
        *code = Bits::default();
        if len > 0 {
            let next = &mut next[usize::from(len)];
            *code = Bits::new(next.reverse_bits() >> (32 - u32::from(len)), len.into());
            *next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_LEN, make_codes, make_lengths};
    use crate::deflate::code::Bits;
    use crate::lz::samples::Random;
    use alloc::vec;
    use alloc::vec::Vec;

    fn lengths(counts: &[u32], limit: usize) -> Vec<u8> {
        let mut lens = vec![99; counts.len()];
        make_lengths(counts, limit, &mut lens);
        lens
    }

    /// What part of all codes of `MAX_LEN` bits is taken, of `1 << MAX_LEN`.
    fn taken(lens: &[u8]) -> usize {
        lens.iter().filter(|&&len| len > 0).map(|&len| 1 << (MAX_LEN - usize::from(len))).sum()
    }

    #[test]
    fn codes_are_complete_within_the_limit_and_shorter_for_frequent_symbols() {
        let mut random = Random(4);
        for round in 0..2000 {
            let symbols = 2 + random.below(287);
            let counts: Vec<u32> =
                (0..symbols).map(|_| u32::try_from(random.below(1 << (round % 17))).unwrap()).collect();
            for limit in [9, 14, 15] {
                let lens = lengths(&counts, limit);
                assert_eq!(taken(&lens), 1 << MAX_LEN);
                for (&count, &len) in counts.iter().zip(&lens) {
                    assert!(usize::from(len) <= limit);
                    assert!(counts.iter().filter(|&&count| count > 0).count() < 2 || (count > 0) == (len > 0));
                    assert!(
                        counts.iter().zip(&lens).all(|(&more, &shorter)| more <= count || shorter <= len || len == 0)
                    );
                }
            }
        }
    }

    #[test]
    fn counts_that_double_are_cut_to_the_limit() {
        let counts: Vec<u32> = (0..20).map(|i| 1 << i).collect();
        for limit in [7, 15] {
            let lens = lengths(&counts, limit);
            assert_eq!(taken(&lens), 1 << MAX_LEN);
            assert!(lens.iter().all(|&len| usize::from(len) <= limit));
            assert_eq!(lens[19], 1);
        }
    }

    #[test]
    fn lengths_are_those_of_the_best_code() {
        assert_eq!(lengths(&[5, 1, 1, 2], 15), [1, 3, 3, 2]);
        assert_eq!(lengths(&[1, 1, 1, 1], 15), [2, 2, 2, 2]);
        assert_eq!(lengths(&[0, 7, 0, 8], 15), [0, 1, 0, 1]);
    }

    #[test]
    fn there_are_two_codes_even_for_one_symbol() {
        assert_eq!(lengths(&[0, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths(&[3, 0, 0], 15), [1, 1, 0]);
        assert_eq!(lengths(&[0, 3, 0], 15), [1, 1, 0]);
        assert_eq!(lengths(&[0, 0, 3], 15), [1, 0, 1]);
    }

    #[test]
    fn codes_are_in_the_order_of_the_symbols() {
        let mut codes = [Bits::default(); 5];
        make_codes(&[2, 1, 0, 3, 3], &mut codes);
        assert_eq!(
            codes,
            [Bits::new(0b01, 2), Bits::new(0, 1), Bits::default(), Bits::new(0b011, 3), Bits::new(0b111, 3)]
        );
    }
}
