//! The data of a super-chunk by position.

use super::edit::Given;
use crate::code::{FAILURE, INVALID_PARAM, Outcome};
use crate::structs::Schunk;
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
        if self.header(index)?.nbytes() > dest.len() {
            return Err(INVALID_PARAM);
        }
        let chunk = self.chunk(index)?;
        self.reader(nchunk)?.decompress(chunk, dest)
    }

    /// Decompresses a part of a chunk.
    pub(crate) fn decompress_part(&mut self, index: usize, start: usize, dest: &mut [u8]) -> Outcome<()> {
        let chunk = self.chunk(index)?;
        let nchunk = i64::try_from(index).map_err(|_| INVALID_PARAM)?;
        self.reader(nchunk)?.part(chunk, start, dest)
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
            let nbytes = self.header(index)?.nbytes();
            let part = range.start.max(from)..range.end.min(from + nbytes);
            if part.start < part.end {
                pieces.push(Piece { index, part: part.start - from..part.end - from, nbytes });
            }
            from += nbytes;
            index += 1;
        }
        Ok(pieces)
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
    pub(crate) fn set_slice(&mut self, pieces: &[Piece], mut data: &[u8]) -> Outcome<()> {
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
