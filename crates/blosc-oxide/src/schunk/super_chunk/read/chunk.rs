//! One chunk: as it is stored, its data, its header.

use crate::chunk::{
    Chunk, Compressor, Header, Special, fill_chunk, fill_special, modernised, special_chunk, special_width,
};
use crate::error::{Error, ErrorKind, Result, bail, error};
use crate::schunk::SuperChunk;
use crate::schunk::store::{Slot, compare};
use std::borrow::Cow;

/// The longest header of a chunk.
const HEADER_LEN: usize = 32;
const MAX_LEVEL: u8 = 9;

impl SuperChunk {
    /// The chunk `index` as it is stored. One that does not name the rule of bitshuffle it needs,
    /// and needs [the one of its frame](Self::bitshuffle_rule), would decode to other data by
    /// itself, and is compressed again.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such chunk; `Corrupt`, `Truncated` or `Io` if it cannot be
    /// read; `ChecksumMismatch` if it is damaged and [checked when it is
    /// read](crate::OpenOptions::with_check_on_read).
    pub fn chunk(&self, index: usize) -> Result<Vec<u8>> {
        self.check_index(index)?;
        match self.slot(index)? {
            Slot::Special(special) => {
                let nbytes = self.chunk_nbytes(index)?;
                let is_chunk = nbytes.is_multiple_of(special_width(special, self.typesize()))
                    && (special != Special::NaN || matches!(self.typesize(), 4 | 8));
                let chunk = if is_chunk {
                    special_chunk(special, nbytes, &self.options)
                } else {
                    self.explicit_special(special, nbytes)
                };
                chunk.map_err(self.at(index))
            }
            Slot::Stored => {
                let read = self.store().read(index).map(Cow::into_owned);
                let checked = read.and_then(|bytes| self.check_hash(index, &bytes).map(|()| bytes));
                checked.and_then(|bytes| self.self_contained(bytes)).map_err(self.at(index))
            }
        }
    }

    /// A stored chunk, or another with the same data if its own depend on a rule that it does not
    /// name.
    fn self_contained(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let header = Header::parse(&bytes)?;
        let is_told = header.bitshuffle_rule().is_some();
        if is_told || !header.needs_old_bitshuffle(self.bitshuffle_rule()) {
            return Ok(bytes);
        }
        self.with_reader(|reader| modernised(&bytes, self.level().min(MAX_LEVEL), &mut reader.decompressor))
    }

    /// Whether nothing tells by which rule of bitshuffle the chunk `index` is to be decoded, and
    /// its data depend on it: it has blocks of more than eight items but no multiple of eight, and
    /// a release with either rule may have written it. It is read by the rule that was
    /// [chosen](crate::FrameOptions::bitshuffle).
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn is_bitshuffle_ambiguous(&self, index: usize) -> Result<bool> {
        if self.state.bitshuffle.is_some() {
            return Ok(false);
        }
        Ok(self.chunk_header(index)?.is_some_and(|header| header.is_bitshuffle_ambiguous()))
    }

    /// The data of the chunk `index`.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk) and [`Chunk::decompress`].
    pub fn decompress(&self, index: usize) -> Result<Vec<u8>> {
        let nbytes = self.chunk_nbytes(index)?;
        self.limits.check("the data of a chunk", nbytes).map_err(self.at(index))?;
        let mut data = vec![0; nbytes];
        self.chunk_part(index, 0, &mut data)?;
        Ok(data)
    }

    /// Writes the data of the chunk `index` to the start of `out`, and returns its size.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `OutputTooSmall` if `out` is shorter.
    pub fn decompress_into(&self, index: usize, out: &mut [u8]) -> Result<usize> {
        let nbytes = self.chunk_nbytes(index)?;
        let Some(out) = out.get_mut(..nbytes) else {
            bail!(OutputTooSmall, "chunk {index} holds {nbytes} bytes, the output has room for {}", out.len());
        };
        self.chunk_part(index, 0, out)?;
        Ok(nbytes)
    }

    /// The data of one block of the chunk `index`.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `InvalidArgument` if there is no such block.
    pub fn block(&self, index: usize, block: usize) -> Result<Vec<u8>> {
        match self.chunk_header(index)? {
            Some(header) if !header.has_vlblocks() => {
                if block >= header.nblocks() {
                    bail!(InvalidArgument, "chunk {index}: block {block} is asked for, there are {}", header.nblocks());
                }
                let start = block * header.blocksize();
                let len = header.blocksize().min(header.nbytes() - start);
                self.limits.check("a block", len).map_err(self.at(index))?;
                let mut data = vec![0; len];
                self.chunk_part(index, start, &mut data)?;
                Ok(data)
            }
            _ => self.block_of_whole(index, block),
        }
    }

    /// The lengths of blocks of different lengths are all over the chunk, so that it must be read
    /// whole.
    fn block_of_whole(&self, index: usize, block: usize) -> Result<Vec<u8>> {
        let bytes = self.chunk(index)?;
        let chunk = Chunk::parse(&bytes).map_err(self.at(index))?;
        self.with_reader(|reader| reader.decompressor.block(&chunk, block)).map_err(self.at(index))
    }

    /// The header of the chunk `index`; `None` if all of its items are known and nothing is stored.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_header(&self, index: usize) -> Result<Option<Header>> {
        self.check_index(index)?;
        match self.slot(index)? {
            Slot::Special(_) => Ok(None),
            Slot::Stored => self.stored_header(index).map(Some),
        }
    }

    /// The special value of the chunk `index`, if it has one.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_special(&self, index: usize) -> Result<Option<Special>> {
        self.check_index(index)?;
        match self.slot(index)? {
            Slot::Special(special) => Ok(Some(special)),
            Slot::Stored => Ok(self.stored_header(index)?.special()),
        }
    }

    pub(in crate::schunk) fn stored_header(&self, index: usize) -> Result<Header> {
        let mut head = Vec::with_capacity(HEADER_LEN);
        let read = self.store().read_head(index, HEADER_LEN, &mut head).map_err(self.at(index))?;
        Header::parse(&head[..read]).map_err(self.at(index))
    }

    /// The bytes of the chunk `index`; `None` if nothing is stored for it.
    pub(crate) fn stored_chunk(&self, index: usize) -> Result<Option<Cow<'_, [u8]>>> {
        self.check_index(index)?;
        match self.slot(index)? {
            Slot::Special(_) => Ok(None),
            Slot::Stored => match self.store().facts().memory {
                Some(memory) => memory.stored(index).map(|bytes| Some(Cow::Borrowed(bytes))),
                None => self.chunk(index).map(|bytes| Some(Cow::Owned(bytes))),
            },
        }
    }

    /// Where the chunk `index` is stored: its position in the file of a contiguous frame, or the
    /// number of its file in a sparse one. `None` if it is not stored, or in memory.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_position(&self, index: usize) -> Result<Option<u64>> {
        self.check_index(index)?;
        self.store().position(index)
    }

    /// Reads the chunk `index`, compares it with its hash if that has been fetched, and finds out
    /// whether it can be decoded.
    pub(crate) fn examine(&self, index: usize) -> Result<()> {
        self.check_index(index)?;
        let nbytes = self.chunk_nbytes(index)?;
        if let Slot::Special(_) = self.slot(index)? {
            return Ok(());
        }
        let examined = self.with_reader(|reader| {
            self.load(index, std::slice::from_ref(&(0..nbytes)), reader)?;
            let chunk = Chunk::parse(&reader.buffer.bytes)?;
            compare(self.store(), index, chunk.as_bytes())?;
            reader.decompressor.examine(&chunk)
        });
        examined.map(|_| ()).map_err(self.at(index))
    }

    /// What is stored for the chunk `index`.
    pub(in crate::schunk) fn slot(&self, index: usize) -> Result<Slot> {
        self.store().slot(index).map_err(self.at(index))
    }

    pub(in crate::schunk) fn check_index(&self, index: usize) -> Result<()> {
        if index >= self.nchunks() {
            bail!(InvalidArgument, "chunk {index} is asked for, there are {}", self.nchunks());
        }
        Ok(())
    }

    /// Puts the chunk `index` in front of an error. If another state has been published since,
    /// apparent damage is a `Conflict`: the chunk may have been moved or overwritten.
    pub(in crate::schunk) fn at(&self, index: usize) -> impl Fn(Error) -> Error + '_ {
        move |error| {
            let is_damage = matches!(
                error.kind(),
                ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::Unsupported | ErrorKind::ChecksumMismatch
            );
            if is_damage && matches!(self.store().is_current(), Ok(false)) {
                let moved = "somebody has committed since this state was opened, and may have moved it: refresh it";
                return error!(Conflict, "chunk {index}: {moved}").with_source(error);
            }
            at_chunk(index)(error)
        }
    }

    /// A chunk of a special value that carries its own length.
    pub(in crate::schunk) fn explicit_special(&self, special: Special, nbytes: usize) -> Result<Vec<u8>> {
        let width = special_width(special, self.typesize());
        let is_cut = !nbytes.is_multiple_of(width);
        if is_cut && special == Special::NaN {
            // There is no value that is repeated a whole number of times.
            self.limits.check("the data of a chunk", nbytes)?;
            let mut data = vec![0; nbytes];
            fill_special(special, self.typesize(), 0, &mut data);
            return Compressor::new(self.options.clone())?.compress(&data);
        }
        let mut value = vec![0; if is_cut { 1 } else { width }];
        fill_special(special, self.typesize(), 0, &mut value);
        fill_chunk(&value, nbytes, &self.options)
    }
}

pub(in crate::schunk) fn at_chunk(index: usize) -> impl Fn(Error) -> Error {
    move |error| error.within(format_args!("chunk {index}"))
}
