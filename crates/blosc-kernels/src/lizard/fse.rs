//! FSE-coded weights of a Huffman code.

use super::LizardError;
use super::bits::BackwardBits;
use super::huffman::Weights;

const MIN_ACCURACY: u32 = 5;
const MAX_ACCURACY: u32 = 6;
const MAX_CELLS: usize = 1 << MAX_ACCURACY;
/// Fewer bytes than these are refused by the reference decoder.
const MIN_LEN: usize = 4;
const MAX_SYMBOLS: usize = 256;

/// Reads the weights that `bytes` stand for: the counts of an FSE code, then its bits.
pub(super) fn read_weights(bytes: &[u8], weights: &mut Weights) -> Result<(), LizardError> {
    if bytes.len() < MIN_LEN {
        return Err(LizardError::InputEnded { input: bytes.len() });
    }
    let (counts, bits) = Counts::parse(bytes)?;
    let bits = BackwardBits::new(bits).ok_or(LizardError::BadBits)?;
    decode(&Cells::new(&counts)?, bits, weights)
}

/// How often each symbol occurs in 2^`accuracy` cells; -1 for "less than once", which takes one cell all the same.
struct Counts {
    accuracy: u32,
    of: [i16; MAX_SYMBOLS],
}

impl Counts {
    /// The counts at the start of `bytes`, and the rest.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), LizardError> {
        let mut bits = ForwardBits { bytes, at: 0 };
        let accuracy = bits.take(4) + MIN_ACCURACY;
        if accuracy > MAX_ACCURACY {
            return Err(LizardError::BadWeights);
        }
        let mut counts = Self { accuracy, of: [0; MAX_SYMBOLS] };
        // One more than the cells that are not given to a symbol yet.
        let mut remaining = (1_i16 << accuracy) + 1;
        let mut symbol = 0;
        while remaining > 1 {
            let count = bits.count_of(remaining);
            remaining -= count.abs();
            *counts.of.get_mut(symbol).ok_or(LizardError::BadWeights)? = count;
            symbol += 1;
            if count == 0 {
                symbol += bits.more_zeros();
            }
        }
        Ok((counts, bits.rest()?))
    }
}

/// Bits from the lowest of the first byte on, zeros behind the end.
struct ForwardBits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ForwardBits<'a> {
    /// The next bits, at least 9 of them, the first one as the lowest.
    fn peek(&self) -> u32 {
        let byte = |index: usize| u32::from(self.bytes.get(index).copied().unwrap_or(0));
        let first = self.at / 8;
        (byte(first) | byte(first + 1) << 8) >> (self.at % 8)
    }

    fn take(&mut self, count: u32) -> u32 {
        let value = self.peek() & ((1 << count) - 1);
        self.at += count as usize;
        value
    }

    /// A count, of which the largest possible one is `remaining - 1`: those below a bound take a bit less than the others.
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

    /// How many more counts of zero follow one: fields of two bits, up to and including the first that is not 3.
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

    /// The whole bytes behind what was read.
    fn rest(&self) -> Result<&'a [u8], LizardError> {
        self.bytes.get(self.at.div_ceil(8)..).ok_or(LizardError::InputEnded { input: self.bytes.len() })
    }
}

/// A state: the symbol that it stands for, and which state is next.
#[derive(Clone, Copy, Default)]
struct Cell {
    symbol: u8,
    bits: u8,
    base: u16,
}

struct Cells {
    accuracy: u32,
    of: [Cell; MAX_CELLS],
}

impl Cells {
    fn new(counts: &Counts) -> Result<Self, LizardError> {
        let size = 1_usize << counts.accuracy;
        let symbols = spread(counts, size)?;
        let mut next = counts.of.map(i16::unsigned_abs);
        let mut of = [Cell::default(); MAX_CELLS];
        for (cell, &symbol) in of[..size].iter_mut().zip(&symbols) {
            let x = &mut next[usize::from(symbol)];
            let bits = counts.accuracy - x.ilog2();
            // `x` is from the count to twice of it, so that the base is at least 0 and fits.
            *cell = Cell { symbol, bits: bits.to_le_bytes()[0], base: (*x << bits) - (1 << counts.accuracy) };
            *x += 1;
        }
        Ok(Self { accuracy: counts.accuracy, of })
    }

    fn at(&self, state: u16) -> Cell {
        self.of[usize::from(state) % MAX_CELLS]
    }
}

/// Which symbol each of `size` cells has.
fn spread(counts: &Counts, size: usize) -> Result<[u8; MAX_CELLS], LizardError> {
    let mut symbols = [0; MAX_CELLS];
    let mut free = size;
    for (symbol, &count) in (0..=u8::MAX).zip(&counts.of) {
        if count == -1 {
            free -= 1;
            symbols[free] = symbol;
        }
    }
    let step = size / 2 + size / 8 + 3;
    let mut at = 0;
    for (symbol, &count) in (0..=u8::MAX).zip(&counts.of) {
        for _ in 0..count.max(0) {
            symbols[at] = symbol;
            at = (at + step) % size;
            while at >= free {
                at = (at + step) % size;
            }
        }
    }
    if at == 0 { Ok(symbols) } else { Err(LizardError::BadWeights) }
}

/// Two states take turns. When the bits for a new state are not there, the symbol of the other one is the last.
fn decode(cells: &Cells, mut bits: BackwardBits<'_>, weights: &mut Weights) -> Result<(), LizardError> {
    let mut state = |_| bits.take(cells.accuracy).ok_or(LizardError::BadBits);
    let mut now = cells.at(state(0)?);
    let mut other = cells.at(state(1)?);
    loop {
        weights.push(now.symbol)?;
        let Some(more) = bits.take(u32::from(now.bits)) else {
            return weights.push(other.symbol);
        };
        (now, other) = (other, cells.at(now.base + more));
    }
}
