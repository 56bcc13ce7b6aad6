//! The data of a super-chunk by position.

use super::edit::Given;
use crate::code::{self, FAILURE, INVALID_PARAM, Outcome};
use crate::structs::Schunk;
use blosc_oxide::{ErrorKind, SuperChunk};
use c_boundary::memory;
use std::ops::Range;

/// What of a chunk a range of bytes has.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) index: usize,
    /// Of the chunk's data.
    pub(crate) part: Range<usize>,
    /// How long the chunk's data is.
    pub(crate) nbytes: usize,
}

impl Schunk {
    /// Decompresses all of a chunk.
    pub(crate) fn decompress(&mut self, nchunk: i64, dest: &mut [u8]) -> Outcome<i32> {
        let index = self.index(nchunk)?;
        if self.chunk_nbytes(index)? > dest.len() {
            return Err(INVALID_PARAM);
        }
        if let Some(nbytes) = self.read_stored(|stored| stored.decompress_into(index, dest))? {
            self.current_nchunk = nchunk;
            return Ok(code::of_len(nbytes));
        }
        let chunk = self.chunk(index)?;
        self.reader(nchunk)?.decompress(&chunk, dest)
    }

    /// Reads what is stored without a detour; `None` if it is in memory, or if the program has a
    /// say in how it is read.
    fn read_stored<T>(&self, read: impl FnOnce(&SuperChunk) -> blosc_oxide::Result<T>) -> Outcome<Option<T>> {
        // SAFETY: it is NULL, or a context of this super-chunk.
        let context = unsafe { memory::shared(self.dctx.cast_const()) };
        let is_plain = context.is_some_and(|context| context.maskout.is_none() && context.dparams.postfilter.is_none());
        match self.stored().filter(|_| is_plain).map(read) {
            // A codec or filter of the program.
            Some(Err(error)) if error.kind() == ErrorKind::Unsupported => Ok(None),
            Some(read) => read.map(Some).map_err(|error| code::of(&error)),
            None => Ok(None),
        }
    }

    /// Decompresses a part of a chunk.
    pub(crate) fn decompress_part(&mut self, index: usize, start: usize, dest: &mut [u8]) -> Outcome<()> {
        let nchunk = i64::try_from(index).map_err(|_| INVALID_PARAM)?;
        if let Some(range) = self.stored_range(index) {
            let range = range?;
            let end = start.checked_add(dest.len()).and_then(|end| u64::try_from(end).ok()).ok_or(INVALID_PARAM)?;
            if end > range.end - range.start {
                return Err(INVALID_PARAM);
            }
            let from = range.start + u64::try_from(start).map_err(|_| INVALID_PARAM)?;
            if self.read_stored(|stored| stored.bytes_into(from, dest))?.is_some() {
                return Ok(());
            }
        }
        let chunk = self.chunk(index)?;
        self.reader(nchunk)?.part(&chunk, start, dest)
    }

    /// The pieces of chunks that make up the items `start` to `stop`.
    pub(crate) fn pieces(&self, start: i64, stop: i64) -> Outcome<Vec<Piece>> {
        let item = i64::from(self.typesize.max(1));
        if start < 0 || stop > self.nbytes / item {
            return Err(FAILURE);
        }
        if start >= stop {
            return Ok(Vec::new());
        }
        let range = Self::size(start * item)..Self::size(stop * item);
        let mut pieces = Vec::new();
        let (mut index, mut from) = (0, 0);
        if let Some(chunksize) = usize::try_from(self.chunksize).ok().filter(|&size| size > 0) {
            index = range.start / chunksize;
            from = index * chunksize;
        }
        while from < range.end {
            let nbytes = self.chunk_nbytes(index)?;
            let part = range.start.max(from)..range.end.min(from + nbytes);
            if part.start < part.end {
                pieces.push(Piece { index, part: part.start - from..part.end - from, nbytes });
            }
            from += nbytes;
            index += 1;
        }
        Ok(pieces)
    }

    /// How long the data of a chunk is.
    fn chunk_nbytes(&self, index: usize) -> Outcome<usize> {
        match self.stored_range(index) {
            Some(range) => range.map(|range| usize::try_from(range.end - range.start).unwrap_or(usize::MAX)),
            None => Ok(self.header(index)?.nbytes()),
        }
    }

    /// Puts items into `out`, which has their length.
    pub(crate) fn get_slice(&mut self, pieces: &[Piece], mut out: &mut [u8]) -> Outcome<()> {
        for piece in pieces {
            let (place, rest) = out.split_at_mut(piece.part.len());
            out = rest;
            if piece.part.len() == piece.nbytes {
                let nchunk = i64::try_from(piece.index).map_err(|_| INVALID_PARAM)?;
                self.decompress(nchunk, place)?;
            } else {
                self.decompress_part(piece.index, piece.part.start, place)?;
            }
        }
        Ok(())
    }

    /// Writes items; all chunks are made before any is replaced.
    pub(crate) fn set_slice(&mut self, pieces: &[Piece], data: &[u8]) -> Outcome<()> {
        self.together(|schunk| schunk.overwrite(pieces, data))
    }

    fn overwrite(&mut self, pieces: &[Piece], mut data: &[u8]) -> Outcome<()> {
        let mut made = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (part, rest) = data.split_at(piece.part.len());
            data = rest;
            let nchunk = i64::try_from(piece.index).map_err(|_| INVALID_PARAM)?;
            let nbytes = i32::try_from(piece.nbytes).map_err(|_| INVALID_PARAM)?;
            let chunk = if part.len() == piece.nbytes {
                // SAFETY: the buffer has this length.
                unsafe { self.compressed(nchunk, part.as_ptr().cast(), nbytes) }?
            } else {
                let mut whole = vec![0; piece.nbytes];
                self.decompress(nchunk, &mut whole)?;
                whole[piece.part.clone()].copy_from_slice(part);
                // SAFETY: the buffer has this length.
                unsafe { self.compressed(nchunk, whole.as_ptr().cast(), nbytes) }?
            };
            made.push((nchunk, chunk));
        }
        for (nchunk, chunk) in made {
            // SAFETY: it is a chunk.
            unsafe { self.update(nchunk, Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }?;
        }
        Ok(())
    }

    /// Puts the items at these positions into `out`, one after the other.
    pub(crate) fn get_sparse(&mut self, positions: &[i64], out: &mut [u8]) -> Outcome<()> {
        let item = self.item()?;
        for (&position, place) in positions.iter().zip(out.chunks_exact_mut(item)) {
            let pieces = self.pieces(position, position + 1).map_err(|_| INVALID_PARAM)?;
            self.get_slice(&pieces, place)?;
        }
        Ok(())
    }
}
