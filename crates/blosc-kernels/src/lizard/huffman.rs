//! Huffman-coded bytes: a table of weights, and four bit streams.

use super::LizardError;
use super::bits::{BackwardBits, WINDOW};
use super::fields::Fields;
use super::fse;

/// The longest code.
const MAX_BITS: u32 = 12;
const ENTRIES: usize = 1 << MAX_BITS;
/// The most weights that are written; that of the last symbol follows from the others.
const MAX_WEIGHTS: usize = 255;
/// The largest weight that is written.
const MAX_WEIGHT: u8 = 11;
/// The bit streams, each of which makes a quarter of the bytes.
const STREAMS: usize = 4;
/// How many codes a window has bits for.
const TURN: usize = (WINDOW / MAX_BITS) as usize;
/// How many bits must be left for a turn.
const TURN_BITS: usize = TURN * MAX_BITS as usize;
/// First byte of the weights from which on they are not FSE coded.
const PLAIN_WEIGHTS: u8 = 128;

/// What a code stands for: the byte, and the length of the code above it.
#[derive(Clone, Copy)]
struct Entry(u16);

impl Entry {
    fn new(byte: u8, bits: u32) -> Self {
        Self(u16::from_le_bytes([byte, bits.to_le_bytes()[0]]))
    }

    #[inline(always)]
    fn byte(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    #[inline(always)]
    fn bits(self) -> usize {
        usize::from(self.0 >> 8)
    }
}

/// A Huffman code, looked up with the next `bits` bits.
#[derive(Clone)]
pub(super) struct Table {
    entries: [Entry; ENTRIES],
    bits: u32,
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

impl Table {
    pub(super) const fn new() -> Self {
        Self { entries: [Entry(0); ENTRIES], bits: 1 }
    }

    /// Decodes `src`, which stands for as many bytes as `dst` has.
    #[inline(always)]
    pub(super) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<(), LizardError> {
        let mut fields = Fields::new(src);
        self.make(&Weights::parse(&mut fields)?)?;
        let mut lens = [0; STREAMS];
        for len in &mut lens[..STREAMS - 1] {
            *len = fields.u16()?;
        }
        lens[STREAMS - 1] = fields.len().checked_sub(lens.iter().sum()).ok_or(fields.cut())?;
        let mut next = |len| BackwardBits::new(fields.take(len)?).ok_or(LizardError::BadBits);
        let mut streams = [next(lens[0])?, next(lens[1])?, next(lens[2])?, next(lens[3])?];
        let quarter = dst.len().div_ceil(STREAMS);
        let too_short = LizardError::BadLength { decoded: dst.len(), coded: src.len() };
        let (first, rest) = dst.split_at_mut_checked(quarter).ok_or(too_short)?;
        let (second, rest) = rest.split_at_mut_checked(quarter).ok_or(too_short)?;
        let (third, fourth) = rest.split_at_mut_checked(quarter).ok_or(too_short)?;
        self.streams(&mut streams, [first, second, third, fourth])
    }

    /// Makes the code in which those bytes have short codes that have large weights.
    fn make(&mut self, weights: &Weights) -> Result<(), LizardError> {
        let mut starts = [0_usize; MAX_BITS as usize + 2];
        for &weight in weights.all() {
            starts[usize::from(weight) + 1] += cells(weight);
        }
        for weight in 1..starts.len() {
            starts[weight] += starts[weight - 1];
        }
        self.bits = weights.bits;
        for (byte, &weight) in (0..=u8::MAX).zip(weights.all()) {
            if weight > 0 {
                let start = &mut starts[usize::from(weight)];
                let entry = Entry::new(byte, weights.bits + 1 - u32::from(weight));
                self.entries[*start..*start + cells(weight)].fill(entry);
                *start += cells(weight);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn streams(
        &self,
        streams: &mut [BackwardBits<'_>; STREAMS],
        mut parts: [&mut [u8]; STREAMS],
    ) -> Result<(), LizardError> {
        let [a, b, c, d] = streams;
        let [first, second, third, fourth] = &mut parts;
        let turns = first.as_chunks_mut().0.iter_mut().zip(second.as_chunks_mut().0);
        let turns = turns.zip(third.as_chunks_mut().0).zip(fourth.as_chunks_mut().0);
        let mut done = 0;
        for (((first, second), third), fourth) in turns {
            if a.left().min(b.left()).min(c.left()).min(d.left()) < TURN_BITS {
                break;
            }
            self.turn(a, first);
            self.turn(b, second);
            self.turn(c, third);
            self.turn(d, fourth);
            done += TURN;
        }
        for (bits, part) in streams.iter_mut().zip(parts) {
            self.rest(bits, &mut part[done..])?;
        }
        Ok(())
    }

    /// Decodes a few bytes, for which there are bits enough.
    #[inline(always)]
    fn turn(&self, bits: &mut BackwardBits<'_>, part: &mut [u8; TURN]) {
        let mut window = bits.window();
        let mut used = 0;
        for byte in part {
            let entry = self.entry(window);
            *byte = entry.byte();
            window <<= entry.bits();
            used += entry.bits();
        }
        bits.skip(used);
    }

    /// Decodes what is left of a stream, which has to end with it.
    #[inline(always)]
    fn rest(&self, bits: &mut BackwardBits<'_>, part: &mut [u8]) -> Result<(), LizardError> {
        let mut done = 0;
        for turn in part.as_chunks_mut().0 {
            if bits.left() < TURN_BITS {
                break;
            }
            self.turn(bits, turn);
            done += TURN;
        }
        for byte in &mut part[done..] {
            let entry = self.entry(bits.window());
            if entry.bits() > bits.left() {
                return Err(LizardError::BadBits);
            }
            *byte = entry.byte();
            bits.skip(entry.bits());
        }
        if bits.left() == 0 { Ok(()) } else { Err(LizardError::BadBits) }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the remainder is less than ENTRIES")]
    fn entry(&self, window: u64) -> Entry {
        self.entries[(window >> (64 - self.bits)) as usize % ENTRIES]
    }
}

/// How many entries of a table a byte with this weight takes.
fn cells(weight: u8) -> usize {
    if weight == 0 { 0 } else { 1 << (weight - 1) }
}

/// The weights of a code, checked to make one once [`parse`](Self::parse) returns them.
pub(super) struct Weights {
    of: [u8; MAX_WEIGHTS + 1],
    count: usize,
    /// Length of the longest code.
    bits: u32,
}

impl Weights {
    fn parse(fields: &mut Fields<'_>) -> Result<Self, LizardError> {
        let mut weights = Self { of: [0; MAX_WEIGHTS + 1], count: 0, bits: 0 };
        match fields.u8()? {
            len @ ..PLAIN_WEIGHTS => fse::read_weights(fields.take(usize::from(len))?, &mut weights)?,
            more => weights.read_plain(fields, usize::from(more - PLAIN_WEIGHTS) + 1)?,
        }
        weights.complete()?;
        Ok(weights)
    }

    /// Two weights a byte, the first of them in the upper half.
    fn read_plain(&mut self, fields: &mut Fields<'_>, count: usize) -> Result<(), LizardError> {
        let bytes = fields.take(count.div_ceil(2))?;
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(count).try_for_each(|weight| self.push(weight))
    }

    /// Adds the weight of the next byte.
    pub(super) fn push(&mut self, weight: u8) -> Result<(), LizardError> {
        if weight > MAX_WEIGHT || self.count == MAX_WEIGHTS {
            return Err(LizardError::BadWeights);
        }
        self.of[self.count] = weight;
        self.count += 1;
        Ok(())
    }

    /// Adds the last weight, with which the code has no bits that stand for nothing.
    fn complete(&mut self) -> Result<(), LizardError> {
        let sum: usize = self.all().iter().map(|&weight| cells(weight)).sum();
        self.bits = sum.checked_ilog2().ok_or(LizardError::BadWeights)? + 1;
        let rest = (1 << self.bits) - sum;
        if self.bits > MAX_BITS || !rest.is_power_of_two() {
            return Err(LizardError::BadWeights);
        }
        self.of[self.count] = rest.ilog2().to_le_bytes()[0] + 1;
        self.count += 1;
        let longest = self.all().iter().filter(|&&weight| weight == 1).count();
        if longest < 2 || longest % 2 != 0 { Err(LizardError::BadWeights) } else { Ok(()) }
    }

    fn all(&self) -> &[u8] {
        &self.of[..self.count]
    }
}
