//! The codes that a block is written in.

use super::bits::Bits;
use super::code::Entry;
use super::{InflateError, Inflater};

/// The most symbols that a block can have a code for.
const MAX_LITERALS: usize = 286;
const MAX_DISTANCES: usize = 30;
/// The symbol that ends a block.
const BLOCK_END: usize = 256;

/// What the symbols for literals and lengths stand for, the last two of them for nothing.
static LITERALS: [Entry; 288] = literals();
/// What the symbols for distances stand for, the last two of them for nothing.
static DISTANCES: [Entry; 32] = distances();
/// The symbols of the code for lengths of codes.
static LENGTHS: [Entry; 19] = lengths();
/// The order in which the lengths of those are stored.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Symbols that repeat a length: the last one, or zero.
const REPEAT: usize = 16;
const FEW_ZEROS: usize = 17;

#[allow(clippy::cast_possible_truncation, reason = "the bounds of the loops")]
const fn literals() -> [Entry; 288] {
    let mut meanings = [Entry::NOTHING; 288];
    let mut byte = 0;
    while byte < BLOCK_END {
        meanings[byte] = Entry::literal(byte as u8);
        byte += 1;
    }
    meanings[BLOCK_END] = Entry::BLOCK_END;
    // Eight lengths from 3 on, then four each with one bit more.
    let (mut symbol, mut base) = (257, 3);
    while symbol < 285 {
        let extra = if symbol < 265 { 0 } else { (symbol - 261) / 4 };
        meanings[symbol] = Entry::number(base, extra as u8);
        base += 1 << extra;
        symbol += 1;
    }
    meanings[285] = Entry::number(258, 0);
    meanings
}

#[allow(clippy::cast_possible_truncation, reason = "the bounds of the loop")]
const fn distances() -> [Entry; 32] {
    let mut meanings = [Entry::NOTHING; 32];
    // Four distances from 1 on, then two each with one bit more.
    let (mut symbol, mut base) = (0, 1);
    while symbol < MAX_DISTANCES {
        let extra = if symbol < 4 { 0 } else { symbol / 2 - 1 };
        meanings[symbol] = Entry::number(base, extra as u8);
        base += 1 << extra;
        symbol += 1;
    }
    meanings
}

#[allow(clippy::cast_possible_truncation, reason = "the bounds of the loop")]
const fn lengths() -> [Entry; 19] {
    let mut meanings = [Entry::NOTHING; 19];
    let mut symbol = 0;
    while symbol < 19 {
        meanings[symbol] = Entry::number(symbol as u16, 0);
        symbol += 1;
    }
    meanings
}

impl Inflater {
    /// The codes of a block that does not bring any.
    pub(super) fn read_fixed(&mut self) {
        if self.is_fixed {
            return;
        }
        let mut lens = [8; 288];
        lens[144..256].fill(9);
        lens[256..280].fill(7);
        let literals = self.literals.make(&lens, &LITERALS);
        let distances = self.distances.make(&[5; 32], &DISTANCES);
        assert!(literals.is_ok() && distances.is_ok(), "both codes are complete");
        self.is_fixed = true;
    }

    /// The codes that a block starts with.
    pub(super) fn read_dynamic(&mut self, bits: &mut Bits<'_>) -> Result<(), InflateError> {
        self.is_fixed = false;
        bits.refill();
        let [nliterals, ndistances, nlengths] =
            [(5, 257), (5, 1), (4, 4)].map(|(len, least)| bits.take(len) as usize + least);
        if nliterals > MAX_LITERALS || ndistances > MAX_DISTANCES {
            return Err(InflateError::BadLengths);
        }
        self.read_lengths_code(bits, nlengths)?;
        let mut lens = [0; MAX_LITERALS + MAX_DISTANCES];
        let lens = &mut lens[..nliterals + ndistances];
        self.read_lengths(bits, lens)?;
        let (literals, distances) = lens.split_at(nliterals);
        if literals[BLOCK_END] == 0 {
            return Err(InflateError::BadLengths);
        }
        self.literals.make(literals, &LITERALS)?;
        self.distances.make(distances, &DISTANCES)
    }

    fn read_lengths_code(&mut self, bits: &mut Bits<'_>, count: usize) -> Result<(), InflateError> {
        let mut lens = [0; 19];
        for &symbol in &ORDER[..count] {
            bits.refill();
            lens[symbol] = u8::try_from(bits.take(3)).unwrap_or(0);
        }
        if lens.iter().filter(|&&len| len > 0).count() < 2 {
            return Err(InflateError::BadLengths);
        }
        self.lengths.make(&lens, &LENGTHS)
    }

    /// The lengths of both codes, one after the other.
    fn read_lengths(&self, bits: &mut Bits<'_>, lens: &mut [u8]) -> Result<(), InflateError> {
        let mut at = 0;
        while at < lens.len() {
            bits.refill();
            let entry = self.lengths.first(bits);
            bits.skip(entry.len());
            let symbol = entry.value(0);
            if symbol < REPEAT {
                lens[at] = u8::try_from(symbol).unwrap_or(0);
                at += 1;
                continue;
            }
            let (value, count) = match symbol {
                REPEAT if at == 0 => return Err(InflateError::BadLengths),
                REPEAT => (lens[at - 1], 3 + bits.take(2)),
                FEW_ZEROS => (0, 3 + bits.take(3)),
                _ => (0, 11 + bits.take(7)),
            };
            let end = at + count as usize;
            lens.get_mut(at..end).ok_or(InflateError::BadLengths)?.fill(value);
            at = end;
        }
        Ok(())
    }
}
