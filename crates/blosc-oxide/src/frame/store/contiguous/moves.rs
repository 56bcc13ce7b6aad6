//! Chunks that are moved: out of the way of a longer header, and together when a frame is
//! compacted.

use super::commit::{Rendered, RenderedIndex, with_fingerprint};
use super::{Contiguous, FooterOwner, History};
use crate::error::Result;
use crate::frame::format::header;
use crate::frame::format::index::{self, Index, Packed};
use crate::frame::space::append_buffer::AppendBuffer;
use crate::schunk::State;
use std::collections::BTreeMap;
use std::ops::Range;

impl Contiguous {
    /// Makes the bytes up to `header_len` dead, so that a longer header, or one and a trailer, can
    /// be written there.
    pub(super) fn move_aside(&mut self, header_len: usize) -> Result<()> {
        let mut committed = self.committed_index()?;
        let room = (header_len - self.header.len()) as u64;
        let places = committed.offsets()?.chain(self.index.offsets()?);
        let mut moved: Vec<u64> = places.filter(|&offset| offset < room).collect();
        moved.sort_unstable();
        moved.dedup();
        self.space.reserve_front(header_len as u64);
        self.buffer.pad_to(header_len as u64);
        let mut places = BTreeMap::new();
        for from in moved {
            let bytes = self.read_at_offset(from)?;
            let position = self.push(&bytes)?;
            self.space.set_chunks_end(position + bytes.len() as u64);
            places.insert(from, position - self.header.len() as u64);
        }
        let moved = |from: u64| places.get(&from).copied().unwrap_or(from);
        committed.relocate(moved)?;
        self.publish_moved(committed.pack()?)?;
        // Not before: whoever opens the frame meanwhile still finds the old places, and what is
        // kept by then is not kept for them.
        self.keep_for_snapshots(header_len as u64)?;
        // The place of the old index is free now, but for what the header takes of it.
        self.space.reserve_front(header_len as u64);
        self.index.relocate(moved)
    }

    /// Keeps the bytes between the header and `end` for snapshots of older states, whose first
    /// chunks may have been there.
    fn keep_for_snapshots(&self, end: u64) -> Result<()> {
        let start = self.header.len() as u64;
        self.view.keep(start, || {
            let len = end.min(self.readable_end()).saturating_sub(start);
            let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            self.read_position(start, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// Moves the chunks of a frame that has never been committed out of the way of a header that is
    /// longer than it was to be.
    pub(super) fn move_aside_for_first_header(&mut self, state: &State, header_len: usize) -> Result<()> {
        let (old_len, new_len) = (self.header.len() as u64, header_len as u64);
        let mut moved: Vec<u64> = self.index.offsets()?.filter(|&offset| offset + old_len < new_len).collect();
        moved.sort_unstable();
        moved.dedup();
        self.space.reserve_front(new_len);
        self.space.extend_chunks_to(new_len);
        self.buffer.pad_to(new_len);
        let mut places = BTreeMap::new();
        for from in moved {
            let bytes = self.read_at_offset(from)?;
            let position = self.push(&bytes)?;
            self.space.set_chunks_end(position + bytes.len() as u64);
            places.insert(from, position);
        }
        // Offsets count from the end of the header.
        self.index.relocate(|from| places.get(&from).copied().unwrap_or(from + old_len) - new_len)?;
        self.header = header::write(state, 0, 0, false, false)?;
        Ok(())
    }

    /// Commits the state that is committed already, with its chunks elsewhere.
    fn publish_moved(&mut self, index: Packed) -> Result<()> {
        let place = self.find_place(None, (index.len() + self.trailer.len()) as u64);
        let header = header::with_lengths(&self.header, place.end, place.start - self.header.len() as u64)?;
        let (trailer, old_hashes) = (self.trailer.clone(), Some(self.committed_hashes()?));
        let index = RenderedIndex::Packed { index, old_hashes };
        self.publish(with_fingerprint(Rendered { header, index, trailer, place }))
    }

    /// The index as it is committed.
    fn committed_index(&self) -> Result<Index> {
        if let Some(stored) = self.index.committed() {
            return self.index.as_committed(stored);
        }
        let Range { start, end } = self.space.index();
        let len = usize::try_from(end - start).unwrap_or(usize::MAX).saturating_sub(self.trailer.len());
        self.settings.limits.check("frame index", len)?;
        let mut stored = vec![0; len];
        self.read_position(start, &mut stored)?;
        self.index.as_committed(&stored)
    }

    /// Moves all chunks together, twice: behind the end first, so that the front is dead and can be
    /// written.
    pub(super) fn compact_guarded(&mut self, state: &State) -> Result<()> {
        self.leave_slots();
        self.footer_owner = FooterOwner::Foreign;
        if self.index.len() == 0 {
            self.commit_guarded(state)?;
            return self.cut_behind_live();
        }
        let live = self.live_bytes()?;
        // What is written to the front must not reach the copies behind the end; an index is never
        // longer than this.
        let index_len = index::max_packed_len(self.index.len());
        // That of another program may be without hashes, and shorter.
        let trailer_len = self.render_trailer(state, None)?.len();
        let needed = (self.header.len() + index_len + trailer_len) as u64 + live;
        if needed >= self.buffer.end() {
            return self.cut_behind_live();
        }
        self.space.forget_free();
        self.history = History::New;
        self.move_chunks(state)?;
        // Between the two the end is not where it seems to be: nothing else may be done then.
        self.move_to_front(state).inspect_err(|_| self.is_poisoned = true)?;
        self.history = History::Opened;
        self.cbytes = live;
        self.sync()
    }

    /// Cuts off what is behind the frame: the footer, and free space.
    fn cut_behind_live(&mut self) -> Result<()> {
        self.cut(self.space.index().end)?;
        self.sync()
    }

    /// Writes all chunks, which are behind the end, to directly behind the header, and cuts off the
    /// rest.
    fn move_to_front(&mut self, state: &State) -> Result<()> {
        self.limit = self.buffer.end();
        self.buffer = AppendBuffer::new(self.header.len() as u64);
        self.space.forget_free();
        self.space.set_chunks_end(self.header.len() as u64);
        self.history = History::New;
        self.move_chunks(state)?;
        self.space.forget_free();
        self.cut(self.buffer.end())
    }

    /// Writes all chunks anew from the end on, in order, and commits that.
    fn move_chunks(&mut self, state: &State) -> Result<()> {
        let header_len = self.header.len() as u64;
        let places: Vec<u64> = self.index.offsets()?.collect();
        let mut moved = Vec::with_capacity(places.len());
        for offset in places {
            let bytes = self.read_at_offset(offset)?;
            moved.push(self.push(&bytes)? - header_len);
        }
        self.space.set_chunks_end(self.buffer.end());
        let mut moved = moved.into_iter();
        self.index.relocate(|offset| moved.next().unwrap_or(offset))?;
        let rendered = self.render(state, self.header.len())?;
        self.publish(rendered)
    }

    /// Total size of the committed chunks. An offset that comes several times in a row counts once:
    /// it is moved once.
    pub(super) fn live_bytes(&self) -> Result<u64> {
        self.index.offsets()?.map(|offset| self.header_at_offset(offset).map(|header| header.cbytes() as u64)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Compressor, Options};
    use crate::frame::options::Settings;
    use crate::limits::Limits;
    use crate::schunk::{PublishChunks, StageChunks};
    use crate::storage::{Durability, MemoryStorage};
    use std::sync::Arc;

    #[test]
    fn a_chunk_that_was_moved_counts_as_soon_as_that_is_committed() {
        let options = Options::new(4);
        let state = State::new(&options);
        let settings = Settings { durability: Durability::None, checksums: true, limits: Limits::new() };
        let mut store =
            Contiguous::begin_new(Arc::new(MemoryStorage::default()), &state, settings, Arc::default()).unwrap();
        let chunk = Compressor::new(options).unwrap().compress(b"some data that lies behind the header").unwrap();
        let staged = store.stage(chunk.into()).unwrap();
        store.splice(0..0, &[staged]).unwrap();
        store.commit(&state).unwrap();
        let before = store.offset(0).unwrap();
        store.move_aside(store.header.len() + 100).unwrap();
        let offset = store.offset(0).unwrap();
        assert!(offset > before);
        // What follows may be refused, and the space of the chunk must not be freed then.
        assert!(store.position_of(offset) < store.space.committed_end());
    }
}
