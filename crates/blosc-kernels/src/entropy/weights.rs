//! The weights of a Huffman code.

use super::EntropyError;
use super::bits::BackwardBits;
use super::counts::Counts;
use super::huffman::MAX_BITS;

/// The most weights that are written; that of the last symbol follows from the others.
const MAX_WEIGHTS: usize = 255;
/// First byte of the weights from which on they are not FSE coded.
const PLAIN_WEIGHTS: u8 = 128;
/// The FSE code of the weights.
const MAX_ACCURACY: u32 = 6;
const MAX_CELLS: usize = 1 << MAX_ACCURACY;
const MAX_SYMBOLS: usize = 256;

/// Checked to make a code once [`parse`](Self::parse) returns them.
pub(super) struct Weights {
    of: [u8; MAX_WEIGHTS + 1],
    count: usize,
    /// The largest weight that may be written.
    max: u8,
    /// Length of the longest code.
    pub(super) bits: u32,
}

impl Weights {
    /// The weights at the start of `bytes`, none of which may be above `max`, and how long they are
    /// there.
    pub(super) fn parse(bytes: &[u8], max: u8) -> Result<(Self, usize), EntropyError> {
        let mut weights = Self { of: [0; MAX_WEIGHTS + 1], count: 0, max, bits: 0 };
        let ended = EntropyError::Ended { input: bytes.len() };
        let (&first, rest) = bytes.split_first().ok_or(ended)?;
        let len = if first < PLAIN_WEIGHTS {
            let len = usize::from(first);
            weights.read_coded(rest.get(..len).ok_or(ended)?)?;
            len
        } else {
            let count = usize::from(first - PLAIN_WEIGHTS) + 1;
            let len = count.div_ceil(2);
            weights.read_plain(rest.get(..len).ok_or(ended)?, count)?;
            len
        };
        weights.complete()?;
        Ok((weights, 1 + len))
    }

    /// Two weights a byte, the first of them in the upper half.
    fn read_plain(&mut self, bytes: &[u8], count: usize) -> Result<(), EntropyError> {
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(count).try_for_each(|weight| self.push(weight))
    }

    /// The counts of an FSE code, then its bits. Two states take turns; when the bits for a new
    /// state are not there, the symbol of the other one is the last.
    fn read_coded(&mut self, bytes: &[u8]) -> Result<(), EntropyError> {
        let (counts, len) = Counts::parse(bytes, MAX_ACCURACY, MAX_SYMBOLS)?;
        let mut bits = BackwardBits::new(bytes, len).ok_or(EntropyError::BadBits)?;
        let mut cells = [Cell::default(); MAX_CELLS];
        counts.cells(|index, symbol, bits, base| cells[index % MAX_CELLS] = Cell { symbol, bits, base });
        let at = |state: u16| cells[usize::from(state) % MAX_CELLS];
        let mut state = |_| bits.take(counts.accuracy).ok_or(EntropyError::BadBits);
        let mut now = at(state(0)?);
        let mut other = at(state(1)?);
        loop {
            self.push(now.symbol)?;
            let Some(more) = bits.take(u32::from(now.bits)) else {
                return self.push(other.symbol);
            };
            (now, other) = (other, at(now.base + more));
        }
    }

    /// Adds the weight of the next byte.
    fn push(&mut self, weight: u8) -> Result<(), EntropyError> {
        if weight > self.max || self.count == MAX_WEIGHTS {
            return Err(EntropyError::BadWeights);
        }
        self.of[self.count] = weight;
        self.count += 1;
        Ok(())
    }

    /// Adds the last weight, with which the code has no bits that stand for nothing.
    fn complete(&mut self) -> Result<(), EntropyError> {
        let sum: usize = self.all().iter().map(|&weight| cells(weight)).sum();
        self.bits = sum.checked_ilog2().ok_or(EntropyError::BadWeights)? + 1;
        let rest = (1 << self.bits) - sum;
        if self.bits > MAX_BITS || !rest.is_power_of_two() {
            return Err(EntropyError::BadWeights);
        }
        self.of[self.count] = rest.ilog2().to_le_bytes()[0] + 1;
        self.count += 1;
        let longest = self.all().iter().filter(|&&weight| weight == 1).count();
        if longest < 2 || longest % 2 != 0 { Err(EntropyError::BadWeights) } else { Ok(()) }
    }

    pub(super) fn all(&self) -> &[u8] {
        &self.of[..self.count]
    }
}

/// How many entries of a table a byte with this weight takes.
pub(super) fn cells(weight: u8) -> usize {
    (1 << weight) >> 1
}

/// A state: the symbol that it stands for, and which state is next.
#[derive(Clone, Copy, Default)]
struct Cell {
    symbol: u8,
    bits: u8,
    base: u16,
}
