//! Chunks that are moved: out of the way of a longer header, and together when a frame is
//! compacted.

use super::commit::{Rendered, RenderedIndex, with_fingerprint};
use super::{Contiguous, History, Mark};
use crate::error::Result;
use crate::frame::header;
use crate::frame::index::{self, Index, Packed};
use crate::frame::tail::Tail;
use crate::schunk::State;
use std::collections::BTreeMap;
use std::ops::Range;

impl Contiguous {
    /// Makes the bytes up to `header_len` dead, so that a longer header, or one and a trailer, can
    /// be written there.
    ///
    /// Snapshots of older states would read the header where their first chunks were.
    pub(super) fn make_room(&mut self, header_len: usize) -> Result<()> {
        let mut committed = self.committed_index()?;
        let room = (header_len - self.header.len()) as u64;
        let places = committed.places()?.chain(self.index.places()?);
        let mut moved: Vec<u64> = places.filter(|&offset| offset < room).collect();
        moved.sort_unstable();
        moved.dedup();
        if !moved.is_empty() {
            self.compactions.begin();
        }
        self.places.reserve(header_len as u64);
        self.tail.pad_to(header_len as u64);
        let mut places = BTreeMap::new();
        for from in moved {
            let bytes = self.read_at_offset(from)?;
            let position = self.push(&bytes)?;
            self.places.chunks_end = position + bytes.len() as u64;
            places.insert(from, position - self.header.len() as u64);
        }
        let moved = |from: u64| places.get(&from).copied().unwrap_or(from);
        committed.move_places(moved)?;
        self.publish_moved(committed.pack()?)?;
        // The place of the old index is free now, but for what the header takes of it.
        self.places.reserve(header_len as u64);
        self.index.move_places(moved)
    }

    /// Moves the chunks of a frame that has never been committed out of the way of a header that is
    /// longer than it was to be.
    pub(super) fn make_room_for_first_header(&mut self, state: &State, header_len: usize) -> Result<()> {
        let (old_len, new_len) = (self.header.len() as u64, header_len as u64);
        let mut moved: Vec<u64> = self.index.places()?.filter(|&offset| offset + old_len < new_len).collect();
        moved.sort_unstable();
        moved.dedup();
        self.places.reserve(new_len);
        self.places.chunks_end = self.places.chunks_end.max(new_len);
        self.tail.pad_to(new_len);
        let mut places = BTreeMap::new();
        for from in moved {
            let bytes = self.read_at_offset(from)?;
            let position = self.push(&bytes)?;
            self.places.chunks_end = position + bytes.len() as u64;
            places.insert(from, position);
        }
        // Offsets count from the end of the header.
        self.index.move_places(|from| places.get(&from).copied().unwrap_or(from + old_len) - new_len)?;
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
        let Range { start, end } = self.places.live;
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
        self.mark = Mark::Foreign;
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
        if needed >= self.tail.end() {
            return self.cut_behind_live();
        }
        self.places.forget_room();
        self.history = History::New;
        self.move_chunks(state)?;
        // Between the two the end is not where it seems to be: nothing else may be done then.
        self.move_to_front(state).inspect_err(|_| self.is_poisoned = true)?;
        self.history = History::Opened;
        self.cbytes = live;
        self.sync()
    }

    /// Cuts off what is behind the frame: the footer, and room that there was.
    fn cut_behind_live(&mut self) -> Result<()> {
        self.cut(self.places.live.end)?;
        self.sync()
    }

    /// Writes all chunks, which are behind the end, to directly behind the header, and cuts off the
    /// rest.
    fn move_to_front(&mut self, state: &State) -> Result<()> {
        self.limit = self.tail.end();
        self.tail = Tail::new(self.header.len() as u64);
        self.places.forget_room();
        self.places.chunks_end = self.header.len() as u64;
        self.history = History::New;
        self.move_chunks(state)?;
        self.places.forget_room();
        self.cut(self.tail.end())
    }

    /// Writes all chunks anew from the end on, in order, and commits that.
    fn move_chunks(&mut self, state: &State) -> Result<()> {
        let header_len = self.header.len() as u64;
        let places: Vec<u64> = self.index.places()?.collect();
        let mut moved = Vec::with_capacity(places.len());
        for offset in places {
            let bytes = self.read_at_offset(offset)?;
            moved.push(self.push(&bytes)? - header_len);
        }
        self.places.chunks_end = self.tail.end();
        let mut moved = moved.into_iter();
        self.index.move_places(|offset| moved.next().unwrap_or(offset))?;
        let rendered = self.render(state, self.header.len())?;
        self.publish(rendered)
    }

    /// What the chunks take that count. A place that comes several times in a row counts once: it
    /// is moved once.
    pub(super) fn live_bytes(&self) -> Result<u64> {
        self.index.places()?.map(|offset| self.header_at_offset(offset).map(|header| header.cbytes() as u64)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Compressor, Options};
    use crate::frame::Settings;
    use crate::limits::Limits;
    use crate::schunk::{PublishChunks, StageChunks};
    use crate::storage::{Durability, MemoryStorage};
    use std::sync::Arc;

    #[test]
    fn a_chunk_that_was_moved_counts_as_soon_as_that_is_committed() {
        let options = Options::new(4);
        let state = State::new(&options);
        let settings = Settings { durability: Durability::None, checksums: true, limits: Limits::new() };
        let mut store = Contiguous::begin_new(Arc::new(MemoryStorage::default()), &state, settings).unwrap();
        let chunk = Compressor::new(options).unwrap().compress(b"some data that lies behind the header").unwrap();
        let staged = store.stage(chunk.into()).unwrap();
        store.splice(0..0, &[staged]).unwrap();
        store.commit(&state).unwrap();
        let before = store.offset(0).unwrap();
        store.make_room(store.header.len() + 100).unwrap();
        let offset = store.offset(0).unwrap();
        assert!(offset > before);
        // What follows may be refused, and the room of the chunk must not be given back then.
        assert!(store.position_of(offset) < store.places.committed_end);
    }
}
