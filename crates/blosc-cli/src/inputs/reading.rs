//! The plain data of a file of any format: all of it or a part, in order, never all at once.

use crate::inputs::source::{ChunkFile, Source};
use crate::python;
use crate::show::facts::Examined;
use crate::store;
use blosc_oxide::{Decompressor, NdArray, NpyHeader, Result};
use std::io::{self, Read, Write};
use std::ops::Range;

/// How much is asked of a file at a time.
const PIECE: usize = 8 << 20;

/// The data of a file.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub(crate) enum Plain {
    /// One that is not an array.
    Flat(Source),
    /// An array, in its own order: its bytes are those that it was made from.
    Array(NdArray),
}

impl Plain {
    /// The data of `source`.
    pub(crate) fn new(source: Source) -> Result<Self> {
        source.check_has_data()?;
        store::check_single(&source)?;
        Ok(match source.into_array()? {
            Ok(array) => Self::Array(array),
            Err(source) => Self::Flat(source),
        })
    }

    /// How much data there is.
    pub(crate) fn nbytes(&self) -> Result<u64> {
        Ok(match self {
            Self::Array(array) => array.nbytes(),
            Self::Flat(Source::Chunk(chunk)) => chunk.header.nbytes() as u64,
            Self::Flat(Source::Frame(frame)) => frame.nbytes(),
            Self::Flat(Source::Packed(packed)) => packed.nbytes()?,
            Self::Flat(Source::Bloscpack(file)) => file.nbytes()?,
        })
    }

    /// Writes everything to `out`.
    pub(crate) fn write_to(&self, mut out: impl Write + Send) -> Result<()> {
        match self {
            Self::Array(array) => array.in_order(array.order()).write_to(0..array.nbytes(), out),
            Self::Flat(Source::Chunk(chunk)) => Ok(out.write_all(&chunk.decompress()?)?),
            Self::Flat(Source::Frame(frame)) => frame.write_to(0..frame.nbytes(), out),
            Self::Flat(Source::Packed(packed)) => packed.chunks().try_for_each(|data| Ok(out.write_all(&data?)?)),
            Self::Flat(Source::Bloscpack(file)) => file.copy_to(out).map(|_| ()),
        }
    }

    /// Writes a range of bytes to `out`.
    pub(crate) fn write_range(&self, range: Range<u64>, mut out: impl Write + Send) -> Result<()> {
        let source = match self {
            Self::Array(array) => return array.in_order(array.order()).write_to(range, out),
            Self::Flat(Source::Frame(frame)) => return frame.write_to(range, out),
            Self::Flat(source) => source,
        };
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min(at.saturating_add(PIECE as u64));
            out.write_all(&bytes(source, at..end)?)?;
            at = end;
        }
        Ok(())
    }

    /// The data as something to be read from.
    pub(crate) fn into_reader(self) -> Result<PlainReader> {
        let nbytes = self.nbytes()?;
        Ok(PlainReader { plain: self, nbytes, at: 0, piece: Vec::new(), used: 0 })
    }
}

impl From<Examined> for Plain {
    fn from(examined: Examined) -> Self {
        match examined {
            Examined::Array(array) => Self::Array(array),
            Examined::Flat(source) => Self::Flat(source),
        }
    }
}

/// The array whose pickle the data of a chunk is, and its items; `None` if it is none.
pub(crate) fn unpickled(source: &Source) -> Result<Option<(NpyHeader, Vec<u8>)>> {
    let Source::Chunk(chunk) = source else { return Ok(None) };
    // Most data is told from a pickle by its first and last byte.
    let end = chunk.header.nbytes() as u64;
    if chunk.header.is_lazy() || end == 0 || chunk.bytes(0..1)? != [python::PICKLE_START] {
        return Ok(None);
    }
    if chunk.bytes(end - 1..end)? != [python::PICKLE_END] {
        return Ok(None);
    }
    let mut data = chunk.decompress()?;
    Ok(python::pickled_array(&data)?.map(|(array, items)| {
        data.truncate(items.end);
        data.drain(..items.start);
        (array, data)
    }))
}

impl ChunkFile {
    fn decompressor(&self) -> Decompressor {
        let decompressor = Decompressor::new().with_limits(self.limits).with_threads(self.threads.clone());
        decompressor.with_bitshuffle(self.bitshuffle)
    }

    /// All of its data.
    pub(crate) fn decompress(&self) -> Result<Vec<u8>> {
        self.decompressor().decompress(&self.bytes)
    }

    fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let inside = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let chunk = blosc_oxide::Chunk::parse(&self.bytes)?;
        self.decompressor().bytes(&chunk, inside(range.start)..inside(range.end))
    }
}

/// A range of bytes that is short enough for memory.
fn bytes(source: &Source, range: Range<u64>) -> Result<Vec<u8>> {
    match source {
        Source::Chunk(chunk) => chunk.bytes(range),
        Source::Frame(frame) => frame.bytes(range),
        Source::Packed(packed) => packed.bytes(range),
        Source::Bloscpack(file) => file.read_range(range),
    }
}

/// The data of a file, read piece by piece.
pub(crate) struct PlainReader {
    plain: Plain,
    nbytes: u64,
    at: u64,
    piece: Vec<u8>,
    used: usize,
}

impl PlainReader {
    /// Gets the next piece: as much as is cheap to get.
    fn refill(&mut self) -> Result<()> {
        self.piece = match &self.plain {
            Plain::Array(array) => array.in_order(array.order()).bytes_from(self.at)?,
            Plain::Flat(Source::Chunk(chunk)) => chunk.decompress()?,
            Plain::Flat(source) => bytes(source, self.at..self.nbytes.min(self.at.saturating_add(PIECE as u64)))?,
        };
        self.at = self.at.saturating_add(self.piece.len() as u64);
        self.used = 0;
        Ok(())
    }
}

impl Read for PlainReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.piece.len() && self.at < self.nbytes {
            self.refill().map_err(io::Error::other)?;
        }
        let count = buffer.len().min(self.piece.len() - self.used);
        buffer[..count].copy_from_slice(&self.piece[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}
