//! The parts of a block, which may be Huffman coded.

use super::LizardError;
use super::fields::Fields;
use crate::entropy::huffman::Table;
use crate::lz::vectors::Vectors;

/// The most bytes that a Huffman-coded part may stand for: the data of a block.
const MAX_LEN: usize = 1 << 17;
/// The largest weight that may be written.
const MAX_WEIGHT: u8 = 11;
/// Weights that are FSE coded in fewer bytes than these are refused by the reference decoder.
const MIN_CODED_WEIGHTS: u8 = 4;

/// One part of a block as it is in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubStream<'a> {
    /// The bytes themselves.
    Plain(&'a [u8]),
    /// A byte, and how often it is there.
    Run(u8, usize),
    /// A Huffman code and its bits, and how many bytes they stand for.
    Coded(&'a [u8], usize),
}

impl<'a> SubStream<'a> {
    pub(super) fn parse(fields: &mut Fields<'a>, is_coded: bool) -> Result<Self, LizardError> {
        let decoded = fields.u24()?;
        if !is_coded {
            return Ok(Self::Plain(fields.take(decoded)?));
        }
        let coded = fields.u24()?;
        if decoded == 0 || decoded > MAX_LEN || coded > decoded {
            return Err(LizardError::BadLength { decoded, coded });
        }
        Ok(match fields.take(coded)? {
            plain if plain.len() == decoded => Self::Plain(plain),
            &[byte] => Self::Run(byte, decoded),
            bytes => Self::Coded(bytes, decoded),
        })
    }

    /// How many bytes it stands for.
    pub(super) fn len(&self) -> usize {
        match *self {
            Self::Plain(bytes) => bytes.len(),
            Self::Run(_, len) | Self::Coded(_, len) => len,
        }
    }

    /// The same without what is behind `len` bytes, where that saves work.
    pub(super) fn up_to(self, len: usize) -> Self {
        match self {
            Self::Run(byte, all) => Self::Run(byte, all.min(len)),
            other => other,
        }
    }

    /// How much scratch memory [`decode`](Self::decode) takes.
    pub(super) fn scratch_len(&self) -> usize {
        if let Self::Plain(_) = self { 0 } else { self.len() }
    }

    /// The bytes, which are put at the start of `scratch` if they are not in the stream; `scratch`
    /// is then what is behind them.
    #[inline(always)]
    pub(super) fn decode<V: Vectors>(
        self,
        vectors: V,
        table: &mut Table,
        scratch: &mut &'a mut [u8],
    ) -> Result<&'a [u8], LizardError> {
        let (own, rest) = core::mem::take(scratch).split_at_mut(self.scratch_len());
        *scratch = rest;
        match self {
            Self::Plain(bytes) => return Ok(bytes),
            Self::Run(byte, _) => own.fill(byte),
            Self::Coded(bytes, _) => decode_coded(vectors, table, bytes, own)?,
        }
        Ok(own)
    }
}

/// Decodes a table of weights, and the four streams behind it.
#[inline(always)]
fn decode_coded<V: Vectors>(vectors: V, table: &mut Table, src: &[u8], dst: &mut [u8]) -> Result<(), LizardError> {
    if let Some(&len @ ..MIN_CODED_WEIGHTS) = src.first() {
        return Err(LizardError::InputEnded { input: usize::from(len) });
    }
    let from = table.read(src, MAX_WEIGHT)?;
    Ok(table.four_streams(vectors, src, from, dst)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<SubStream<'_>, LizardError> {
        SubStream::parse(&mut Fields::new(bytes), true)
    }

    #[test]
    fn lengths_tell_plain_bytes_and_runs_from_codes() {
        assert_eq!(parse(&[2, 0, 0, 2, 0, 0, 7, 8]), Ok(SubStream::Plain(&[7, 8])));
        assert_eq!(parse(&[1, 0, 0, 1, 0, 0, 7]), Ok(SubStream::Plain(&[7])));
        assert_eq!(parse(&[9, 1, 0, 1, 0, 0, 7]), Ok(SubStream::Run(7, 265)));
        assert_eq!(parse(&[9, 1, 0, 2, 0, 0, 7, 8]), Ok(SubStream::Coded(&[7, 8], 265)));
        assert_eq!(parse(&[0, 0, 2, 1, 0, 0, 7]), Ok(SubStream::Run(7, 1 << 17)));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        for (bytes, decoded, coded) in [
            ([0, 0, 0, 0, 0, 0, 7, 8], 0, 0),
            ([0, 0, 0, 1, 0, 0, 7, 8], 0, 1),
            ([1, 0, 0, 2, 0, 0, 7, 8], 1, 2),
            ([1, 0, 2, 2, 0, 0, 7, 8], 131_073, 2),
        ] {
            assert_eq!(parse(&bytes), Err(LizardError::BadLength { decoded, coded }));
        }
        assert_eq!(parse(&[9, 0, 0, 3, 0, 0, 7, 8]), Err(LizardError::InputEnded { input: 8 }));
    }
}
