//! FSE codes: how often each symbol occurs.

use super::EntropyError;

const MIN_ACCURACY: u32 = 5;
/// The most symbols that a code may have.
const MAX_SYMBOLS: usize = 256;
/// The most cells that a table may have.
pub(crate) const MAX_CELLS: usize = 512;

/// How often each symbol occurs in 2^`accuracy` cells; -1 for "less than once", which takes one
/// cell all the same.
pub(crate) struct Counts {
    pub(crate) accuracy: u32,
    /// Behind the last symbol that occurs.
    symbols: usize,
    of: [i16; MAX_SYMBOLS],
}

impl Counts {
    /// The counts at the start of `bytes`, and how long they are there: `symbols` of them at most,
    /// in 2^`max_accuracy` cells at most.
    pub(crate) fn parse(bytes: &[u8], max_accuracy: u32, symbols: usize) -> Result<(Self, usize), EntropyError> {
        debug_assert!(1 << max_accuracy <= MAX_CELLS && symbols <= MAX_SYMBOLS);
        let mut bits = ForwardBits { bytes, at: 0 };
        let accuracy = bits.take(4) + MIN_ACCURACY;
        if accuracy > max_accuracy {
            return Err(EntropyError::BadCounts);
        }
        let mut counts = Self { accuracy, symbols: 0, of: [0; MAX_SYMBOLS] };
        let of = &mut counts.of[..symbols];
        // One more than the cells that are not given to a symbol yet.
        let mut remaining = (1_i16 << accuracy) + 1;
        let mut symbol = 0;
        while remaining > 1 {
            let count = bits.count_of(remaining);
            remaining -= count.abs();
            *of.get_mut(symbol).ok_or(EntropyError::BadCounts)? = count;
            symbol += 1;
            if count == 0 {
                symbol += bits.more_zeros();
            }
        }
        counts.symbols = symbol;
        Ok((counts, bits.len()?))
    }

    /// Counts that are known to be right.
    pub(crate) fn known(accuracy: u32, known: &[i16]) -> Self {
        let mut of = [0; MAX_SYMBOLS];
        of[..known.len()].copy_from_slice(known);
        Self { accuracy, symbols: known.len(), of }
    }

    /// Calls `cell` for each cell of the code's table, from the first one on, with the symbol of
    /// the cell, how many bits the next state has that are read, and what they are added to.
    #[inline(always)]
    pub(crate) fn cells(&self, mut cell: impl FnMut(usize, u8, u8, u16)) {
        let size = 1_usize << self.accuracy;
        let symbols = self.spread(size);
        let mut next = [0_u16; MAX_SYMBOLS];
        for (next, count) in next.iter_mut().zip(&self.of[..self.symbols]) {
            *next = count.unsigned_abs();
        }
        for (index, &symbol) in symbols[..size].iter().enumerate() {
            let x = &mut next[usize::from(symbol)];
            let bits = self.accuracy - x.ilog2();
            // `x` is from the count to twice of it, so that the base is at least 0 and fits.
            cell(index, symbol, bits.to_le_bytes()[0], (*x << bits) - (1 << self.accuracy));
            *x += 1;
        }
    }

    /// Which symbol each of `size` cells has.
    #[inline(always)]
    fn spread(&self, size: usize) -> [u8; MAX_CELLS] {
        let mut symbols = [0; MAX_CELLS];
        let mask = size - 1;
        let mut free = size;
        for (symbol, &count) in (0..=u8::MAX).zip(&self.of[..self.symbols]) {
            if count == -1 {
                free -= 1;
                symbols[free % MAX_CELLS] = symbol;
            }
        }
        let step = size / 2 + size / 8 + 3;
        let mut at = 0;
        for (symbol, &count) in (0..=u8::MAX).zip(&self.of[..self.symbols]) {
            for _ in 0..count.max(0) {
                symbols[at % MAX_CELLS] = symbol;
                at = (at + step) & mask;
                while at >= free {
                    at = (at + step) & mask;
                }
            }
        }
        symbols
    }
}

/// Bits from the lowest of the first byte on, zeros behind the end.
struct ForwardBits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl ForwardBits<'_> {
    /// The next bits, at least 17 of them, the first one as the lowest.
    #[inline(always)]
    fn peek(&self) -> u32 {
        let first = self.at / 8;
        let word = match self.bytes.get(first..).and_then(<[u8]>::first_chunk) {
            Some(word) => u32::from_le_bytes(*word),
            None => self.bytes.iter().skip(first).rev().fold(0, |word, &byte| word << 8 | u32::from(byte)),
        };
        word >> (self.at % 8)
    }

    fn take(&mut self, count: u32) -> u32 {
        let value = self.peek() & ((1 << count) - 1);
        self.at += count as usize;
        value
    }

    /// A count, of which the largest possible one is `remaining - 1`: those below a bound take a
    /// bit less than the others.
    #[inline(always)]
    fn count_of(&mut self, remaining: i16) -> i16 {
        let remaining = u32::from(remaining.unsigned_abs());
        let bits = remaining.ilog2();
        let threshold = 1 << bits;
        let short = 2 * threshold - 1 - remaining;
        let mut value = self.peek() & (threshold - 1);
        if value < short {
            self.at += bits as usize;
        } else {
            value = self.take(bits + 1);
            if value >= threshold {
                value -= short;
            }
        }
        i16::try_from(value).map_or(0, |value| value - 1)
    }

    /// How many more counts of zero follow one: fields of two bits, up to and including the first
    /// that is not 3.
    fn more_zeros(&mut self) -> usize {
        let mut zeros = 0;
        loop {
            let field = self.take(2);
            zeros += field as usize;
            if field != 3 {
                return zeros;
            }
        }
    }

    /// How many bytes were begun.
    fn len(&self) -> Result<usize, EntropyError> {
        let len = self.at.div_ceil(8);
        if len <= self.bytes.len() { Ok(len) } else { Err(EntropyError::Ended { input: self.bytes.len() }) }
    }
}
