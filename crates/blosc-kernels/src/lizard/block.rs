//! The inner blocks of a stream.

use super::fields::Fields;
use super::substream::SubStream;
use super::{Decoder, LizardError};
use crate::lz::vectors::Vectors;

/// First byte of a block whose data are stored as they are.
const RAW: u8 = 0x80;
/// Which parts of any other block are Huffman coded.
const CODED_LITERALS: u8 = 0x01;
const CODED_TOKENS: u8 = 0x02;
const CODED_OFFSETS16: u8 = 0x04;
const CODED_OFFSETS24: u8 = 0x08;
const KNOWN: u8 = CODED_LITERALS | CODED_TOKENS | CODED_OFFSETS16 | CODED_OFFSETS24;

/// An inner block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block<'a> {
    /// Data that were not compressed.
    Raw(&'a [u8]),
    /// Tokens and what belongs to them.
    Coded(SubStreams<'a>),
}

/// The parts of a block as they are in the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SubStreams<'a> {
    offsets16: SubStream<'a>,
    offsets24: SubStream<'a>,
    tokens: SubStream<'a>,
    literals: SubStream<'a>,
}

/// The parts of a block, decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) offsets16: &'a [u8],
    pub(super) offsets24: &'a [u8],
    pub(super) tokens: &'a [u8],
    pub(super) literals: &'a [u8],
}

impl<'a> Block<'a> {
    pub(super) fn parse(fields: &mut Fields<'a>) -> Result<Self, LizardError> {
        let flags = fields.u8()?;
        if flags == RAW {
            let len = fields.u24()?;
            return Ok(Self::Raw(fields.take(len)?));
        }
        if flags & !KNOWN != 0 {
            return Err(LizardError::BadBlock { flags });
        }
        // Lengths had a part of their own in the design of the format; writers leave it empty,
        // readers skip it.
        SubStream::parse(fields, false)?;
        Ok(Self::Coded(SubStreams {
            offsets16: SubStream::parse(fields, flags & CODED_OFFSETS16 != 0)?,
            offsets24: SubStream::parse(fields, flags & CODED_OFFSETS24 != 0)?,
            tokens: SubStream::parse(fields, flags & CODED_TOKENS != 0)?,
            literals: SubStream::parse(fields, flags & CODED_LITERALS != 0)?,
        }))
    }
}

impl<'a> SubStreams<'a> {
    /// Decodes the parts that are Huffman coded, into the scratch memory of `decoder`.
    #[inline(always)]
    pub(super) fn decode<'b, V: Vectors>(self, vectors: V, decoder: &'b mut Decoder) -> Result<Parts<'b>, LizardError>
    where
        'a: 'b,
    {
        // A token takes one offset at most. A run of offsets that none takes would be work that
        // nothing pays for.
        let tokens = self.tokens.len();
        let offsets16 = self.offsets16.up_to(2 * tokens);
        let offsets24 = self.offsets24.up_to(3 * tokens);
        let all = [offsets16, offsets24, self.tokens, self.literals];
        let scratch_len = all.iter().map(SubStream::scratch_len).sum();
        let Decoder { table, scratch } = decoder;
        if scratch.len() < scratch_len {
            scratch.resize(scratch_len, 0);
        }
        let mut scratch = &mut scratch[..];
        let [offsets16, offsets24, tokens, literals] = all;
        let mut decode = |part: SubStream<'b>| part.decode(vectors, table, &mut scratch);
        Ok(Parts {
            offsets16: decode(offsets16)?,
            offsets24: decode(offsets24)?,
            tokens: decode(tokens)?,
            literals: decode(literals)?,
        })
    }
}
