//! The codes of sequences: three FSE codes, each for one of the numbers of a sequence.

use super::ZstdError;
use crate::entropy::counts::Counts;

/// The most cells of a table: those of literal and match lengths.
pub(super) const CELLS: usize = 512;

/// A state: the number that it stands for, and which state is next.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    /// What `extra` bits of the stream are added to.
    pub(super) base: u32,
    /// What `bits` bits of the stream are added to, for the next state.
    pub(super) next: u16,
    pub(super) bits: u8,
    pub(super) extra: u8,
}

/// One of the three numbers of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Literals,
    Offset,
    Match,
}

/// The last of the small values that have codes of their own, and the extra bits of the codes
/// behind.
const LITERALS_EXTRA: [u8; 20] = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_EXTRA: [u8; 21] = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const PLAIN_LITERALS: usize = 16;
const PLAIN_MATCHES: usize = 32;
const MIN_MATCH: u32 = 3;
const MAX_SYMBOLS: usize = 53;

const LITERALS: [(u32, u8); MAX_SYMBOLS] = values(0, PLAIN_LITERALS, &LITERALS_EXTRA);
const MATCHES: [(u32, u8); MAX_SYMBOLS] = values(MIN_MATCH, PLAIN_MATCHES, &MATCH_EXTRA);

/// The first value of each code and its extra bits: `plain` values from `first` on, each with a
/// code, and ranges behind.
const fn values(first: u32, plain: usize, extra: &[u8]) -> [(u32, u8); MAX_SYMBOLS] {
    let mut values = [(0, 0); MAX_SYMBOLS];
    let (mut symbol, mut value) = (0, first);
    while symbol < plain + extra.len() {
        let bits = if symbol < plain { 0 } else { extra[symbol - plain] };
        values[symbol] = (value, bits);
        value += 1 << bits;
        symbol += 1;
    }
    values
}

const DEFAULT_LITERALS: [i16; 36] =
    [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1];
const DEFAULT_OFFSETS: [i16; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
const DEFAULT_MATCHES: [i16; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];

impl Field {
    /// The first value of a code, and its extra bits.
    #[inline(always)]
    fn value(self, symbol: u8) -> (u32, u8) {
        match self {
            Self::Literals => LITERALS[usize::from(symbol)],
            Self::Offset => (1 << (symbol & 31), symbol),
            Self::Match => MATCHES[usize::from(symbol)],
        }
    }

    const fn symbols(self) -> usize {
        match self {
            Self::Literals => 36,
            Self::Offset => 32,
            Self::Match => 53,
        }
    }

    const fn max_accuracy(self) -> u32 {
        match self {
            Self::Literals | Self::Match => 9,
            Self::Offset => 8,
        }
    }

    fn default_counts(self) -> Counts {
        match self {
            Self::Literals => Counts::known(6, &DEFAULT_LITERALS),
            Self::Offset => Counts::known(5, &DEFAULT_OFFSETS),
            Self::Match => Counts::known(6, &DEFAULT_MATCHES),
        }
    }
}

/// The table of one of the codes.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) cells: [Cell; CELLS],
    /// How many bits the first state has.
    pub(super) accuracy: u32,
    /// Whether it is the one that blocks without a code of their own have.
    is_default: bool,
}

impl Code {
    pub(super) const fn new() -> Self {
        Self { cells: [Cell { base: 0, next: 0, bits: 0, extra: 0 }; CELLS], accuracy: 0, is_default: false }
    }

    /// Makes the code whose counts `bytes` starts with, and returns how long they are there.
    pub(super) fn read(&mut self, field: Field, bytes: &[u8]) -> Result<usize, ZstdError> {
        let (counts, len) = Counts::parse(bytes, field.max_accuracy(), field.symbols())?;
        self.make(field, &counts);
        self.is_default = false;
        Ok(len)
    }

    /// Makes the code that stands for one value, without any bits.
    pub(super) fn read_single(&mut self, field: Field, bytes: &[u8]) -> Result<usize, ZstdError> {
        let &symbol = bytes.first().ok_or(ZstdError::InputEnded { input: 0 })?;
        if usize::from(symbol) >= field.symbols() {
            return Err(ZstdError::BadSequences);
        }
        let (base, extra) = field.value(symbol);
        self.cells[0] = Cell { base, next: 0, bits: 0, extra };
        self.accuracy = 0;
        self.is_default = false;
        Ok(1)
    }

    /// Makes the code of blocks without one of their own.
    pub(super) fn make_default(&mut self, field: Field) {
        if !self.is_default {
            self.make(field, &field.default_counts());
            self.is_default = true;
        }
    }

    fn make(&mut self, field: Field, counts: &Counts) {
        self.accuracy = counts.accuracy;
        counts.cells(|index, symbol, bits, next| {
            let (base, extra) = field.value(symbol);
            self.cells[index % CELLS] = Cell { base, next, bits, extra };
        });
    }

    /// The cell of a state.
    #[inline(always)]
    pub(super) fn at(&self, state: usize) -> Cell {
        self.cells[state % CELLS]
    }
}

/// The three codes of a block.
#[derive(Clone)]
pub(super) struct Codes {
    pub(super) literals: Code,
    pub(super) offsets: Code,
    pub(super) matches: Code,
}

impl Codes {
    pub(super) const fn new() -> Self {
        Self { literals: Code::new(), offsets: Code::new(), matches: Code::new() }
    }
}
