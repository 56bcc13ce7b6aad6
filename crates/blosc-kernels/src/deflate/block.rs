//! Writing a block in the shortest of three ways: as it is, with the fixed codes, or with codes of
//! its own.

use super::bits::BitWriter;
use super::code::{Bits, make_codes, make_lengths};
use super::counts::Counts;
use super::symbols::{
    BLOCK_END, Codes, DISTANCES, FIRST_LENGTH, FIXED_DISTANCES, FIXED_LITERALS, LITERALS, MIN_MATCH, distance_extra,
    fixed_codes, length_extra,
};
use super::tokens::Sequence;

/// The kinds of blocks.
pub(super) const STORED: u64 = 0;
pub(super) const FIXED: u64 = 1;
const DYNAMIC: u64 = 2;
/// The most bytes of a stored block.
const MAX_STORED: usize = 0xFFFF;

/// How many literals are put between two flushes, and how long their codes are at most for that.
const LITERALS_AT_ONCE: usize = 4;
const LITERAL_LIMIT: usize = 14;
const DISTANCE_LIMIT: usize = 15;
const LENGTHS_LIMIT: usize = 7;

/// The order in which the lengths of the code for lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Symbols that repeat a length: the last one, or zero. With each is how often at least and at
/// most, and how many bits say so.
const REPEAT: (u8, usize, usize, u32) = (16, 3, 6, 2);
const FEW_ZEROS: (u8, usize, usize, u32) = (17, 3, 10, 3);
const MANY_ZEROS: (u8, usize, usize, u32) = (18, 11, 138, 7);

/// What a block is made of.
pub(super) struct Block<'a> {
    pub(super) src: &'a [u8],
    pub(super) sequences: &'a [Sequence],
    pub(super) is_last: bool,
}

impl Block<'_> {
    pub(super) fn write(&self, counts: &Counts, writer: &mut BitWriter<'_>) -> Option<()> {
        let own = Lengths::new(counts);
        let extra = extra_bits(counts);
        let dynamic = own.header_bits() + symbol_bits(counts, &own.literals, &own.distances) + extra;
        let fixed = symbol_bits(counts, &FIXED_LITERALS, &FIXED_DISTANCES) + extra;
        if stored_bits(self.src.len(), writer) <= dynamic.min(fixed) {
            return self.write_stored(writer);
        }
        if fixed <= dynamic {
            writer.put(u64::from(self.is_last) | FIXED << 1, 3);
            return self.write_symbols(&fixed_codes(), writer);
        }
        writer.put(u64::from(self.is_last) | DYNAMIC << 1, 3);
        own.write(writer)?;
        self.write_symbols(&Codes::new(&own.literals, &own.distances), writer)
    }

    fn write_stored(&self, writer: &mut BitWriter<'_>) -> Option<()> {
        let count = self.src.len().div_ceil(MAX_STORED).max(1);
        for index in 0..count {
            let part = &self.src[index * MAX_STORED..self.src.len().min((index + 1) * MAX_STORED)];
            let is_last = self.is_last && index + 1 == count;
            writer.put(u64::from(is_last) | STORED << 1, 3);
            writer.align()?;
            let len = part.len() as u64;
            writer.put(len | (len ^ 0xFFFF) << 16, 32);
            writer.flush()?;
            writer.bytes(part)?;
        }
        Some(())
    }

    fn write_symbols(&self, codes: &Codes, writer: &mut BitWriter<'_>) -> Option<()> {
        let mut rest = self.src;
        writer.flush()?;
        for sequence in self.sequences {
            let (literals, after) = rest.split_at(sequence.literals as usize);
            write_literals(literals, codes, writer)?;
            rest = after;
            let length = usize::from(sequence.length);
            if length > 0 {
                let bits = codes.lengths[length - MIN_MATCH];
                writer.put(bits.value().into(), bits.count());
                let (value, count) = codes.distance(sequence.distance.into());
                writer.put(value, count);
                writer.flush()?;
                rest = &rest[length..];
            }
        }
        let end = codes.literals[BLOCK_END];
        writer.put(end.value().into(), end.count());
        writer.flush()
    }
}

#[inline(always)]
fn write_literals(literals: &[u8], codes: &Codes, writer: &mut BitWriter<'_>) -> Option<()> {
    let (together, rest) = literals.as_chunks::<LITERALS_AT_ONCE>();
    for bytes in together {
        for &byte in bytes {
            let bits = codes.literals[usize::from(byte)];
            writer.put(bits.value().into(), bits.count());
        }
        writer.flush()?;
    }
    for &byte in rest {
        let bits = codes.literals[usize::from(byte)];
        writer.put(bits.value().into(), bits.count());
    }
    writer.flush()
}

/// How many bits a stored block takes with all that is around it.
fn stored_bits(len: usize, writer: &BitWriter<'_>) -> u64 {
    let parts = len.div_ceil(MAX_STORED).max(1) as u64;
    8 * len as u64 + 40 * parts + u64::from(writer.bits_to_byte())
}

fn symbol_bits(counts: &Counts, literals: &[u8], distances: &[u8]) -> u64 {
    let sum = |counts: &[u32], lens: &[u8]| -> u64 {
        counts.iter().zip(lens).map(|(&count, &len)| u64::from(count) * u64::from(len)).sum()
    };
    sum(&counts.literals, literals) + sum(&counts.distances, distances)
}

/// The bits that follow the symbols of lengths and distances.
fn extra_bits(counts: &Counts) -> u64 {
    let of_lengths = (FIRST_LENGTH..LITERALS).map(|symbol| u64::from(counts.literals[symbol] * length_extra(symbol)));
    let of_distances = (0..DISTANCES).map(|symbol| u64::from(counts.distances[symbol] * distance_extra(symbol)));
    of_lengths.chain(of_distances).sum()
}

/// A length of a code, or several of them: the symbol and the bits that follow it.
#[derive(Clone, Copy, Default)]
struct Item {
    symbol: u8,
    value: u8,
    bits: u8,
}

/// The lengths of the codes of a block, and how they are written themselves.
struct Lengths {
    literals: [u8; LITERALS],
    distances: [u8; DISTANCES],
    nliterals: usize,
    ndistances: usize,
    items: [Item; LITERALS + DISTANCES],
    nitems: usize,
    /// The lengths of the code for these.
    of_items: [u8; 19],
    nof_items: usize,
}

impl Lengths {
    fn new(counts: &Counts) -> Self {
        let mut lengths = Self {
            literals: [0; LITERALS],
            distances: [0; DISTANCES],
            nliterals: 0,
            ndistances: 0,
            items: [Item::default(); LITERALS + DISTANCES],
            nitems: 0,
            of_items: [0; 19],
            nof_items: 0,
        };
        make_lengths(&counts.literals, LITERAL_LIMIT, &mut lengths.literals);
        make_lengths(&counts.distances, DISTANCE_LIMIT, &mut lengths.distances);
        lengths.nliterals = used(&lengths.literals).max(FIRST_LENGTH);
        lengths.ndistances = used(&lengths.distances);
        let mut all = [0; LITERALS + DISTANCES];
        let (literals, distances) = all.split_at_mut(lengths.nliterals);
        literals.copy_from_slice(&lengths.literals[..lengths.nliterals]);
        distances[..lengths.ndistances].copy_from_slice(&lengths.distances[..lengths.ndistances]);
        lengths.add_items(&all[..lengths.nliterals + lengths.ndistances]);
        let mut counts = [0; 19];
        for item in &lengths.items[..lengths.nitems] {
            counts[usize::from(item.symbol)] += 1;
        }
        make_lengths(&counts, LENGTHS_LIMIT, &mut lengths.of_items);
        let last = ORDER.iter().rposition(|&symbol| lengths.of_items[symbol] > 0);
        lengths.nof_items = last.map_or(0, |last| last + 1).max(4);
        lengths
    }

    fn add_items(&mut self, mut lens: &[u8]) {
        while let Some(&len) = lens.first() {
            let mut run = lens.iter().take_while(|&&other| other == len).count();
            lens = &lens[run..];
            if len > 0 {
                self.add_item(len, 0, 0);
                run -= 1;
            }
            while run > 0 {
                let (symbol, least, most, bits) = match (len, run) {
                    (_, ..3) => (len, 1, 1, 0),
                    (0, 11..) => MANY_ZEROS,
                    (0, _) => FEW_ZEROS,
                    _ => REPEAT,
                };
                let count = run.min(most);
                self.add_item(symbol, count - least, bits);
                run -= count;
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "there are at most seven bits")]
    fn add_item(&mut self, symbol: u8, value: usize, bits: u32) {
        self.items[self.nitems] = Item { symbol, value: value as u8, bits: bits as u8 };
        self.nitems += 1;
    }

    fn header_bits(&self) -> u64 {
        let items = &self.items[..self.nitems];
        let of_items: u64 =
            items.iter().map(|item| u64::from(self.of_items[usize::from(item.symbol)] + item.bits)).sum();
        3 + 14 + 3 * self.nof_items as u64 + of_items
    }

    fn write(&self, writer: &mut BitWriter<'_>) -> Option<()> {
        writer.put((self.nliterals - FIRST_LENGTH) as u64, 5);
        writer.put((self.ndistances - 1) as u64, 5);
        writer.put((self.nof_items - 4) as u64, 4);
        writer.flush()?;
        for &symbol in &ORDER[..self.nof_items] {
            writer.put(self.of_items[symbol].into(), 3);
            writer.flush()?;
        }
        let mut codes = [Bits::default(); 19];
        make_codes(&self.of_items, &mut codes);
        for item in &self.items[..self.nitems] {
            let bits = codes[usize::from(item.symbol)].followed_by(item.value.into(), item.bits.into());
            writer.put(bits.value().into(), bits.count());
            writer.flush()?;
        }
        Some(())
    }
}

/// How many symbols there are up to the last that has a code.
fn used(lens: &[u8]) -> usize {
    lens.iter().rposition(|&len| len > 0).map_or(1, |last| last + 1)
}
