//! What lengths and distances are written as: a symbol and some more bits.

use super::code::{Bits, make_codes};

/// The shortest and the longest match.
pub(super) const MIN_MATCH: usize = 3;
pub(super) const MAX_MATCH: usize = 258;
/// How far matches go back.
pub(super) const MAX_DISTANCE: usize = 32768;

/// The symbols of literals and lengths, and of distances.
pub(super) const LITERALS: usize = 286;
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const BLOCK_END: usize = 256;
/// The symbol of the shortest length.
pub(super) const FIRST_LENGTH: usize = 257;

/// The least length of each symbol, less the shortest, and how many more bits it has.
static LENGTH_SYMBOLS: [(u8, u8); LITERALS - FIRST_LENGTH] = length_symbols();
/// The symbol of each length, less that of the shortest.
static SYMBOL_OF_LENGTH: [u8; MAX_MATCH - MIN_MATCH + 1] = symbols_of_lengths();

#[allow(clippy::cast_possible_truncation, reason = "the bounds of the loop")]
const fn length_symbols() -> [(u8, u8); LITERALS - FIRST_LENGTH] {
    let mut symbols = [(0, 0); LITERALS - FIRST_LENGTH];
    // Eight lengths, then four each with one bit more. The longest has a symbol of its own.
    let (mut symbol, mut base) = (0, 0_u32);
    while symbol < LITERALS - FIRST_LENGTH - 1 {
        let extra = if symbol < 8 { 0 } else { symbol / 4 - 1 };
        symbols[symbol] = (base as u8, extra as u8);
        base += 1 << extra;
        symbol += 1;
    }
    symbols[symbol] = ((MAX_MATCH - MIN_MATCH) as u8, 0);
    symbols
}

#[allow(clippy::cast_possible_truncation, reason = "the bounds of the loop")]
const fn symbols_of_lengths() -> [u8; MAX_MATCH - MIN_MATCH + 1] {
    let table = length_symbols();
    let mut symbols = [0; MAX_MATCH - MIN_MATCH + 1];
    let mut symbol = 0;
    let mut length = 0;
    while length < symbols.len() {
        if symbol + 1 < table.len() && table[symbol + 1].0 as usize == length {
            symbol += 1;
        }
        symbols[length] = symbol as u8;
        length += 1;
    }
    symbols
}

/// The symbol of a length from [`MIN_MATCH`] to [`MAX_MATCH`].
#[inline(always)]
pub(super) fn length_symbol(length: usize) -> usize {
    FIRST_LENGTH + usize::from(SYMBOL_OF_LENGTH[length - MIN_MATCH])
}

/// How many bits follow the symbol of a length.
pub(super) fn length_extra(symbol: usize) -> u32 {
    LENGTH_SYMBOLS[symbol - FIRST_LENGTH].1.into()
}

/// The symbol of a distance, and how many bits follow it.
#[inline(always)]
pub(super) fn distance_symbol(distance: usize) -> (usize, u32) {
    let less = distance - 1;
    if less < 2 {
        return (less, 0);
    }
    let extra = less.ilog2() - 1;
    (2 * extra as usize + (less >> extra), extra)
}

/// How many bits follow the symbol of a distance.
pub(super) fn distance_extra(symbol: usize) -> u32 {
    u32::try_from(symbol / 2).unwrap_or(0).saturating_sub(1)
}

/// The codes of a block, as they are written.
pub(super) struct Codes {
    /// Of bytes and of the end of the block.
    pub(super) literals: [Bits; LITERALS],
    /// Of lengths from 3 on, with the bits that follow.
    pub(super) lengths: [Bits; MAX_MATCH - MIN_MATCH + 1],
    pub(super) distances: [Bits; DISTANCES],
}

impl Codes {
    /// The codes of these lengths.
    pub(super) fn new(literal_lens: &[u8], distance_lens: &[u8]) -> Self {
        let mut codes = Self {
            literals: [Bits::default(); LITERALS],
            lengths: [Bits::default(); MAX_MATCH - MIN_MATCH + 1],
            distances: [Bits::default(); DISTANCES],
        };
        make_codes(literal_lens, &mut codes.literals);
        make_codes(distance_lens, &mut codes.distances);
        for (length, bits) in codes.lengths.iter_mut().enumerate() {
            let symbol = usize::from(SYMBOL_OF_LENGTH[length]);
            let (base, extra) = LENGTH_SYMBOLS[symbol];
            let above = u32::try_from(length - usize::from(base)).unwrap_or(0);
            *bits = codes.literals[FIRST_LENGTH + symbol].followed_by(above, extra.into());
        }
        codes
    }

    /// The bits of a distance, and how many.
    #[inline(always)]
    pub(super) fn distance(&self, distance: usize) -> (u64, u32) {
        let (symbol, extra) = distance_symbol(distance);
        let code = self.distances[symbol];
        let above = (distance - 1) as u64 & ((1 << extra) - 1);
        (u64::from(code.value()) | above << code.count(), code.count() + extra)
    }
}

/// The lengths of the codes that blocks without codes of their own have.
pub(super) const FIXED_LITERALS: [u8; 288] = fixed_literals();
pub(super) const FIXED_DISTANCES: [u8; DISTANCES] = [5; DISTANCES];

const fn fixed_literals() -> [u8; 288] {
    let mut lens = [8; 288];
    let mut symbol = 144;
    while symbol < 280 {
        lens[symbol] = if symbol < 256 { 9 } else { 7 };
        symbol += 1;
    }
    lens
}

/// The fixed codes.
pub(super) fn fixed_codes() -> Codes {
    Codes::new(&FIXED_LITERALS, &FIXED_DISTANCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_symbols_of_the_standard() {
        for (length, symbol, extra) in [
            (3, 257, 0),
            (10, 264, 0),
            (11, 265, 1),
            (12, 265, 1),
            (13, 266, 1),
            (114, 279, 4),
            (115, 280, 4),
            (131, 281, 5),
            (257, 284, 5),
            (258, 285, 0),
        ] {
            assert_eq!(length_symbol(length), symbol, "{length}");
            assert_eq!(length_extra(symbol), extra, "{length}");
        }
    }

    #[test]
    fn distances_have_the_symbols_of_the_standard() {
        for (distance, symbol, extra) in [
            (1, 0, 0),
            (2, 1, 0),
            (3, 2, 0),
            (4, 3, 0),
            (5, 4, 1),
            (6, 4, 1),
            (7, 5, 1),
            (9, 6, 2),
            (24576, 28, 13),
            (24577, 29, 13),
            (32768, 29, 13),
        ] {
            assert_eq!(distance_symbol(distance), (symbol, extra), "{distance}");
            assert_eq!(distance_extra(symbol), extra, "{distance}");
        }
    }
}
