//! Reading a packed super-chunk.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::delta::{self, Reference};
use super::header::{HEADER_LEN, PackedHeader, PackedSpecial};
use super::table;
use crate::chunk::{Chunk, Decompressor, Header};
use crate::error::{AtPath, Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use crate::storage::{FileStorage, ReadAt, read_exact};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// The most that the header of a chunk has.
const MAX_CHUNK_HEADER: usize = 32;

/// A packed super-chunk that is read piece by piece: opening reads its header and the offsets of
/// its chunks, everything else is read when it is asked for.
///
/// The storage can be a file, bytes in memory, a reference to either, or anything else that is
/// [`ReadAt`]. Many threads can read from one at once.
///
/// ```
/// use blosc_oxide::{Filter, legacy::{PackedOptions, PackedSuperChunk}};
/// let options = PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]);
/// let bytes = options.pack([[1; 400], [2; 400]])?;
///
/// let packed = PackedSuperChunk::open_in(&bytes[..])?;
/// assert_eq!(packed.nchunks(), 2);
/// assert_eq!(packed.decompress(1)?, [2; 400]);
/// assert_eq!(packed.bytes(399..401)?, [1, 2]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct PackedSuperChunk<R> {
    storage: R,
    header: PackedHeader,
    offsets: Vec<u64>,
    limits: Limits,
    threads: Threads,
    reference: OnceLock<Reference>,
    /// Where the data of each chunk starts in the whole of the data, and where that ends.
    starts: OnceLock<Vec<u64>>,
}

impl PackedSuperChunk<FileStorage> {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in); `Io` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open_in(FileStorage::open(path).at_path(path)?).at_path(path)
    }
}

impl<R: ReadAt> PackedSuperChunk<R> {
    /// Opens the super-chunk that `storage` starts with, within the default limits.
    ///
    /// # Errors
    /// `Truncated` if the storage ends too early, `Unsupported` if it does not start with a packed
    /// super-chunk, `Corrupt` if its header or offsets point outside of it, `LimitExceeded` if it
    /// has too many chunks.
    pub fn open_in(storage: R) -> Result<Self> {
        Self::open_with_limits(storage, Limits::new())
    }

    /// The same, within other limits.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in).
    pub fn open_with_limits(storage: R, limits: Limits) -> Result<Self> {
        let len = storage.len()?;
        let mut start = [0; HEADER_LEN];
        let there = usize::try_from(len).unwrap_or(HEADER_LEN).min(HEADER_LEN);
        let start = start.get_mut(..there).unwrap_or_default();
        read_exact(&storage, 0, start, "packed header")?;
        let header = PackedHeader::parse(start, len)?;
        let offsets = table::read(&storage, &header, limits)?;
        let (reference, starts) = (OnceLock::new(), OnceLock::new());
        Ok(Self { storage, header, offsets, limits, threads: Threads::default(), reference, starts })
    }

    /// Sets where the blocks of a chunk are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &PackedHeader {
        &self.header
    }

    /// The number of data chunks.
    #[must_use]
    pub fn nchunks(&self) -> usize {
        self.offsets.len()
    }

    /// The size of the data. The first call reads the headers of all chunks.
    ///
    /// # Errors
    /// As [`chunk_header`](Self::chunk_header).
    pub fn nbytes(&self) -> Result<u64> {
        Ok(self.starts()?.last().copied().unwrap_or_default())
    }

    /// The header of a data chunk.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such chunk, `Corrupt` if it does not end inside the
    /// super-chunk, what [`Header::parse`] reports, and `Io`.
    pub fn chunk_header(&self, index: usize) -> Result<Header> {
        self.header_at(format_args!("chunk {index}"), self.offset(index)?)
    }

    /// Where a data chunk starts in the storage.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such chunk.
    pub fn chunk_position(&self, index: usize) -> Result<u64> {
        self.offset(index)
    }

    /// A data chunk as it is stored. With the delta filter, it holds differences.
    ///
    /// # Errors
    /// As [`chunk_header`](Self::chunk_header); `LimitExceeded` if it is too long.
    pub fn chunk(&self, index: usize) -> Result<Vec<u8>> {
        self.bytes_at(format_args!("chunk {index}"), self.offset(index)?)
    }

    /// The data of a chunk.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and for decompressing it; the same for the chunk that the delta
    /// filter refers to.
    pub fn decompress(&self, index: usize) -> Result<Vec<u8>> {
        self.decompress_with(&mut self.decompressor(), index)
    }

    pub(super) fn decompress_with(&self, decompressor: &mut Decompressor, index: usize) -> Result<Vec<u8>> {
        self.decode_chunk(index, 0, |chunk| decompressor.chunk(chunk))
    }

    /// Reads a chunk, lets `decode` take the data from byte `from` on out of it, and undoes the
    /// delta.
    fn decode_chunk<D: AsMut<[u8]>>(
        &self,
        index: usize,
        from: usize,
        decode: impl FnOnce(&Chunk<'_>) -> Result<D>,
    ) -> Result<D> {
        let bytes = self.chunk(index)?;
        let decoded = Chunk::parse(&bytes).and_then(|chunk| Ok((*chunk.header(), decode(&chunk)?)));
        let (header, mut data) = decoded.map_err(|error| error.within(format_args!("chunk {index}")))?;
        if let Some(reference) = self.reference_of(&header)? {
            reference.add_to(from, data.as_mut());
        }
        Ok(data)
    }

    /// Puts the data of a chunk at the start of `out`, and returns how long it is.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `OutputTooSmall` if `out` is shorter than the data.
    pub fn decompress_into(&self, index: usize, out: &mut [u8]) -> Result<usize> {
        let data = self.decode_chunk(index, 0, |chunk| {
            let len = self.decompressor().chunk_into(chunk, out)?;
            Ok(out.get_mut(..len).unwrap_or_default())
        })?;
        Ok(data.len())
    }

    /// The data of this range of bytes of all chunks together, decoding only the blocks that have
    /// any of it.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `InvalidArgument` if the range is not inside the data,
    /// `LimitExceeded` if it is too long.
    pub fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range(&range)?;
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        self.limits.check("the data of a range", len)?;
        let mut data = vec![0; len];
        self.bytes_into(range.start, &mut data)?;
        Ok(data)
    }

    /// Fills `out` with the data from byte `start` on.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn bytes_into(&self, start: u64, out: &mut [u8]) -> Result<()> {
        self.check_range(&(start..start.saturating_add(out.len() as u64)))?;
        let starts = self.starts()?;
        // The chunk before the first one that starts later.
        let first = starts.partition_point(|&chunk_start| chunk_start <= start).saturating_sub(1);
        let mut decompressor = self.decompressor();
        let (mut at, mut rest) = (start, out);
        for (index, span) in starts.windows(2).enumerate().skip(first) {
            let &[chunk_start, chunk_end] = span else { continue };
            let len = usize::try_from(chunk_end.saturating_sub(at)).unwrap_or(usize::MAX).min(rest.len());
            let Some((part, after)) = std::mem::take(&mut rest).split_at_mut_checked(len) else { break };
            if !part.is_empty() {
                let from = usize::try_from(at.saturating_sub(chunk_start)).unwrap_or(usize::MAX);
                self.read_from_chunk(&mut decompressor, index, from, part)?;
            }
            if after.is_empty() {
                break;
            }
            (at, rest) = (chunk_end, after);
        }
        Ok(())
    }

    fn read_from_chunk(&self, with: &mut Decompressor, index: usize, from: usize, out: &mut [u8]) -> Result<()> {
        self.decode_chunk(index, from, |chunk| {
            if chunk.header().nbytes() == out.len() {
                with.chunk_into(chunk, out)?;
            } else {
                with.bytes_into(chunk, from, out)?;
            }
            Ok(out)
        })?;
        Ok(())
    }

    /// Where a special chunk starts in the storage, and its header, if there is one.
    ///
    /// # Errors
    /// As [`chunk_header`](Self::chunk_header).
    pub fn special_header(&self, kind: PackedSpecial) -> Result<Option<(u64, Header)>> {
        let Some(offset) = self.header.special_offset(kind) else { return Ok(None) };
        Ok(Some((offset, self.header_at(kind, offset)?)))
    }

    /// A special chunk as it is stored, if there is one.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn special_chunk(&self, kind: PackedSpecial) -> Result<Option<Vec<u8>>> {
        self.header.special_offset(kind).map(|offset| self.bytes_at(kind, offset)).transpose()
    }

    /// The data of a special chunk, if there is one.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress).
    pub fn special(&self, kind: PackedSpecial) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.special_chunk(kind)? else { return Ok(None) };
        let data = self.decompressor().decompress(&bytes).map_err(|error| error.within(kind))?;
        Ok(Some(data))
    }

    /// The header and where the data chunks are.
    pub(super) fn into_parts(self) -> (PackedHeader, Vec<u64>) {
        (self.header, self.offsets)
    }

    pub(super) fn decompressor(&self) -> Decompressor {
        Decompressor::new().with_limits(self.limits).with_threads(self.threads.clone())
    }

    fn offset(&self, index: usize) -> Result<u64> {
        match self.offsets.get(index) {
            Some(&offset) => Ok(offset),
            None => bail!(InvalidArgument, "chunk {index} is asked for, the super-chunk has {}", self.nchunks()),
        }
    }

    fn header_at(&self, what: impl fmt::Display + Copy, offset: u64) -> Result<Header> {
        let left = self.header.cbytes().saturating_sub(offset);
        let mut bytes = [0; MAX_CHUNK_HEADER];
        let there = usize::try_from(left).unwrap_or(MAX_CHUNK_HEADER).min(MAX_CHUNK_HEADER);
        let bytes = bytes.get_mut(..there).unwrap_or_default();
        read_exact(&self.storage, offset, bytes, "chunk header").map_err(|error| error.within(what))?;
        let header = Header::parse(bytes).map_err(|error| error.within(what))?;
        if header.cbytes() as u64 > left {
            bail!(Corrupt, "{what}: cbytes is {}, the super-chunk ends {left} bytes after its start", header.cbytes());
        }
        Ok(header)
    }

    fn bytes_at(&self, what: impl fmt::Display + Copy, offset: u64) -> Result<Vec<u8>> {
        let cbytes = self.header_at(what, offset)?.cbytes();
        self.limits.check("a chunk", cbytes).map_err(|error| error.within(what))?;
        let mut bytes = vec![0; cbytes];
        read_exact(&self.storage, offset, &mut bytes, "chunk").map_err(|error| error.within(what))?;
        Ok(bytes)
    }

    /// What the data of a chunk with this header has to be added to.
    fn reference_of(&self, header: &Header) -> Result<Option<&Reference>> {
        if !self.header.filters().has_delta() || !delta::covers(header) {
            return Ok(None);
        }
        if let Some(reference) = self.reference.get() {
            return Ok(Some(reference));
        }
        let Some(data) = self.special(PackedSpecial::Filters)? else { return Ok(None) };
        Ok(Some(self.reference.get_or_init(|| Reference::new(data))))
    }

    fn starts(&self) -> Result<&[u64]> {
        if let Some(starts) = self.starts.get() {
            return Ok(starts);
        }
        let mut starts = Vec::with_capacity(self.nchunks().saturating_add(1));
        let mut end = 0_u64;
        starts.push(end);
        for index in 0..self.nchunks() {
            end = end.saturating_add(self.chunk_header(index)?.nbytes() as u64);
            starts.push(end);
        }
        Ok(self.starts.get_or_init(|| starts))
    }

    fn check_range(&self, range: &Range<u64>) -> Result<()> {
        let nbytes = self.nbytes()?;
        if range.start > range.end || range.end > nbytes {
            bail!(InvalidArgument, "bytes {}..{} are asked for, there are {nbytes}", range.start, range.end);
        }
        Ok(())
    }
}
