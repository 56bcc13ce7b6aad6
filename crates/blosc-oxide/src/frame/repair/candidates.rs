//! Which of the indexes that were found counts.

use super::report::{RepairUnknown, RepairedBy};
use super::rows::{LOST, Rows};
use super::scan::{FoundAt, Scan};
use crate::bytes::le_i64;
use crate::chunk::{Decompressor, Header, Options};
use crate::error::Result;
use crate::exec::Threads;
use crate::frame::format::early::{self, Generation};
use crate::frame::format::fingerprint::Verdict;
use crate::frame::format::hashes::{self, Hashes, StoredHashes};
use crate::frame::format::header::{self, FIXED_LEN};
use crate::frame::format::index::{ENTRY_LEN, Entry, Index, MAX_CHUNKS};
use crate::frame::format::trailer::Trailer;
use crate::frame::read::load::{self, Loaded};
use crate::limits::Limits;
use crate::schunk::{ChunkSize, State, VlMetalayers};
use crate::storage::ReadAt;
use std::collections::BTreeSet;

/// How much of the start of a file is looked at for metalayers if the header is lost.
const MAX_LAYERS: u64 = 1 << 20;

/// The best that is known of a frame.
pub(super) struct Candidate {
    pub(super) by: RepairedBy,
    pub(super) state: State,
    /// For each chunk where it is: its position or the number of its file.
    pub(super) rows: Rows,
    /// A hash for each chunk, if they are known.
    pub(super) hashes: Option<Hashes>,
    pub(super) unknown: Vec<RepairUnknown>,
    /// Where the index ends; what comes after it was never committed.
    pub(super) index_end: u64,
}

/// What an index can name: the positions of chunks, or the numbers of files.
pub(super) struct Places(pub(super) BTreeSet<u64>);

/// What is known besides the scan.
pub(super) struct Candidates<'a> {
    pub(super) source: &'a dyn ReadAt,
    pub(super) scan: &'a Scan,
    /// The numbers of the files of a sparse frame.
    pub(super) files: Option<&'a BTreeSet<u64>>,
    pub(super) limits: Limits,
}

impl Candidates<'_> {
    pub(super) fn pick(&self) -> Result<Candidate> {
        if let Ok(opened) = load::load(self.source, 0, self.limits) {
            return self.opened(opened, RepairedBy::Header);
        }
        if let Some(opened) = self.by_header_copy() {
            return self.opened(opened, RepairedBy::HeaderCopy);
        }
        let places = Places(match self.files {
            Some(files) => files.clone(),
            None => self.scan.chunks.iter().map(|found| found.position).collect(),
        });
        for found in self.scan.chunks.iter().rev() {
            if let Some((index, base)) = self.index_at(found, &places) {
                return self.by_index(found, &index, base);
            }
        }
        Ok(self.by_chunks(&places))
    }

    /// The newest copy of a header that fits an index and a trailer.
    fn by_header_copy(&self) -> Option<Loaded> {
        self.scan.headers.iter().rev().filter(|&&at| at > 0).find_map(|&at| {
            let mut header = vec![0; FIXED_LEN];
            self.source.read_at(at, &mut header).ok()?;
            let header_len = header::stored_len(&header)?;
            // A copy of the fixed part is completed by the metalayers that are there, as the frame
            // has been.
            [0, at].into_iter().find_map(|layers_of| {
                let mut header = header.clone();
                let mut layers = vec![0; header_len.checked_sub(FIXED_LEN).filter(|&len| len <= header::MAX_HEADER)?];
                self.source.read_at(layers_of.checked_add(FIXED_LEN as u64)?, &mut layers).ok()?;
                header.extend(layers);
                let opened = load::load_with(self.source, 0, header, self.limits).ok()?;
                (opened.integrity.verdict == Some(Verdict::Good)).then_some(opened)
            })
        })
    }

    fn opened(&self, opened: Loaded, by: RepairedBy) -> Result<Candidate> {
        let Loaded { generation, extent, state, index, integrity, .. } = opened;
        let hashes = match (&integrity.hashes, integrity.verdict) {
            (Some(stored), Some(_)) => stored.load(self.source, 0, index.len(), self.limits).ok(),
            _ => None,
        };
        let base = if self.files.is_some() { 0 } else { extent.header_len as u64 };
        let rows = Rows::of(&index, base, self.limits)?;
        let mut unknown = Vec::new();
        if generation == Generation::Current && integrity.verdict == Some(Verdict::MetalayersChanged) {
            unknown.push(RepairUnknown::Metalayers);
        }
        Ok(Candidate { by, state, rows, hashes, unknown, index_end: extent.frame_len })
    }

    /// The index that this chunk is, if it is one, and what its offsets count from.
    fn index_at(&self, found: &FoundAt, places: &Places) -> Option<(Index, u64)> {
        let header = &found.header;
        if header.typesize() != ENTRY_LEN || !header.nbytes().is_multiple_of(ENTRY_LEN) {
            return None;
        }
        self.limits.check("frame index", header.cbytes()).ok()?;
        let mut bytes = vec![0; header.cbytes()];
        self.source.read_at(found.position, &mut bytes).ok()?;
        if !self.may_be_index(&bytes, places) {
            return None;
        }
        let index = Index::parse(&bytes, self.limits).ok()?;
        // One entry is too little to tell an index from data by, unless a trailer follows.
        let is_certain = self.scan.trailer_after(found).is_some();
        if index.len() < 2 && !is_certain {
            return None;
        }
        let base = self.base_of(&index, places)?;
        Some((index, base))
    }

    /// A quick look at the first entry, because every chunk of 8-byte items could be an index.
    fn may_be_index(&self, bytes: &[u8], places: &Places) -> bool {
        let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(self.limits);
        let Ok(chunk) = crate::chunk::Chunk::parse(bytes) else { return false };
        let Ok(first) = decompressor.bytes(&chunk, 0..ENTRY_LEN) else { return false };
        let largest = places.0.last().copied().unwrap_or_default();
        le_i64(&first, 0).is_some_and(|entry| entry < 0 || entry.cast_unsigned() <= largest)
    }

    /// What the offsets of an index must count from for each of them to name another chunk.
    fn base_of(&self, index: &Index, places: &Places) -> Option<u64> {
        let is_damaged = |entry: Entry| matches!(entry, Entry::Wrong(_));
        let mut offsets = Vec::new();
        for (range, entry) in index.runs().ok()? {
            // Each names another chunk, and there are no more than were found.
            let is_too_many = entry.offset().is_some() && (range.len() > 1 || offsets.len() >= places.0.len());
            if is_damaged(entry) || is_too_many {
                return None;
            }
            offsets.extend(entry.offset());
        }
        offsets.sort_unstable();
        let has_twice = offsets.windows(2).any(|pair| pair[0] == pair[1]);
        if has_twice {
            return None;
        }
        let Some(&first) = offsets.first() else { return Some(self.header_len().unwrap_or(0)) };
        let fits = |base: &u64| offsets.iter().all(|offset| places.0.contains(&offset.saturating_add(*base)));
        if self.files.is_some() {
            return Some(0).filter(fits);
        }
        let candidates = places.0.iter().filter_map(|place| place.checked_sub(first));
        // The chunk that is stored first need not be in the index any more, but it is near.
        self.header_len().into_iter().chain(candidates.take(64)).find(fits)
    }

    fn header_len(&self) -> Option<u64> {
        let (header, _) = self.stored_header()?;
        Some(header as u64)
    }

    /// The length of the stored header and what it says, if it can be read.
    fn stored_header(&self) -> Option<(usize, State)> {
        let len = self.source.len().ok()?.min(MAX_LAYERS);
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        self.source.read_at(0, &mut bytes).ok()?;
        if let Ok((extent, state)) = header::read(&bytes) {
            return Some((extent.header_len, state));
        }
        let (_, extent, state) = early::read(&bytes).ok()??;
        Some((extent.header_len, state))
    }

    fn by_index(&self, found: &FoundAt, index: &Index, base: u64) -> Result<Candidate> {
        let mut unknown = vec![RepairUnknown::IsNewest];
        let rows = Rows::of(index, base, self.limits)?;
        let mut state = self.state_without_index(&mut unknown);
        let layers = self.scan.trailer_after(found).and_then(|(at, len)| self.vlmetalayers_at(at, len));
        if state.bitshuffle.is_none()
            && let Some((at, len)) = self.scan.trailer_after(found)
        {
            state.bitshuffle = self.trailer_at(at, len).and_then(|trailer| early::bitshuffle_rule(&trailer));
        }
        let is_lost = layers.is_none();
        let mut hashes = None;
        if let Some((mut layers, stored)) = layers {
            hashes = stored.and_then(|stored| stored.load(self.source, 0, index.len(), self.limits).ok());
            layers.take_chunk(hashes::LAYER_NAME);
            state.vlmetalayers = layers;
        }
        if is_lost {
            unknown.push(RepairUnknown::VlMetalayers);
        }
        let index_end = self.scan.trailer_after(found).map_or(found.end(), |(at, len)| at + len as u64);
        Ok(Candidate { by: RepairedBy::Index, state, rows, hashes, unknown, index_end })
    }

    fn trailer_at(&self, at: u64, len: usize) -> Option<Vec<u8>> {
        self.limits.check("frame trailer", len).ok()?;
        let mut bytes = vec![0; len];
        self.source.read_at(at, &mut bytes).ok()?;
        Some(bytes)
    }

    fn vlmetalayers_at(&self, at: u64, len: usize) -> Option<(VlMetalayers, Option<StoredHashes>)> {
        let bytes = self.trailer_at(at, len)?;
        if let Ok(layers) = early::read_trailer(&bytes) {
            return Some((layers, None));
        }
        let (trailer, hashes) = Trailer::from_whole(bytes);
        Some((trailer.layers().ok()?, hashes))
    }

    fn by_chunks(&self, places: &Places) -> Candidate {
        let mut unknown = vec![
            RepairUnknown::IsNewest,
            RepairUnknown::Order,
            RepairUnknown::Deleted,
            RepairUnknown::SpecialChunks,
            RepairUnknown::VlMetalayers,
        ];
        let state = self.state_without_index(&mut unknown);
        let is_known = !unknown.contains(&RepairUnknown::Options);
        let found = |place: &u64| {
            let found = self.scan.chunks.binary_search_by_key(place, |found| found.position);
            found.ok().and_then(|found| self.scan.chunks.get(found)).filter(|_| self.files.is_none())
        };
        let is_index = |place: &&u64| found(place).is_some_and(|found| self.scan.trailer_after(found).is_some());
        let all: Vec<u64> = places.0.iter().filter(|place| !is_index(place)).copied().collect();
        let fits = |place: &u64| found(place).is_none_or(|found| has_size(&state, found.header.nbytes()));
        // If the header is good, what is of no length that it allows is an index before a damaged
        // trailer.
        let is_good = is_known && all.iter().filter(|place| fits(place)).count() > all.len() / 2;
        let mut rows = Rows::default();
        all.iter().filter(|place| !is_good || fits(place)).for_each(|&place| rows.push(Entry::At(place), 1));
        if is_good && let Some(expected) = load::nchunks_by_size(&state) {
            rows.push(LOST, expected.min(MAX_CHUNKS).saturating_sub(rows.len()));
        }
        Candidate { by: RepairedBy::Chunks, state, rows, hashes: None, unknown, index_end: u64::MAX }
    }

    /// What the header says, or else the first chunk. How much data there is, is not among that.
    fn state_without_index(&self, unknown: &mut Vec<RepairUnknown>) -> State {
        if let Some((_, state)) = self.stored_header() {
            return state;
        }
        unknown.push(RepairUnknown::Options);
        let first = self.scan.chunks.first().map(|found| found.header);
        let mut state = State::new(&first.map_or_else(|| Options::new(1), |header| options_of(&header)));
        match self.metalayers() {
            Some(metalayers) => state.metalayers = metalayers,
            None => unknown.push(RepairUnknown::Metalayers),
        }
        state.chunksize = ChunkSize::Unknown;
        state.bitshuffle = None;
        state
    }

    /// The metalayers, if only the part of the header before them is damaged.
    fn metalayers(&self) -> Option<crate::schunk::Metalayers> {
        let end = self.scan.chunks.first().map_or(MAX_LAYERS, |found| found.position.min(MAX_LAYERS));
        let mut bytes = vec![0; usize::try_from(end.min(self.source.len().ok()?)).ok()?];
        self.source.read_at(0, &mut bytes).ok()?;
        header::read_metalayers(&bytes, FIXED_LEN).ok()
    }
}

pub(super) fn options_of(header: &Header) -> Options {
    let blocksize = (header.nbytes() > header.blocksize()).then_some(header.blocksize()).filter(|&size| size > 0);
    Options::new(header.typesize())
        .with_codec(header.codec())
        .with_pipeline(header.pipeline())
        .with_blocksize(blocksize)
}

/// Whether a chunk of `nbytes` can be one of a frame with this header.
fn has_size(state: &State, nbytes: usize) -> bool {
    let ChunkSize::Fixed(size) = state.chunksize else { return true };
    let last = state.nbytes.checked_rem(size as u64).unwrap_or_default();
    nbytes == size || nbytes as u64 == last
}
