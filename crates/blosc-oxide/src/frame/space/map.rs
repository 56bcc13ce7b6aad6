//! Where index, trailer, footer and chunks of a contiguous frame are, and what space is free.

use super::free_list::FreeList;
use crate::frame::format::free_space::FreeSpace;
use std::ops::Range;

/// How many written parts are remembered: commits take turns between two or three places, with two
/// parts in each.
const REMEMBERED: usize = 8;

/// A part of what a commit writes that is often the same in the next one, and which version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::frame) enum Part {
    Index(u64),
    Hashes(u64),
}

/// The layout of a frame. Positions count from its start.
#[derive(Debug)]
pub(in crate::frame) struct SpaceMap {
    index: Range<u64>,
    footer: Range<u64>,
    chunks_end: u64,
    committed_end: u64,
    free: FreeList,
    /// The parts last written, as far as they have not been overwritten: what is there already need
    /// not be written again.
    written: Vec<(Range<u64>, Part)>,
}

impl SpaceMap {
    /// The map of a new frame: all that follows the header is yet to be written.
    pub(in crate::frame) fn new(header_len: u64) -> Self {
        Self {
            index: 0..0,
            footer: 0..0,
            chunks_end: header_len,
            committed_end: 0,
            free: FreeList::default(),
            written: Vec::new(),
        }
    }

    /// The map of a frame that was opened, with index and trailer at `index`, on a storage that
    /// ends at `end`. The space of replaced chunks is not known from old indexes, only from a
    /// footer.
    pub(in crate::frame) fn opened(index: Range<u64>, end: u64, has_chunks: bool) -> Self {
        let mut map = Self::new(index.start);
        if has_chunks {
            // All chunks that there have ever been lie before the index.
            map.free.free(index.end..end);
        } else {
            // The trailer is directly behind the header then, and deleted chunks are behind it.
            map.chunks_end = end;
        }
        map.index = index;
        map.committed_end = end;
        map
    }

    /// The committed index and trailer.
    pub(in crate::frame) fn index(&self) -> Range<u64> {
        self.index.clone()
    }

    /// The footer of the last commit; empty if there is none.
    pub(in crate::frame) fn footer(&self) -> Range<u64> {
        self.footer.clone()
    }

    /// No chunk ends after this, be it committed, yet to be committed, or one that others may still
    /// be reading. The index lies behind it, unless there are no chunks.
    pub(in crate::frame) fn chunks_end(&self) -> u64 {
        self.chunks_end
    }

    /// Where the storage ended at the last commit: chunks behind this are known to nobody else.
    pub(in crate::frame) fn committed_end(&self) -> u64 {
        self.committed_end
    }

    /// Takes over the free space that the footer of the last commit lists, if it is plausible.
    pub(in crate::frame) fn adopt(&mut self, free_space: &FreeSpace, header_len: u64, footer: Range<u64>) {
        if !free_space.fits(&(header_len..footer.start), &self.index) {
            return;
        }
        self.footer = footer;
        if free_space.parts.is_empty() {
            // Somebody has begun to use what was free before the last chunk.
            self.free.retain_between(0, self.footer.start);
            self.free.free(free_space.chunks_end.max(header_len)..self.index.start);
        } else {
            self.free.clear();
            free_space.parts.iter().for_each(|part| self.free.free(part.clone()));
        }
        self.chunks_end = free_space.chunks_end.max(header_len);
    }

    /// Takes over what the footer of an unfinished commit lists: no chunk has ever been behind the
    /// last one that it knows of.
    pub(in crate::frame) fn adopt_unfinished(&mut self, free_space: &FreeSpace, header_len: u64) {
        let gap = free_space.chunks_end.max(header_len)..self.index.start;
        if gap.start < gap.end {
            self.chunks_end = gap.start;
            self.free.free(gap);
        }
    }

    /// The free space after the next commit, whose index and trailer are allocated already and
    /// which frees `freed`.
    pub(in crate::frame) fn free_space_after(&self, freed: Vec<Range<u64>>) -> FreeSpace {
        let mut parts = self.free.ranges().to_vec();
        // There may be hundreds of parts, and they are in order.
        for part in freed.into_iter().filter(|part| !part.is_empty()) {
            parts.insert(parts.partition_point(|other| other.start < part.start), part);
        }
        FreeSpace { chunks_end: self.chunks_end, parts }
    }

    /// Frees a range, which must not overlap another free one.
    pub(in crate::frame) fn free(&mut self, range: Range<u64>) {
        self.free.free(range);
    }

    /// Allocates `len` bytes for a chunk in free space, if there is enough in one piece.
    pub(in crate::frame) fn allocate_chunk(&mut self, len: u64) -> Option<u64> {
        self.free.allocate(len)
    }

    /// Allocates `len` bytes behind all chunks, if there is enough in one piece.
    pub(in crate::frame) fn allocate_behind_chunks(&mut self, len: u64) -> Option<u64> {
        self.free.allocate_behind(self.chunks_end, len)
    }

    /// The same for index and trailer; preferably where this version of the index is already.
    pub(in crate::frame) fn allocate_index(&mut self, index: Option<Part>, len: u64) -> Option<u64> {
        let Self { written, free, chunks_end, .. } = self;
        let is_there = |(place, part): &&(Range<u64>, Part)| Some(*part) == index && place.start >= *chunks_end;
        let mut starts = written.iter().filter(is_there).map(|(place, _)| place.start);
        let same = starts.find(|&start| free.allocate_exactly(&(start..start + len)));
        same.or_else(|| free.allocate_behind(*chunks_end, len))
    }

    /// Notes that chunks reach to `end`, or further.
    pub(in crate::frame) fn extend_chunks_to(&mut self, end: u64) {
        self.chunks_end = self.chunks_end.max(end);
    }

    /// Notes that chunks reach to `end`, and no further.
    pub(in crate::frame) fn set_chunks_end(&mut self, end: u64) {
        self.chunks_end = end;
    }

    pub(in crate::frame) fn set_footer(&mut self, footer: Range<u64>) {
        self.footer = footer;
    }

    pub(in crate::frame) fn set_committed_end(&mut self, end: u64) {
        self.committed_end = end;
    }

    /// Notes that a commit has put index and trailer elsewhere, which frees `freed`.
    pub(in crate::frame) fn index_moved(&mut self, index: Range<u64>, freed: Range<u64>) {
        self.index = index;
        self.free.free(freed);
    }

    /// Forgets all free space.
    pub(in crate::frame) fn forget_free(&mut self) {
        self.free.clear();
        self.footer = 0..0;
        self.written.clear();
    }

    /// Notes that everything from a position on is gone.
    pub(in crate::frame) fn truncate(&mut self, position: u64) {
        self.footer = 0..0;
        self.chunks_end = self.chunks_end.min(position);
        self.committed_end = self.committed_end.min(position);
        self.note_overwritten(&(position..u64::MAX));
        self.free.retain_between(0, position);
    }

    /// Takes the bytes before a position out of the free space.
    pub(in crate::frame) fn reserve_front(&mut self, position: u64) {
        self.free.retain_between(position, u64::MAX);
        self.note_overwritten(&(0..position));
    }

    /// Notes that something is written to a range.
    pub(in crate::frame) fn note_overwritten(&mut self, range: &Range<u64>) {
        self.written.retain(|(other, _)| other.end <= range.start || range.end <= other.start);
    }

    /// Notes that a part has been written to a range.
    pub(in crate::frame) fn note_written(&mut self, range: Range<u64>, part: Part) {
        self.note_overwritten(&range);
        self.written.push((range, part));
        if self.written.len() > REMEMBERED {
            self.written.remove(0);
        }
    }

    /// Whether a part is stored at a range already.
    pub(in crate::frame) fn holds(&self, range: &Range<u64>, part: Part) -> bool {
        self.written.iter().any(|(other, known)| other == range && *known == part)
    }
}
