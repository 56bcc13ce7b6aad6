//! Reading of a stored chunk what decoding a part of it needs.

use crate::chunk::{Chunk, Decompressor, Header, Special, fetch, fill_special};
use crate::error::{Result, bail};
use crate::schunk::SuperChunk;
use crate::schunk::store::Slot;
use crate::schunk::super_chunk::Reader;
use std::ops::Range;

/// How much of a chunk is read before its length is known: all of most small chunks.
const HEAD_LEN: usize = 4096;
/// Chunks up to this size are read whole: a second read costs more than it saves.
const SMALL_CHUNK: usize = 64 << 10;

impl SuperChunk {
    /// Fills `out` with the data of the chunk `index` from byte `from` on.
    pub(crate) fn chunk_part(&self, index: usize, from: usize, out: &mut [u8]) -> Result<()> {
        if let Slot::Special(special) = self.slot(index)? {
            fill_special(special, self.typesize(), from, out);
            return Ok(());
        }
        self.with_reader(|reader| self.stored_part(index, from, out, reader)).map_err(self.at(index))
    }

    pub(in crate::schunk::super_chunk) fn stored_part(
        &self,
        index: usize,
        from: usize,
        out: &mut [u8],
        reader: &mut Reader,
    ) -> Result<()> {
        let wanted = from..from + out.len();
        let nbytes = self.load(index, std::slice::from_ref(&wanted), reader)?;
        let chunk = Chunk::parse(&reader.buffer.bytes)?;
        if out.len() == nbytes {
            return reader.decompressor.chunk_into(&chunk, out).map(|_| ());
        }
        reader.decompressor.bytes_into(&chunk, from, out)
    }

    /// Fills these ranges of `out` with the data of the chunk `index`; the rest is left as it is.
    pub(crate) fn ranges_into(&self, index: usize, ranges: &[Range<usize>], out: &mut [u8]) -> Result<()> {
        self.with_parts(index, ranges, |parts| {
            ranges.iter().try_for_each(|range| parts.read(range.start, &mut out[range.clone()]))
        })
    }

    /// Lends the chunk `index`, of which these ranges will be read.
    pub(crate) fn with_parts<T>(
        &self,
        index: usize,
        wanted: &[Range<usize>],
        action: impl FnOnce(&mut Parts<'_>) -> Result<T>,
    ) -> Result<T> {
        self.check_index(index)?;
        if let Slot::Special(special) = self.slot(index)? {
            return action(&mut Parts::Special { special, typesize: self.typesize() });
        }
        let result = self.with_reader(|reader| {
            if let Some(memory) = self.store().facts().memory {
                let chunk = Chunk::parse(memory.stored(index)?)?;
                self.check_nbytes(index, chunk.header())?;
                return action(&mut Parts::Stored { chunk, decompressor: &mut reader.decompressor });
            }
            self.load(index, wanted, reader)?;
            let Reader { decompressor, buffer } = reader;
            let chunk = Chunk::parse(&buffer.bytes)?;
            action(&mut Parts::Stored { chunk, decompressor })
        });
        result.map_err(self.at(index))
    }

    /// Reads what decoding these ranges of a stored chunk needs, and returns the size of its data.
    /// If that is all of it, or the first read of it, the chunk is compared with its hash.
    pub(in crate::schunk::super_chunk) fn load(
        &self,
        index: usize,
        wanted: &[Range<usize>],
        reader: &mut Reader,
    ) -> Result<usize> {
        let buffer = &mut reader.buffer;
        let read = self.store().read_head(index, HEAD_LEN, &mut buffer.bytes)?;
        let header = Header::parse(&buffer.bytes[..read])?;
        let expected = self.check_nbytes(index, &header)?;
        self.limits.check("a chunk", header.cbytes())?;
        let is_all = wanted.iter().map(Range::len).sum::<usize>() >= expected || self.must_check(index);
        let whole = 0..header.nbytes();
        let wanted = if is_all || header.cbytes() <= SMALL_CHUNK { std::slice::from_ref(&whole) } else { wanted };
        fetch(buffer, read, wanted, &|position, part| self.store().read_part(index, position, part))?;
        if is_all {
            self.check_hash(index, Chunk::parse(&buffer.bytes)?.as_bytes())?;
        }
        Ok(expected)
    }

    /// How much data the chunk `index` should hold, which must be what its header says.
    fn check_nbytes(&self, index: usize, header: &Header) -> Result<usize> {
        let expected = self.chunk_nbytes(index)?;
        if header.nbytes() != expected {
            bail!(Corrupt, "it holds {} bytes, {expected} are expected", header.nbytes());
        }
        Ok(expected)
    }
}

/// A chunk of which parts are read.
pub(crate) enum Parts<'a> {
    /// All items are known.
    Special { special: Special, typesize: usize },
    /// What is needed of it is in memory.
    Stored { chunk: Chunk<'a>, decompressor: &'a mut Decompressor },
}

impl Parts<'_> {
    /// Fills `out` with the data from byte `from` on.
    pub(crate) fn read(&mut self, from: usize, out: &mut [u8]) -> Result<()> {
        match self {
            Self::Special { special, typesize } => {
                fill_special(*special, *typesize, from, out);
                Ok(())
            }
            Self::Stored { chunk, decompressor } => decompressor.bytes_into(chunk, from, out),
        }
    }
}
