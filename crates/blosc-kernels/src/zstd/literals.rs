//! The literals of a block.

use super::ZstdError;
use crate::entropy::huffman::Table;
use crate::lz::copy::OVER;
use crate::lz::vectors::Vectors;
use alloc::vec::Vec;

/// The largest weight of a Huffman code that is written.
pub(super) const MAX_WEIGHT: u8 = 12;
/// Fewer literals than these cannot be four streams.
const MIN_FOUR_STREAMS: usize = 6;
/// Fewer bytes than these are no block with literals that are coded.
const MIN_CODED_BLOCK: usize = 5;
const MIN_BLOCK: usize = 2;
/// From how many literals on a table of pairs pays, if they have less than these bits each.
const MIN_PAIRS: usize = 6000;
const PAIR_BITS: usize = 6;

/// The literals of a block as they are in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    kind: Kind,
    /// How many literals there are.
    pub(super) len: usize,
    /// Behind the section.
    pub(super) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// They are in the stream from there on.
    Raw(usize),
    /// All are the same.
    Run(u8),
    /// They are Huffman coded, with a code of their own or that of a block before.
    Coded { from: usize, has_code: bool, is_one_stream: bool },
}

impl Section {
    /// The section at `at` of a block that ends with `src`. There can be `max` literals.
    pub(super) fn parse(src: &[u8], at: usize, max: usize) -> Result<Self, ZstdError> {
        let block = &src[at..];
        let &first = block.first().ok_or(ZstdError::BadLiterals)?;
        if block.len() < MIN_BLOCK || first & 2 != 0 && block.len() < MIN_CODED_BLOCK {
            return Err(ZstdError::BadLiterals);
        }
        let ended = ZstdError::InputEnded { input: src.len() };
        let section = if first & 2 == 0 { Self::plain(block, at) } else { Some(Self::coded(block, at)) };
        let section = section.ok_or(ended)?;
        if section.len > max {
            return Err(ZstdError::BadLiterals);
        }
        if section.end > src.len() {
            return Err(ended);
        }
        let is_too_short = matches!(section.kind, Kind::Coded { is_one_stream: false, .. });
        if is_too_short && section.len < MIN_FOUR_STREAMS { Err(ZstdError::BadLiterals) } else { Ok(section) }
    }

    /// Literals that are there as they are, or as a run.
    fn plain(block: &[u8], at: usize) -> Option<Self> {
        let (header_len, shift) = match block[0] >> 2 & 3 {
            1 => (2, 4),
            3 => (3, 4),
            _ => (1, 3),
        };
        let len = number(block.get(..header_len)?) >> shift;
        let from = at + header_len;
        let is_run = block[0] & 1 != 0;
        let (kind, end) =
            if is_run { (Kind::Run(*block.get(header_len)?), from + 1) } else { (Kind::Raw(from), from + len) };
        Some(Self { kind, len, end })
    }

    /// Literals that are Huffman coded, in a block of [`MIN_CODED_BLOCK`] or more.
    fn coded(block: &[u8], at: usize) -> Self {
        let form = block[0] >> 2 & 3;
        let (header_len, bits) = match form {
            3 => (5, 18),
            2 => (4, 14),
            _ => (3, 10),
        };
        let mask = (1 << bits) - 1;
        let header = block[..header_len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)) >> 4;
        #[allow(clippy::cast_possible_truncation, reason = "of 18 bits at most")]
        let [len, coded_len] = [header & mask, header >> bits & mask].map(|bits| bits as usize);
        let from = at + header_len;
        let kind = Kind::Coded { from, has_code: block[0] & 1 == 0, is_one_stream: form == 0 };
        Self { kind, len, end: from + coded_len }
    }

    /// Whether there is a Huffman code that later blocks may use.
    pub(super) fn has_code(&self) -> bool {
        matches!(self.kind, Kind::Coded { has_code: true, .. })
    }

    /// Whether a Huffman code is needed that there is already.
    pub(super) fn needs_code(&self) -> bool {
        matches!(self.kind, Kind::Coded { has_code: false, .. })
    }

    /// Makes the Huffman code, if there is one. Returns where the bits start.
    pub(super) fn read_code(&self, src: &[u8], table: &mut Table) -> Result<usize, ZstdError> {
        let Kind::Coded { from, has_code, is_one_stream } = self.kind else { return Ok(0) };
        if !has_code {
            return Ok(from);
        }
        let bits = from + table.read(&src[from..self.end], MAX_WEIGHT)?;
        if !is_one_stream && self.len >= MIN_PAIRS && 8 * (self.end - bits) < PAIR_BITS * self.len {
            table.make_pairs();
        }
        Ok(bits)
    }

    /// Puts the literals into `dst`, which has their length. Their bits start at `bits`.
    #[inline(always)]
    pub(super) fn decode<V: Vectors>(
        &self,
        vectors: V,
        src: &[u8],
        bits: usize,
        table: &Table,
        dst: &mut [u8],
    ) -> Result<(), ZstdError> {
        match self.kind {
            Kind::Raw(from) => dst.copy_from_slice(&src[from..self.end]),
            Kind::Run(byte) => dst.fill(byte),
            Kind::Coded { is_one_stream: true, .. } => table.one_stream(&src[..self.end], bits, dst)?,
            Kind::Coded { .. } => table.four_streams(vectors, &src[..self.end], bits, dst)?,
        }
        Ok(())
    }

    /// Where the literals are if they are in the stream, and [`OVER`] bytes behind them.
    pub(super) fn in_place<'a>(&self, src: &'a [u8]) -> Option<&'a [u8]> {
        let Kind::Raw(from) = self.kind else { return None };
        src.get(from..self.end + OVER)
    }
}

/// Makes sure that literals can be put into `scratch`, `max` of them at most.
pub(super) fn grow(scratch: &mut Vec<u8>, max: usize) {
    if scratch.len() < max + OVER {
        scratch.resize(max + OVER, 0);
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}
