//! Where the blocks of a chunk and their streams are.
//!
//! Making a [`Plan`] checks what concerns the chunk as a whole; asking it for a block checks that
//! block. All ranges that it returns lie inside the chunk.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::header::{Header, MAX_STORED_TYPESIZE};
use crate::bytes::le_i32;
use crate::error::{Result, bail, error};

const START_LEN: usize = 4;
const SIZE_LEN: usize = 4;
const MAX_DICT: usize = 128 << 10;
/// The bit of a token that says that the stream is a run of one byte.
const TOKEN_RUN: u8 = 0x01;

/// Where everything in the body of a chunk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    header: &'a Header,
    /// The whole chunk, and nothing after it.
    bytes: &'a [u8],
    /// Where the first stream can be.
    streams_at: usize,
    dict: Option<&'a [u8]>,
}

/// The streams of one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The size of the block once decoded.
    pub(crate) len: usize,
    /// The rest of the chunk from the block's first byte on; for a variable-length block,
    /// exactly its payload.
    bytes: &'a [u8],
    nstreams: usize,
    kind: BlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// Streams with a size before each, as Blosc1 has them: no runs.
    Plain,
    /// The same, with runs.
    WithRuns,
    /// One stream without a size.
    VariableLength,
}

/// What a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream<'a> {
    /// One byte over and over.
    Run(u8),
    /// The filtered bytes as they are.
    Raw(&'a [u8]),
    /// The filtered bytes, compressed.
    Compressed(&'a [u8]),
}

impl<'a> Plan<'a> {
    /// The plan of the chunk that `bytes` starts with. It must be neither memcpyed nor special nor
    /// lazy.
    #[inline(always)]
    pub(crate) fn new(header: &'a Header, bytes: &'a [u8]) -> Result<Self> {
        let Some(bytes) = bytes.get(..header.cbytes()) else {
            bail!(Truncated, "chunk: cbytes is {}, {} bytes are there", header.cbytes(), bytes.len());
        };
        let starts_end = header.nblocks().saturating_mul(START_LEN).saturating_add(header.header_len());
        let dict = if header.has_dict() { Some(dict_at(bytes, starts_end)?) } else { None };
        let dict_len = dict.map_or(0, |dict| dict.len().saturating_add(SIZE_LEN));
        let plan = Self { header, bytes, streams_at: starts_end.saturating_add(dict_len), dict };
        if header.has_vlblocks() {
            plan.check_vlblocks()?;
        }
        Ok(plan)
    }

    /// The dictionary that all streams are compressed with.
    pub(crate) fn dict(&self) -> Option<&'a [u8]> {
        self.dict
    }

    pub(crate) fn nblocks(&self) -> usize {
        self.header.nblocks()
    }

    /// The block with this index, which must be less than `nblocks`.
    #[inline(always)]
    pub(crate) fn block(&self, index: usize) -> Result<Block<'a>> {
        if self.header.has_vlblocks() { self.vlblock(index) } else { self.fixed_block(index) }
    }

    #[inline(always)]
    fn fixed_block(&self, index: usize) -> Result<Block<'a>> {
        let start = self.start(index)?;
        let bytes = self.bytes.get(start..).unwrap_or_default();
        let from = index.saturating_mul(self.header.blocksize());
        let len = self.header.nbytes().saturating_sub(from).min(self.header.blocksize());
        let kind = if self.header.is_extended() { BlockKind::WithRuns } else { BlockKind::Plain };
        Ok(Block { len, bytes, nstreams: self.nstreams(len), kind })
    }

    #[inline(always)]
    fn nstreams(&self, len: usize) -> usize {
        let is_whole = len == self.header.blocksize();
        if is_whole && self.header.is_split() { self.header.typesize().min(MAX_STORED_TYPESIZE) } else { 1 }
    }

    fn vlblock(&self, index: usize) -> Result<Block<'a>> {
        let start = self.start(index)?;
        let end = match index.checked_add(1) {
            Some(next) if next < self.nblocks() => self.start(next)?,
            _ => self.bytes.len(),
        };
        let Some(bytes) = self.bytes.get(start..end) else {
            bail!(Corrupt, "block {index}: starts at {start}, after its end at {end}");
        };
        let len = le_i32(bytes, 0).and_then(|len| usize::try_from(len).ok()).filter(|&len| len > 0);
        let (Some(len), Some(payload)) = (len, bytes.get(SIZE_LEN..)) else {
            bail!(Corrupt, "block {index}: its length is not there, or not positive, in {} bytes", bytes.len());
        };
        Ok(Block { len, bytes: payload, nstreams: 1, kind: BlockKind::VariableLength })
    }

    /// Takes a copy, so that the plan itself can stay in registers where there is nothing to check.
    #[cold]
    fn check_vlblocks(self) -> Result<()> {
        let mut total = 0_usize;
        let mut before = 0;
        for index in 0..self.nblocks() {
            let start = self.start(index)?;
            if index > 0 && start <= before {
                bail!(Corrupt, "block {index}: starts at {start}, not after the one before it at {before}");
            }
            before = start;
            total = total.saturating_add(self.vlblock(index)?.len);
        }
        if total != self.header.nbytes() {
            bail!(Corrupt, "chunk: its blocks have {total} bytes, nbytes is {}", self.header.nbytes());
        }
        Ok(())
    }

    /// Where a block starts, inside the chunk.
    #[inline(always)]
    fn start(&self, index: usize) -> Result<usize> {
        let at = index.saturating_mul(START_LEN).saturating_add(self.header.header_len());
        let stored = le_i32(self.bytes, at).ok_or_else(|| error!(Corrupt, "block {index}: no offset is there"))?;
        let last = self.bytes.len().saturating_sub(SIZE_LEN);
        match usize::try_from(stored) {
            Ok(start) if (self.streams_at..=last).contains(&start) => Ok(start),
            _ => bail!(
                Corrupt,
                "block {index}: starts at {stored}, blocks can be from {} to {last} of the chunk's {} bytes",
                self.streams_at,
                self.bytes.len()
            ),
        }
    }
}

fn dict_at(bytes: &[u8], at: usize) -> Result<&[u8]> {
    let stored = le_i32(bytes, at).ok_or_else(|| error!(Truncated, "dictionary: no size is there at {at}"))?;
    let len = usize::try_from(stored).ok().filter(|len| (1..=MAX_DICT).contains(len));
    let Some(len) = len else {
        bail!(Corrupt, "dictionary: its size is {stored}, it can be 1 to {MAX_DICT}");
    };
    let start = at.saturating_add(SIZE_LEN);
    match bytes.get(start..start.saturating_add(len)) {
        Some(dict) => Ok(dict),
        None => bail!(Corrupt, "dictionary: {len} bytes at {start} are more than the chunk's {}", bytes.len()),
    }
}

impl<'a> Block<'a> {
    /// The size of each stream once decoded.
    #[inline(always)]
    pub(crate) fn stream_len(&self) -> usize {
        self.len.checked_div(self.nstreams).unwrap_or_default()
    }

    /// How many streams it is in.
    pub(crate) fn nstreams(&self) -> usize {
        self.nstreams
    }

    /// The streams of the block, each checked when it is reached.
    #[inline(always)]
    pub(crate) fn streams(&self) -> Streams<'a> {
        Streams { rest: self.bytes, left: self.nstreams, stream_len: self.stream_len(), kind: self.kind }
    }

    /// The bytes of the chunk that the block takes, sizes included; for a variable-length block,
    /// only its payload.
    pub(crate) fn stored_bytes(&self) -> Result<&'a [u8]> {
        if self.kind == BlockKind::VariableLength {
            return Ok(self.bytes);
        }
        Ok(self.bytes.get(..self.cbytes()?).unwrap_or_default())
    }

    /// How many bytes of the chunk the block takes, sizes included.
    pub(crate) fn cbytes(&self) -> Result<usize> {
        if self.kind == BlockKind::VariableLength {
            return Ok(self.bytes.len().saturating_add(SIZE_LEN));
        }
        let mut streams = self.streams();
        for stream in streams.by_ref() {
            stream?;
        }
        Ok(self.bytes.len().saturating_sub(streams.rest.len()))
    }
}

/// An iterator over the streams of a block.
pub(crate) struct Streams<'a> {
    rest: &'a [u8],
    left: usize,
    stream_len: usize,
    kind: BlockKind,
}

impl<'a> Iterator for Streams<'a> {
    type Item = Result<Stream<'a>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }
}

impl<'a> Streams<'a> {
    #[inline(always)]
    fn read(&mut self) -> Result<Stream<'a>> {
        if self.kind == BlockKind::VariableLength {
            return Ok(self.payload(self.rest));
        }
        let Some((size, rest)) = self.rest.split_first_chunk::<SIZE_LEN>() else {
            bail!(Corrupt, "stream: its size is cut off, {} bytes are left of the chunk", self.rest.len());
        };
        self.rest = rest;
        let size = i32::from_le_bytes(*size);
        match usize::try_from(size) {
            Ok(0) if self.kind == BlockKind::WithRuns => Ok(Stream::Run(0)),
            Err(_) if self.kind == BlockKind::WithRuns => self.run(size),
            Ok(len) if len > 0 && len <= self.max_size() => self.take(len),
            _ => bail!(Corrupt, "stream: its size is {size}, it can be 1 to {}", self.max_size()),
        }
    }

    /// The largest size that a stream can have. Blosc1 writers kept what Snappy made longer
    /// than it was, by no more than its worst case.
    #[inline(always)]
    fn max_size(&self) -> usize {
        let longer = self.stream_len.checked_div(6).unwrap_or_default().saturating_add(32);
        if self.kind == BlockKind::Plain { self.stream_len.saturating_add(longer) } else { self.stream_len }
    }

    /// A run of one byte, which is stored as its negative in place of the size.
    fn run(&mut self, size: i32) -> Result<Stream<'a>> {
        let value = size.checked_neg().and_then(|value| u8::try_from(value).ok());
        let (Some(value), Some((&token, rest))) = (value, self.rest.split_first()) else {
            bail!(Corrupt, "stream: its size is {size}, a run of a byte is -1 to -255 and a token");
        };
        if token & TOKEN_RUN == 0 {
            bail!(Corrupt, "stream: its token is {token:#04x}, only {TOKEN_RUN:#04x} is known");
        }
        self.rest = rest;
        Ok(Stream::Run(value))
    }

    #[inline(always)]
    fn take(&mut self, len: usize) -> Result<Stream<'a>> {
        let Some((payload, rest)) = self.rest.split_at_checked(len) else {
            bail!(Corrupt, "stream: its size is {len}, {} bytes are left of the chunk", self.rest.len());
        };
        self.rest = rest;
        Ok(self.payload(payload))
    }

    #[inline(always)]
    fn payload(&self, payload: &'a [u8]) -> Stream<'a> {
        if payload.len() == self.stream_len { Stream::Raw(payload) } else { Stream::Compressed(payload) }
    }
}
