//! How often the symbols of a block occur, and what they cost.

use super::symbols::{BLOCK_END, DISTANCES, LITERALS, distance_symbol, length_symbol};

/// What the codes of a block cost about, in bits.
const HEADER: u64 = 60 * 8;
/// How many bits of a logarithm are behind the point.
const FRACTION: u32 = 8;

/// How often symbols occur.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    pub(super) literals: [u32; LITERALS],
    pub(super) distances: [u32; DISTANCES],
    /// Literals and matches.
    symbols: u32,
    matches: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { literals: [0; LITERALS], distances: [0; DISTANCES], symbols: 0, matches: 0 }
    }
}

impl Counts {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn symbols(&self) -> u32 {
        self.symbols
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "sequences have few literals")]
    pub(super) fn add_literals(&mut self, literals: &[u8]) {
        for &byte in literals {
            self.literals[usize::from(byte)] += 1;
        }
        self.symbols += literals.len() as u32;
    }

    #[inline(always)]
    pub(super) fn add_match(&mut self, length: usize, distance: usize) {
        self.literals[length_symbol(length)] += 1;
        self.distances[distance_symbol(distance).0] += 1;
        self.symbols += 1;
        self.matches += 1;
    }

    pub(super) fn end_block(&mut self) {
        self.literals[BLOCK_END] = 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, count) in self.literals.iter_mut().zip(&other.literals) {
            *sum += count;
        }
        for (sum, count) in self.distances.iter_mut().zip(&other.distances) {
            *sum += count;
        }
        self.symbols += other.symbols;
        self.matches += other.matches;
    }

    /// Whether both are shorter as two blocks, each with codes of its own.
    pub(super) fn differ(&self, other: &Self) -> bool {
        let mut both = self.clone();
        both.add(other);
        self.cost() + other.cost() + (HEADER << FRACTION) < both.cost()
    }

    /// How many bits the symbols take at best, times `1 << FRACTION`.
    fn cost(&self) -> u64 {
        let parts: u64 = self.literals.iter().chain(&self.distances).map(|&count| weighted(count)).sum();
        weighted(self.symbols) + weighted(self.matches) - parts
    }
}

/// A number times its logarithm.
#[inline(always)]
fn weighted(number: u32) -> u64 {
    if number < 2 {
        return 0;
    }
    let whole = number.ilog2();
    let behind = number << (31 - whole) << 1 >> (32 - FRACTION);
    let logarithm = whole << FRACTION | u32::from(LOGARITHMS[behind as usize]);
    u64::from(number) * u64::from(logarithm)
}

/// The logarithms of numbers from 1 to 2, behind the point.
static LOGARITHMS: [u8; 1 << FRACTION] = logarithms();

const fn logarithms() -> [u8; 1 << FRACTION] {
    let mut table = [0; 1 << FRACTION];
    let mut index = 0;
    while index < table.len() {
        // A number from 1 to 2, times 2 to the 31. Its square is 2 or more if the next bit of the
        // logarithm is set.
        let mut number = (1 << 31) + ((index as u64) << (31 - FRACTION));
        let mut bit = FRACTION;
        while bit > 0 {
            bit -= 1;
            number = (number * number) >> 31;
            if number >= 1 << 32 {
                table[index] |= 1 << bit;
                number >>= 1;
            }
        }
        index += 1;
    }
    table
}
