//! Prefix codes, as tables that are looked up with the next bits.

use super::InflateError;
use super::bits::Bits;

/// The longest code.
const MAX_LEN: usize = 15;
/// The most symbols of a code.
const MAX_SYMBOLS: usize = 288;

/// Bits that the first look-up takes, and how long the tables get with the second ones: what any
/// complete code of as many symbols needs at most, rounded up.
pub(super) const LITERAL_BITS: u32 = 11;
pub(super) const LITERAL_ENTRIES: usize = 2400;
pub(super) const DISTANCE_BITS: u32 = 8;
pub(super) const DISTANCE_ENTRIES: usize = 512;
/// The code that the lengths of the other two are written in has no longer codes than this.
pub(super) const LENGTHS_BITS: u32 = 7;
pub(super) const LENGTHS_ENTRIES: usize = 1 << LENGTHS_BITS;

/// What a code stands for:
///
/// | bits | |
/// |---|---|
/// | 0 to 5 | how many bits it and those that belong to it take |
/// | 8 to 11 | how many of these are the code itself; of a second table: how many bits it is looked up with |
/// | 13 | the block ends |
/// | 14 | there is a second table |
/// | 15 | it is neither a literal nor a number |
/// | 16 to 30 | the literal, the least number, or where the second table starts |
/// | 31 | it is a literal |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry(u32);

impl Entry {
    const END: u32 = 1 << 13;
    const TABLE: u32 = 1 << 14;
    const OTHER: u32 = 1 << 15;
    const LITERAL: u32 = 1 << 31;

    /// It stands for nothing.
    pub(super) const NOTHING: Self = Self(Self::OTHER);
    /// The end of a block.
    pub(super) const BLOCK_END: Self = Self(Self::OTHER | Self::END);

    pub(super) const fn literal(byte: u8) -> Self {
        Self(Self::LITERAL | (byte as u32) << 16)
    }

    /// A number from `base` on, with `extra` bits that are added to it.
    pub(super) const fn number(base: u16, extra: u8) -> Self {
        Self((base as u32) << 16 | extra as u32)
    }

    /// The same with a code of `len` bits.
    fn with_code(self, len: usize) -> Self {
        let len = u32::try_from(len).unwrap_or(0);
        Self(self.0 + (len << 8 | len))
    }

    fn second_table(start: usize, bits: usize, first_bits: u32) -> Self {
        let [start, bits] = [start, bits].map(|value| u32::try_from(value).unwrap_or(0));
        Self(Self::OTHER | Self::TABLE | start << 16 | bits << 8 | first_bits)
    }

    #[inline(always)]
    pub(super) fn is_literal(self) -> bool {
        self.0 & Self::LITERAL != 0
    }

    /// Whether it is neither a literal nor a number.
    #[inline(always)]
    pub(super) fn is_other(self) -> bool {
        self.0 & Self::OTHER != 0
    }

    #[inline(always)]
    pub(super) fn is_block_end(self) -> bool {
        self.0 & Self::END != 0
    }

    /// The literal that it is.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the upper bits are not the literal's")]
    pub(super) fn byte(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// All its bits.
    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        self.0 & 63
    }

    /// The number that it is, with the bits of it that are at the start of `held`.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "no number has more than 15 bits")]
    pub(super) fn value(self, held: u64) -> usize {
        let bits = held & ((1 << self.len()) - 1);
        (self.0 >> 16 & 0x7FFF) as usize + (bits >> (self.0 >> 8 & 15)) as usize
    }
}

/// A prefix code: a table for `BITS` bits, followed by tables for the rest of longer codes.
#[derive(Clone)]
pub(super) struct Code<const BITS: u32, const ENTRIES: usize>([Entry; ENTRIES]);

impl<const BITS: u32, const ENTRIES: usize> Code<BITS, ENTRIES> {
    const FIRST: usize = 1 << BITS;

    pub(super) const fn new() -> Self {
        Self([Entry::NOTHING; ENTRIES])
    }

    /// What the next bits stand for, or the table that tells.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the mask leaves BITS bits")]
    pub(super) fn first(&self, bits: &Bits<'_>) -> Entry {
        self.0[bits.held() as usize & (Self::FIRST - 1)]
    }

    /// What the next bits stand for, after [`first`](Self::first) has given `entry`.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the mask leaves a few bits")]
    pub(super) fn second(&self, entry: Entry, bits: &mut Bits<'_>) -> Entry {
        if entry.0 & Entry::TABLE == 0 {
            return entry;
        }
        bits.skip(BITS);
        let mask = (1 << (entry.0 >> 8 & 15)) - 1;
        self.0[(entry.0 >> 16 & 0x7FFF) as usize + (bits.held() as usize & mask)]
    }

    /// Makes the code in which the symbol `i`, which stands for `meanings[i]`, has `lens[i]` bits,
    /// or none if that is 0.
    ///
    /// A code of which some bits mean nothing is refused, but for one of a single bit or none at
    /// all: so do all decoders.
    pub(super) fn make(&mut self, lens: &[u8], meanings: &[Entry]) -> Result<(), InflateError> {
        let mut counts = [0_usize; MAX_LEN + 1];
        lens.iter().for_each(|&len| counts[usize::from(len)] += 1);
        counts[0] = 0;
        let mut unused = 1_usize;
        for &count in &counts[1..] {
            unused = (2 * unused).checked_sub(count).ok_or(InflateError::BadLengths)?;
        }
        if unused > 0 {
            return self.make_incomplete(lens, meanings, &counts);
        }
        let sorted = by_length(lens, &counts);
        let mut symbols = sorted.iter().map(|&symbol| meanings[usize::from(symbol)]);
        let code = self.make_first(&mut symbols, &counts);
        self.make_second(&mut symbols, &mut counts, code)
    }

    fn make_incomplete(&mut self, lens: &[u8], meanings: &[Entry], counts: &[usize]) -> Result<(), InflateError> {
        let used: usize = counts.iter().sum();
        if used > 1 || counts[1] != used {
            return Err(InflateError::BadLengths);
        }
        self.0[..Self::FIRST].fill(Entry::NOTHING);
        if let Some(symbol) = lens.iter().position(|&len| len == 1) {
            self.0[..Self::FIRST].iter_mut().step_by(2).for_each(|entry| *entry = meanings[symbol].with_code(1));
        }
        Ok(())
    }

    /// Fills the first table, and returns the first code that is too long for it.
    fn make_first(&mut self, symbols: &mut impl Iterator<Item = Entry>, counts: &[usize]) -> usize {
        let mut code = 0;
        for len in 1..=BITS as usize {
            // The table for one bit less is there, and is repeated for both values of the bit.
            let half = 1 << (len - 1);
            self.0.copy_within(..half, half);
            for symbol in symbols.by_ref().take(*counts.get(len).unwrap_or(&0)) {
                self.0[code] = symbol.with_code(len);
                code = next_code(code, len);
            }
        }
        code
    }

    /// Makes the tables of codes that are longer than `BITS`, the first of which is `code`.
    fn make_second(
        &mut self,
        symbols: &mut impl Iterator<Item = Entry>,
        counts: &mut [usize; MAX_LEN + 1],
        mut code: usize,
    ) -> Result<(), InflateError> {
        let first_bits = BITS as usize;
        let (mut table, mut start, mut end) = (usize::MAX, Self::FIRST, Self::FIRST);
        for len in first_bits + 1..=MAX_LEN {
            while counts[len] > 0 {
                let Some(symbol) = symbols.next() else { return Ok(()) };
                if code % Self::FIRST != table {
                    table = code % Self::FIRST;
                    let bits = second_bits(counts, len, first_bits);
                    start = end;
                    end += 1 << bits;
                    if end > ENTRIES {
                        return Err(InflateError::BadLengths);
                    }
                    self.0[table] = Entry::second_table(start, bits, BITS);
                }
                let rest = len - first_bits;
                let places = self.0[start..end].iter_mut().skip(code >> BITS).step_by(1 << rest);
                places.for_each(|entry| *entry = symbol.with_code(rest));
                counts[len] -= 1;
                code = next_code(code, len);
            }
        }
        Ok(())
    }
}

/// With how many bits a second table is looked up whose next code has `len` bits: until its codes
/// use it up.
fn second_bits(counts: &[usize; MAX_LEN + 1], len: usize, first_bits: usize) -> usize {
    let mut bits = len - first_bits;
    let mut used = counts[len];
    while used < 1 << bits && first_bits + bits < MAX_LEN {
        bits += 1;
        used = 2 * used + counts[first_bits + bits];
    }
    bits
}

/// The symbols with codes, those with short ones first.
fn by_length(lens: &[u8], counts: &[usize; MAX_LEN + 1]) -> Sorted {
    let mut places = [0; MAX_LEN + 1];
    for len in 1..MAX_LEN {
        places[len + 1] = places[len] + counts[len];
    }
    let mut sorted = Sorted { symbols: [0; MAX_SYMBOLS], count: 0 };
    for (symbol, &len) in (0_u16..).zip(lens) {
        if len > 0 {
            let place = &mut places[usize::from(len)];
            sorted.symbols[*place] = symbol;
            *place += 1;
            sorted.count += 1;
        }
    }
    sorted
}

struct Sorted {
    symbols: [u16; MAX_SYMBOLS],
    count: usize,
}

impl core::ops::Deref for Sorted {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.symbols[..self.count]
    }
}

/// The code of `len` bits after `code`, both with their bits in the order of the stream: the
/// highest bit is the last one. After the last code, 0.
fn next_code(code: usize, len: usize) -> usize {
    let zeros = !code & ((1 << len) - 1);
    match zeros.checked_ilog2() {
        Some(highest) => (code & ((1 << highest) - 1)) | 1 << highest,
        None => 0,
    }
}
