//! Commits to one of two places that take turns, of which only what has changed is written.

use super::chunk_hashes::ChunkHashes;
use super::commit::{Rendered, RenderedIndex, with_fingerprint};
use super::{Contiguous, History};
use crate::error::Result;
use crate::frame::format::hashes::Form;
use crate::frame::format::index::{Changes, ENTRY_LEN};
use crate::frame::format::trailer::Trailer;
use crate::frame::space::append_buffer::AppendBuffer;
use crate::frame::space::index_slots::{IndexSlots, MIN_CHUNKS, SlotContent, SlotShape};
use crate::schunk::State;
use std::ops::Range;

impl Contiguous {
    /// What is to be written into the slot whose turn it is; `None` if the index is to be packed.
    /// The length of the header does not change.
    pub(super) fn render_in_slot(&mut self, state: &State) -> Result<Option<Rendered>> {
        self.note_changes();
        if self.slots.is_none() && (self.history != History::Committed || self.index.len() < MIN_CHUNKS) {
            return Ok(None);
        }
        let trailer = self.render_trailer(state, Some(Form::Words))?;
        if !self.find_slots(trailer.layers_and_end().0.len())? {
            return Ok(None);
        }
        let Some(slots) = &self.slots else { return Ok(None) };
        let slot = slots.next();
        let layers = trailer.layers_and_end().0.len();
        let end = slots.hashes_at(slot) + (trailer.len() - layers) as u64;
        let place = slots.range(slot).start..end;
        let header = self.render_header(state, self.header.len(), &place)?;
        let index = RenderedIndex::InSlot { slot, digest: self.index.stored_digest()? };
        Ok(Some(with_fingerprint(Rendered { header, index, trailer, place })))
    }

    /// Notes entries and hashes that the slots do not have as they are.
    fn note_changes(&mut self) {
        let entries = self.index.take_changes();
        let hashes = self.hashes.as_mut().and_then(ChunkHashes::get_mut);
        let hashes = hashes.map_or_else(Changes::default, |hashes| hashes.take_changes());
        if let Some(slots) = &mut self.slots {
            slots.changed(&entries, &hashes);
        }
    }

    /// Makes sure that there are slots for what is to be committed, with layers of so many bytes,
    /// behind all chunks. Whether there are: they may be too much for what the chunks take.
    fn find_slots(&mut self, layers: usize) -> Result<bool> {
        let nchunks = self.index.len();
        let is_behind = |slots: &IndexSlots| self.space.chunks_end() <= slots.start();
        if self.slots.as_ref().is_some_and(|slots| is_behind(slots) && slots.shape.fits(nchunks, layers)) {
            return Ok(true);
        }
        self.leave_slots();
        let shape = SlotShape::new(nchunks, layers, self.hashes.is_some());
        let chunks = self.space.chunks_end() - self.header.len() as u64;
        if nchunks < MIN_CHUNKS || !shape.is_affordable(chunks) {
            return Ok(false);
        }
        self.make_slots(shape, shape.hole(chunks))?;
        Ok(true)
    }

    /// Allocates slots, with a gap in front of them for the next chunks.
    fn make_slots(&mut self, shape: SlotShape, hole: u64) -> Result<()> {
        let len = hole + 2 * shape.len;
        let start = match self.space.allocate_behind_chunks(len) {
            Some(start) => start,
            None => self.take_end(len)?,
        };
        self.space.free(start..start + hole);
        self.slots = Some(IndexSlots::new(start + hole, shape));
        Ok(())
    }

    /// Allocates space behind the end; returns where it starts.
    fn take_end(&mut self, len: u64) -> Result<u64> {
        self.flush()?;
        let start = self.buffer.end().max(self.limit);
        self.buffer = AppendBuffer::new(start + len);
        self.limit = start + len;
        Ok(start)
    }

    /// Frees the slots, but for what is committed there.
    pub(super) fn leave_slots(&mut self) {
        let Some(slots) = self.slots.take() else { return };
        slots.free_besides(slots.live, self.space.index().end).for_each(|part| self.space.free(part));
    }

    /// Writes into a slot what is not there yet.
    pub(super) fn write_slot(&mut self, slot: usize, trailer: &Trailer) -> Result<()> {
        let Some(slots) = &mut self.slots else { return Ok(()) };
        let held = slots.held[slot].take();
        let (start, hashes_at) = (slots.range(slot).start, slots.hashes_at(slot));
        let mut parts = Parts::default();
        parts.at(start).extend(self.index.stored_head()?);
        let entries_at = start + parts.len();
        let all = Changes::all();
        for range in held.as_ref().map_or(&all, |held| &held.entries).within(self.index.len()) {
            self.index.append_stored(range.clone(), parts.at(entries_at + in_bytes(&range).start as u64))?;
        }
        let (layers, end) = trailer.layers_and_end();
        let changed = changed_part(held.as_ref().map_or(&[], |held| &held.layers), layers);
        let layers_at = hashes_at - layers.len() as u64;
        parts.at(layers_at + changed.start as u64).extend(&layers[changed]);
        if let Some(hashes) = self.hashes.as_ref().and_then(ChunkHashes::get) {
            let hashes = hashes.as_bytes();
            for range in held.as_ref().map_or(&all, |held| &held.hashes).within(hashes.len() / ENTRY_LEN) {
                let range = in_bytes(&range);
                parts.at(hashes_at + range.start as u64).extend(&hashes[range]);
            }
        }
        let end_at = hashes_at + (trailer.len() - layers.len() - end.len()) as u64;
        parts.at(end_at).extend(end);
        let layers = layers.to_vec();
        for (position, bytes) in parts.0 {
            self.write_over(position, &bytes)?;
        }
        if let Some(slots) = &mut self.slots {
            slots.held[slot] = Some(SlotContent { layers, ..SlotContent::default() });
        }
        Ok(())
    }
}

/// Bytes and where they go; those that follow one another are written at once.
#[derive(Default)]
struct Parts(Vec<(u64, Vec<u8>)>);

impl Parts {
    /// How many bytes there are.
    fn len(&self) -> u64 {
        self.0.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Where bytes are to be added that go to a position.
    fn at(&mut self, position: u64) -> &mut Vec<u8> {
        let follows = |(start, bytes): &(u64, Vec<u8>)| start + bytes.len() as u64 == position;
        if !self.0.last().is_some_and(follows) {
            self.0.push((position, Vec::new()));
        }
        let last = self.0.len() - 1;
        &mut self.0[last].1
    }
}

fn in_bytes(words: &Range<usize>) -> Range<usize> {
    words.start * ENTRY_LEN..words.end * ENTRY_LEN
}

/// The part of `new` outside of which it is the same as `old`; all of it if that has another
/// length.
fn changed_part(old: &[u8], new: &[u8]) -> Range<usize> {
    if old.len() != new.len() {
        return 0..new.len();
    }
    let is_same = |(old, new): &(&u8, &u8)| old == new;
    let start = old.iter().zip(new).take_while(is_same).count();
    let same = old.iter().zip(new).skip(start).rev().take_while(is_same).count();
    start..new.len() - same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_is_a_changed_part() {
        assert_eq!(changed_part(b"abcdef", b"abXdYf"), 2..5);
        assert_eq!(changed_part(b"abcdef", b"abcdef"), 6..6);
        assert_eq!(changed_part(b"abc", b"abcd"), 0..4);
        assert_eq!(changed_part(b"", b""), 0..0);
    }

    #[test]
    fn parts_that_follow_one_another_are_one() {
        let mut parts = Parts::default();
        parts.at(10).extend(b"abc");
        parts.at(13).extend(b"de");
        parts.at(16).extend(b"f");
        assert_eq!(parts.0, [(10, b"abcde".to_vec()), (16, b"f".to_vec())]);
    }
}
