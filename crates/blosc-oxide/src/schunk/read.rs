//! Reading a super-chunk: whole chunks, ranges of bytes and items, scattered items.

use super::starts::Starts;
use super::state::ChunkSize;
use super::store::{Slot, compare};
use super::window::Window;
use super::{Compared, Reader, SuperChunk};
use crate::chunk::{
    Chunk, Compressor, Decompressor, Header, Special, fetch, fill_chunk, fill_special, modernised, special_chunk,
    special_width,
};
use crate::error::{Error, ErrorKind, Result, bail, error};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What is read of a chunk before it is known how long it is. Most small chunks are there then.
const HEAD_LEN: usize = 4096;
/// The longest header of a chunk.
const HEADER_LEN: usize = 32;
const MAX_LEVEL: u8 = 9;
/// Chunks up to this size are read whole: a second read costs more than it saves.
const SMALL_CHUNK: usize = 64 << 10;

impl SuperChunk {
    /// The chunk `index` as it is stored, or would be. One that does not tell which rule of
    /// bitshuffle it needs, but needs [the one of its frame](Self::bitshuffle_rule), would be other
    /// data by itself, and is compressed anew.
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
    /// tell.
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

    /// Puts the data of the chunk `index` at the start of `out`, and returns how long it is.
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

    /// All chunks, in rows of which the same is stored: nothing, or one chunk for all. So whoever
    /// wants to know something of each chunk need not ask for a hundred million special ones one by
    /// one.
    ///
    /// ```
    /// use blosc_oxide::{Options, Special, SuperChunk};
    /// let mut sc = SuperChunk::new(Options::new(1))?;
    /// sc.append(&[1; 1000])?;
    /// sc.fill(Special::Zeros, 5000, 1000)?;
    /// let specials = sc.chunk_runs().filter(|run| run.special == Some(Special::Zeros));
    /// assert_eq!(specials.map(|run| run.chunks.len()).sum::<usize>(), 5);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    pub fn chunk_runs(&self) -> impl Iterator<Item = ChunkRun> + '_ {
        let mut index = 0;
        std::iter::from_fn(move || {
            let run = (index < self.nchunks()).then(|| self.chunk_run(index))?;
            index = run.chunks.end;
            Some(run)
        })
    }

    fn chunk_run(&self, index: usize) -> ChunkRun {
        match self.store().run(index).map_err(self.at(index)) {
            Ok((Slot::Special(special), end)) => {
                ChunkRun { chunks: index..end, special: Some(special), header: Ok(None) }
            }
            Ok((Slot::Stored, end)) => {
                let header = self.stored_header(index);
                let special = header.as_ref().ok().and_then(Header::special);
                ChunkRun { chunks: index..end, special, header: header.map(Some) }
            }
            Err(error) => ChunkRun { chunks: index..index + 1, special: None, header: Err(error) },
        }
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

    /// Where the chunk `index` is stored: its position in the file of a contiguous frame, the
    /// number of its file in a sparse one. `None` if it is not stored, or in memory.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_position(&self, index: usize) -> Result<Option<u64>> {
        self.check_index(index)?;
        self.store().position(index)
    }

    /// How much data the chunk `index` holds.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_nbytes(&self, index: usize) -> Result<usize> {
        self.check_index(index)?;
        let size = match self.state.chunksize {
            ChunkSize::Fixed(_) => None,
            _ => self.starts()?.size(index),
        };
        let size = match (size, self.state.chunksize) {
            (Some(size), _) => size,
            (None, ChunkSize::Fixed(_)) => self.chunk_range(index).map(|range| range.end - range.start)?,
            (None, _) => self.own_nbytes(index)?,
        };
        usize::try_from(size).map_err(|_| error!(Corrupt, "chunk {index}: too long"))
    }

    /// How much data a chunk holds by its own header, or why that cannot be told.
    fn own_nbytes(&self, index: usize) -> Result<u64> {
        match self.slot(index)? {
            Slot::Stored => Ok(self.stored_header(index)?.nbytes() as u64),
            Slot::Special(_) => bail!(Corrupt, "chunk {index}: it is special, and how long is not stored"),
        }
    }

    /// Which bytes of the data the chunk `index` holds.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_range(&self, index: usize) -> Result<Range<u64>> {
        self.check_index(index)?;
        match self.state.chunksize {
            ChunkSize::Fixed(size) => {
                let start = index as u64 * size as u64;
                Ok(start..self.state.nbytes.min(start + size as u64))
            }
            _ => self.starts()?.range(index).map_err(self.at(index)),
        }
    }

    /// The data of this range of bytes; only the blocks that have any of it are read and decoded.
    ///
    /// # Errors
    /// `InvalidArgument` if the range is not inside the data; as [`decompress`](Self::decompress).
    pub fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range("bytes", &range, self.nbytes())?;
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        self.limits.check("a range of data", len)?;
        let mut data = vec![0; len];
        self.bytes_into(range.start, &mut data)?;
        Ok(data)
    }

    /// Fills `out` with the data from byte `start` on.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn bytes_into(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let end = start.saturating_add(out.len() as u64);
        self.check_range("bytes", &(start..end), self.nbytes())?;
        let mut at = start;
        let mut rest = out;
        while !rest.is_empty() {
            let index = self.chunk_at(at)?;
            let range = self.chunk_range(index)?;
            let len = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(rest.len());
            let (part, after) = rest.split_at_mut(len);
            self.chunk_part(index, usize::try_from(at - range.start).unwrap_or(usize::MAX), part)?;
            at += len as u64;
            rest = after;
        }
        Ok(())
    }

    /// The data of this range of items.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn items(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range("items", &range, self.nitems())?;
        let typesize = self.typesize() as u64;
        self.bytes(range.start * typesize..range.end * typesize)
    }

    /// Fills `out` with the data from item `first` on.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn items_into(&self, first: u64, out: &mut [u8]) -> Result<()> {
        self.bytes_into(first.saturating_mul(self.typesize() as u64), out)
    }

    /// The items at these positions, one after the other. Each block is decoded once, whatever the
    /// order.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn gather(&self, positions: &[u64]) -> Result<Vec<u8>> {
        let typesize = self.typesize();
        let len = positions.len().saturating_mul(typesize);
        self.limits.check("gathered items", len)?;
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_unstable_by_key(|&place| positions[place]);
        if let Some(&last) = order.last() {
            self.check_range("items", &(positions[last]..positions[last].saturating_add(1)), self.nitems())?;
        }
        let mut items = vec![0; len];
        let mut window = Window::default();
        for place in order {
            let start = positions[place] * typesize as u64;
            window.read(self, start, &mut items[place * typesize..][..typesize])?;
        }
        Ok(items)
    }

    /// The data of all chunks, one after the other.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        (0..self.nchunks()).map(|index| self.decompress(index))
    }

    /// Fills `out` with the data of the chunk `index` from byte `from` on.
    pub(crate) fn chunk_part(&self, index: usize, from: usize, out: &mut [u8]) -> Result<()> {
        if let Slot::Special(special) = self.slot(index)? {
            fill_special(special, self.typesize(), from, out);
            return Ok(());
        }
        self.with_reader(|reader| self.stored_part(index, from, out, reader)).map_err(self.at(index))
    }

    pub(super) fn stored_part(&self, index: usize, from: usize, out: &mut [u8], reader: &mut Reader) -> Result<()> {
        let wanted = from..from + out.len();
        let nbytes = self.load(index, std::slice::from_ref(&wanted), reader)?;
        let chunk = Chunk::parse(&reader.buffer.bytes)?;
        if out.len() == nbytes {
            return reader.decompressor.chunk_into(&chunk, out).map(|_| ());
        }
        reader.decompressor.bytes_into(&chunk, from, out)
    }

    /// Compares a chunk that has been read whole with its hash, if that is wanted and known.
    fn check_hash(&self, index: usize, bytes: &[u8]) -> Result<()> {
        let Some(compared) = &self.compared else { return Ok(()) };
        compared.check()?;
        compare(self.store(), index, bytes)?;
        compared.mark(index, self.nchunks());
        Ok(())
    }

    /// Whether nothing of a stored chunk may be given out before all of it was compared with its
    /// hash.
    fn is_to_be_compared(&self, index: usize) -> bool {
        let is_new = |compared: &Compared| !compared.has(index) && self.store().hash(index).is_some();
        self.compared.as_ref().is_some_and(|compared| compared.check().is_err() || is_new(compared))
    }

    /// What is wrong with the chunk `index`: if somebody has published something else since, it may
    /// be where another one is now.
    pub(super) fn at(&self, index: usize) -> impl Fn(Error) -> Error + '_ {
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

    /// Reads what it takes to decode these ranges of a stored chunk, and returns how much data the
    /// chunk holds. If that is all of it, or the first of it, all of it is compared with its hash.
    fn load(&self, index: usize, wanted: &[Range<usize>], reader: &mut Reader) -> Result<usize> {
        let buffer = &mut reader.buffer;
        let read = self.store().read_head(index, HEAD_LEN, &mut buffer.bytes)?;
        let header = Header::parse(&buffer.bytes[..read])?;
        let expected = self.check_nbytes(index, &header)?;
        self.limits.check("a chunk", header.cbytes())?;
        let is_all = wanted.iter().map(Range::len).sum::<usize>() >= expected || self.is_to_be_compared(index);
        let whole = 0..header.nbytes();
        let wanted = if is_all || header.cbytes() <= SMALL_CHUNK { std::slice::from_ref(&whole) } else { wanted };
        fetch(buffer, read, wanted, &|position, part| self.store().read_part(index, position, part))?;
        if is_all {
            self.check_hash(index, Chunk::parse(&buffer.bytes)?.as_bytes())?;
        }
        Ok(expected)
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

    /// Fills these ranges of `out` with the data of the chunk `index`; the rest is left as it is.
    pub(crate) fn ranges_into(&self, index: usize, ranges: &[Range<usize>], out: &mut [u8]) -> Result<()> {
        self.with_parts(index, ranges, |parts| {
            ranges.iter().try_for_each(|range| parts.read(range.start, &mut out[range.clone()]))
        })
    }

    /// How much data the chunk `index` should hold, which must be what its header says.
    fn check_nbytes(&self, index: usize, header: &Header) -> Result<usize> {
        let expected = self.chunk_nbytes(index)?;
        if header.nbytes() != expected {
            bail!(Corrupt, "it holds {} bytes, {expected} are expected", header.nbytes());
        }
        Ok(expected)
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

    fn stored_header(&self, index: usize) -> Result<Header> {
        let mut head = Vec::with_capacity(HEADER_LEN);
        let read = self.store().read_head(index, HEADER_LEN, &mut head).map_err(self.at(index))?;
        Header::parse(&head[..read]).map_err(self.at(index))
    }

    /// The chunk that holds the byte `position`, which must be one of the data's.
    pub(super) fn chunk_at(&self, position: u64) -> Result<usize> {
        let index = match self.state.chunksize {
            ChunkSize::Fixed(size) => position / size as u64,
            _ => self.starts()?.chunk_at(position)? as u64,
        };
        usize::try_from(index).map_err(|_| error!(Corrupt, "byte {position} is in no chunk"))
    }

    /// The bytes of the block that holds the byte `position`; of the chunk, where it has no blocks
    /// of one size.
    pub(super) fn block_around(&self, position: u64) -> Result<Range<u64>> {
        let index = self.chunk_at(position)?;
        let chunk = self.chunk_range(index)?;
        let blocksize = self.chunk_header(index)?.map_or(0, |header| header.blocksize() as u64);
        if blocksize == 0 {
            return Ok(chunk);
        }
        let start = chunk.start + (position - chunk.start) / blocksize * blocksize;
        Ok(start..chunk.end.min(start + blocksize))
    }

    /// Where each chunk of a super-chunk with chunks of different sizes starts.
    fn starts(&self) -> Result<&Starts> {
        let known = match self.starts.get() {
            Some(known) => known,
            None => match self.find_starts() {
                // What was not read this time may be the next.
                Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                found => self.starts.get_or_init(|| found.map(Arc::new)),
            },
        };
        known.as_deref().map_err(|error| Error::new(error.kind(), error.to_string()))
    }

    /// Whether the sizes of chunks make up the size of the data, where each chunk has its own.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        match self.state.chunksize {
            ChunkSize::Fixed(_) => Ok(()),
            _ => self.starts()?.check(),
        }
    }

    fn find_starts(&self) -> Result<Starts> {
        self.limits.check_list::<u64>("the list of chunks", self.nchunks() as u64)?;
        let mut starts = Starts::with_capacity(self.nchunks(), self.state.nbytes);
        for run in self.chunk_runs() {
            let size = match run.header {
                Ok(header) => header.map(|header| header.nbytes() as u64),
                Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                Err(_) => None,
            };
            // The reference leaves out how long a special chunk is here; one of them can be told
            // from the sum.
            starts.push(size, run.chunks.len());
        }
        Ok(starts)
    }

    /// What is stored for the chunk `index`.
    pub(super) fn slot(&self, index: usize) -> Result<Slot> {
        self.store().slot(index).map_err(self.at(index))
    }

    pub(super) fn check_index(&self, index: usize) -> Result<()> {
        if index >= self.nchunks() {
            bail!(InvalidArgument, "chunk {index} is asked for, there are {}", self.nchunks());
        }
        Ok(())
    }

    pub(super) fn check_range(&self, what: &str, range: &Range<u64>, len: u64) -> Result<()> {
        if range.start > range.end || range.end > len {
            bail!(InvalidArgument, "{what} {}..{} are asked for, there are {len}", range.start, range.end);
        }
        Ok(())
    }

    /// A chunk of a special value that carries its own length.
    pub(super) fn explicit_special(&self, special: Special, nbytes: usize) -> Result<Vec<u8>> {
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

/// Chunks in a row of which the same is stored.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkRun {
    /// Which chunks these are.
    pub chunks: Range<usize>,
    /// The special value that they have.
    pub special: Option<Special>,
    /// The header of what is stored, if anything is; or why it cannot be read, which is `Corrupt`,
    /// `Truncated` or `Io`.
    pub header: Result<Option<Header>>,
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

pub(super) fn at_chunk(index: usize) -> impl Fn(Error) -> Error {
    move |error| error.within(format_args!("chunk {index}"))
}
