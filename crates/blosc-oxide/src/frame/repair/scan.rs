//! Walking through the bytes of a frame without trusting what its header says about where things
//! are.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::array_at;
use crate::bytes::msgpack::{Reader, marker};
use crate::chunk::{Chunk, Decompressor, Header, Special};
use crate::error::{Result, bail, error};
use crate::exec::Threads;
use crate::frame::format::early;
use crate::frame::format::footer::{MAGIC as FOOTER_MAGIC, TAIL_LEN as FOOTER_TAIL_LEN};
use crate::frame::format::free_space::FREE_SPACE_LEN;
use crate::frame::format::header::{self, FIXED_LEN, MAGIC, MAX_HEADER, START_LEN};
use crate::frame::format::index::ENTRY_LEN;
use crate::frame::format::trailer::TAIL_LEN;
use crate::limits::{Limits, MAX_VLMETALAYERS};
use crate::storage::{ReadAt, read_exact};
use std::borrow::Cow;

/// What is read at a time.
const WINDOW: usize = 1 << 20;
/// The shortest chunk of a frame.
const MIN_CHUNK: usize = 32;
/// Marker and length before the content of a metalayer.
const CONTENT_PREFIX: usize = 5;
/// What a metalayer takes in the list of names at the most: 31 bytes, an offset, and their markers.
const MAX_MAP_ENTRY: usize = 38;
/// The first bytes of a trailer, and of one of the betas.
const TRAILER_START: [u8; 4] = [marker::FIXARRAY | 4, 1, marker::FIXARRAY | 3, marker::UINT16];
const BETA_TRAILER_START: [u8; 3] = [marker::FIXARRAY | 4, 1, marker::BIN32];
/// Where the list of a trailer says how many metalayers there are.
const COUNT_AT: usize = 6;

/// A chunk, or what looks like one.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundAt {
    pub(super) position: u64,
    pub(super) header: Header,
}

impl FoundAt {
    pub(super) fn end(&self) -> u64 {
        self.position.saturating_add(self.header.cbytes() as u64)
    }
}

/// Everything that was recognised.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Chunks, of data and of indexes, by position.
    pub(super) chunks: Vec<FoundAt>,
    /// Where trailers start and how long they are, by position.
    pub(super) trailers: Vec<(u64, usize)>,
    /// Where headers and copies of headers start.
    pub(super) headers: Vec<u64>,
    /// How many bytes are none of these.
    pub(super) unrecognised: u64,
    /// Where the scan stopped, because it took too long to recognise what follows.
    pub(super) gave_up_at: Option<u64>,
}

impl Scan {
    /// The trailer that follows an index: directly, or behind room for more entries, in which
    /// nothing was found.
    pub(super) fn trailer_after(&self, found: &FoundAt) -> Option<(u64, usize)> {
        let end = found.end();
        let trailer = *self.trailers.get(self.trailers.partition_point(|&(at, _)| at < end))?;
        let next = self.chunks.get(self.chunks.partition_point(|chunk| chunk.position < end));
        let is_next = next.is_none_or(|chunk| chunk.position > trailer.0);
        let has_room = found.header.is_memcpyed() && found.header.typesize() == ENTRY_LEN;
        (trailer.0 == end || (has_room && is_next)).then_some(trailer)
    }
}

/// Walks through `source` once. The time it takes is linear in its length.
pub(super) fn scan(source: &dyn ReadAt, limits: Limits) -> Result<Scan> {
    let len = source.len()?;
    let mut walker = Walker {
        source,
        len,
        window: Vec::new(),
        window_at: 0,
        limits,
        decompressor: Decompressor::new().with_threads(Threads::serial()).with_limits(limits),
        // Chunks that are told apart by decoding them, and are none after all, must not cost more
        // than that.
        budget: len.saturating_mul(16).saturating_add(64 << 20),
        scan: Scan::default(),
    };
    walker.run()?;
    Ok(walker.scan)
}

struct Walker<'a> {
    source: &'a dyn ReadAt,
    len: u64,
    window: Vec<u8>,
    window_at: u64,
    limits: Limits,
    decompressor: Decompressor,
    budget: u64,
    scan: Scan,
}

impl Walker<'_> {
    fn run(&mut self) -> Result<()> {
        let mut at = 0;
        while at < self.len {
            match self.object(at)? {
                Some(len) => at = at.saturating_add(len.max(1)),
                None => {
                    self.scan.unrecognised = self.scan.unrecognised.saturating_add(1);
                    at = at.saturating_add(1);
                }
            }
            if self.budget == 0 {
                self.scan.gave_up_at = Some(at);
                return Ok(());
            }
        }
        Ok(())
    }

    /// How many of `len` bytes from `at` on are there.
    fn there(&self, at: u64, len: usize) -> usize {
        usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX).min(len)
    }

    /// The part of the window that starts at `at`, if it holds `len` bytes from there on.
    fn in_window(&self, at: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.window_at)?).ok()?;
        self.window.get(from..from.checked_add(len)?)
    }

    /// The first bytes of what may start at `at`, where the walk is; zeros stand for those that are
    /// not there.
    fn head(&mut self, at: u64) -> Result<[u8; MIN_CHUNK]> {
        if self.in_window(at, self.there(at, MIN_CHUNK)).is_none() {
            self.window.resize(self.there(at, WINDOW), 0);
            read_exact(self.source, at, &mut self.window, "damaged frame")?;
            self.window_at = at;
        }
        self.ahead(at)
    }

    /// The same of what may start further ahead; the window stays where it is.
    fn ahead(&mut self, at: u64) -> Result<[u8; MIN_CHUNK]> {
        let mut head = [0; MIN_CHUNK];
        let bytes = self.bytes(at, MIN_CHUNK)?;
        if let Some(place) = head.get_mut(..bytes.len()) {
            place.copy_from_slice(&bytes);
        }
        Ok(head)
    }

    /// The bytes from `at` on, `len` of them or as many as there are.
    fn bytes(&self, at: u64, len: usize) -> Result<Cow<'_, [u8]>> {
        let len = self.there(at, len);
        if let Some(bytes) = self.in_window(at, len) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = vec![0; len];
        if len > 0 {
            read_exact(self.source, at, &mut bytes, "damaged frame")?;
        }
        Ok(Cow::Owned(bytes))
    }

    /// Recognises what starts at `at`, and how long it is.
    fn object(&mut self, at: u64) -> Result<Option<u64>> {
        let head = self.head(at)?;
        if is_header_start(&head) {
            return self.header_len(at, &head).map(Some);
        }
        if is_trailer_start(&head)
            && let Ok(len) = self.trailer_len(at)
        {
            self.scan.trailers.push((at, len));
            return Ok(Some(len as u64));
        }
        let Some(header) = plausible(&head) else { return Ok(None) };
        let found = FoundAt { position: at, header };
        if found.end() > self.len || self.is_content(&found)? || !self.is_chunk(&found)? {
            return Ok(None);
        }
        self.scan.chunks.push(found);
        Ok(Some(header.cbytes() as u64))
    }

    /// The length of the header at `at`, or of what a commit has left behind: two copies of its
    /// start, free_space and a signature.
    fn header_len(&mut self, at: u64, head: &[u8]) -> Result<u64> {
        self.scan.headers.push(at);
        let stored = array_at(head, START_LEN.saturating_sub(4)).map(u32::from_be_bytes).unwrap_or_default();
        let stored = usize::try_from(stored).unwrap_or_default().min(MAX_HEADER);
        for copy_len in [FIXED_LEN, stored] {
            let second = at.saturating_add(copy_len as u64);
            let signature = second.saturating_add(copy_len as u64).saturating_add(FREE_SPACE_LEN as u64);
            if *self.bytes(signature, FOOTER_MAGIC.len())? == FOOTER_MAGIC {
                self.scan.headers.push(second);
                return Ok(signature.saturating_add(FOOTER_TAIL_LEN as u64).saturating_sub(at));
            }
        }
        let bytes = self.bytes(at, stored)?;
        let is_whole = header::read(&bytes).is_ok() || matches!(early::read(&bytes), Ok(Some(_)));
        Ok(if is_whole { stored as u64 } else { head.len() as u64 })
    }

    /// Whether a chunk is the content of a metalayer, which a damaged trailer does not hide.
    fn is_content(&mut self, found: &FoundAt) -> Result<bool> {
        let Some(before) = found.position.checked_sub(CONTENT_PREFIX as u64) else { return Ok(false) };
        let cbytes = u32::try_from(found.header.cbytes()).unwrap_or(u32::MAX);
        let [a, b, c, d] = cbytes.to_be_bytes();
        Ok(*self.bytes(before, CONTENT_PREFIX)? == [marker::BIN32, a, b, c, d])
    }

    /// Whether a header is more than an accident: something follows where the chunk ends, or the
    /// chunk can be decoded.
    fn is_chunk(&mut self, found: &FoundAt) -> Result<bool> {
        let header = &found.header;
        let is_certain = header.is_memcpyed() || header.special().is_some();
        if is_certain || self.is_start(found.end())? {
            return Ok(true);
        }
        if self.limits.check("a chunk", header.cbytes()).is_err() {
            return Ok(false);
        }
        let mut bytes = vec![0; header.cbytes()];
        read_exact(self.source, found.position, &mut bytes, "damaged frame")?;
        Ok(self.is_decodable(&bytes, header))
    }

    /// Whether a chunk can be decoded: all of it, or its first and its last block where all of it
    /// costs more than may be spent, as of the superseded index of a hundred million chunks.
    fn is_decodable(&mut self, bytes: &[u8], header: &Header) -> bool {
        let whole = (header.cbytes() as u64).saturating_add(header.nbytes() as u64);
        if whole < self.budget {
            self.budget = self.budget.saturating_sub(whole);
            return self.decompressor.decompress(bytes).is_ok();
        }
        let ends = (header.cbytes() as u64).saturating_add((header.blocksize() as u64).saturating_mul(2));
        self.budget = self.budget.saturating_sub(ends);
        let Ok(chunk) = Chunk::parse(bytes) else { return false };
        let ends = [0, header.nblocks().saturating_sub(1)];
        self.budget > 0 && ends.iter().all(|&block| self.decompressor.block(&chunk, block).is_ok())
    }

    /// Whether something that is known starts at `at`, or nothing is there any more.
    fn is_start(&mut self, at: u64) -> Result<bool> {
        let head = self.ahead(at)?;
        let is_plausible = plausible(&head).is_some_and(|header| header.cbytes() as u64 <= self.len.saturating_sub(at));
        Ok(at == self.len || is_header_start(&head) || is_trailer_start(&head) || is_plausible)
    }

    /// The length of the trailer that starts at `at`.
    fn trailer_len(&mut self, at: u64) -> Result<usize> {
        let content_end = self.content_end(at)?;
        let len = content_end.saturating_add(TAIL_LEN);
        let tail = self.bytes(at.saturating_add(content_end as u64), TAIL_LEN)?;
        let mut reader = Reader::new("frame trailer", &tail, 0);
        let stored = reader.uint32()?;
        reader.expect(marker::FIXEXT16)?;
        if tail.len() < TAIL_LEN || stored as usize != len {
            bail!(Corrupt, "frame trailer: it should have {stored} bytes, but has {len}");
        }
        Ok(len)
    }

    /// Where the contents of all metalayers of a trailer end.
    fn content_end(&mut self, at: u64) -> Result<usize> {
        let start = self.bytes(at, MIN_CHUNK)?;
        if start.starts_with(&BETA_TRAILER_START) {
            let mut reader = Reader::new("frame trailer", &start, BETA_TRAILER_START.len().saturating_sub(1));
            let len = reader.long_len(marker::BIN32)?;
            return Ok(BETA_TRAILER_START.len().saturating_add(4).saturating_add(len));
        }
        let count = Reader::new("frame trailer", &start, COUNT_AT).length16(marker::MAP16)?;
        if count > MAX_VLMETALAYERS {
            bail!(Corrupt, "frame trailer: {count} metalayers announced");
        }
        let map_len = count.saturating_mul(MAX_MAP_ENTRY).saturating_add(MIN_CHUNK);
        self.budget = self.budget.saturating_sub(map_len as u64);
        let map = self.bytes(at, map_len)?;
        let mut reader = Reader::new("frame trailer", &map, COUNT_AT);
        reader.length16(marker::MAP16)?;
        let mut last = 0;
        for _ in 0..count {
            reader.short_str()?;
            last = reader.int32()?;
        }
        if count == 0 {
            reader.length16(marker::ARRAY16)?;
            return Ok(reader.position());
        }
        let last = usize::try_from(last).map_err(|_| error!(Corrupt, "frame trailer: a metalayer is at {last}"))?;
        let prefix = self.bytes(at.saturating_add(last as u64), CONTENT_PREFIX)?;
        let len = Reader::new("frame trailer", &prefix, 0).long_len(marker::BIN32)?;
        Ok(last.saturating_add(CONTENT_PREFIX).saturating_add(len))
    }
}

fn is_header_start(bytes: &[u8]) -> bool {
    let is_array = bytes.first().is_some_and(|&byte| (0x9b..=0x9e).contains(&byte));
    is_array && bytes.get(2..).is_some_and(|rest| rest.starts_with(MAGIC))
}

fn is_trailer_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&TRAILER_START) || bytes.starts_with(&BETA_TRAILER_START)
}

/// The header that `bytes` start with, if it is one that some writer of frames could have written.
fn plausible(bytes: &[u8]) -> Option<Header> {
    if !bytes.first().is_some_and(|version| (2..=6).contains(version)) {
        return None;
    }
    let header = Header::parse(bytes).ok()?;
    let has_known_filters = header.pipeline().ids().iter().all(|id| matches!(id, 0..=4 | 32..=36 | 160..));
    let is_empty_special = matches!(header.special(), Some(Special::Zeros | Special::NaN | Special::Uninit));
    let is_sound = header.nbytes() > 0
        && header.cbytes() >= MIN_CHUNK
        && has_known_filters
        && !header.is_lazy()
        && !header.is_instrumented()
        && (!is_empty_special || header.cbytes() == MIN_CHUNK);
    is_sound.then_some(header)
}
