//! Commits: index and trailer go into free space, and one write to the header publishes them.

use super::chunk_hashes::ChunkHashes;
use super::{Contiguous, FooterOwner, History};
use crate::error::Result;
use crate::frame::format::footer::Footer;
use crate::frame::format::hashes::Form;
use crate::frame::format::header::{self, FIXED_LEN};
use crate::frame::format::index::Packed;
use crate::frame::format::trailer::Trailer;
use crate::frame::space::append_buffer::AppendBuffer;
use crate::frame::space::map::Part;
use crate::schunk::{Foreign, State};
use std::ops::Range;

/// A write of this size, aligned to it, happens wholly or not at all.
const SECTOR: usize = 512;

/// What a commit writes behind the chunks, and over the header.
pub(super) struct Rendered {
    pub(super) header: Vec<u8>,
    pub(super) index: RenderedIndex,
    pub(super) trailer: Trailer,
    /// Where index and trailer go.
    pub(super) place: Range<u64>,
}

/// The index that a commit writes.
pub(super) enum RenderedIndex {
    Packed {
        index: Packed,
        /// The hashes that go into the trailer, if this is not the index and the hashes that are
        /// known, but older ones.
        old_hashes: Option<Vec<u8>>,
    },
    /// The one that is known, into a slot; its hash.
    InSlot { slot: usize, digest: u64 },
}

impl Contiguous {
    pub(super) fn commit_guarded(&mut self, state: &State) -> Result<()> {
        let old_len = self.header.len();
        let new_len = header::write(state, 0, 0, false, false)?.len();
        if !self.is_new && self.index.len() > 0 && new_len == old_len {
            let rendered = match self.render_in_slot(state)? {
                Some(rendered) => rendered,
                None => self.render(state, new_len)?,
            };
            return self.publish(rendered);
        }
        self.leave_slots();
        if self.is_new {
            if new_len != old_len {
                self.move_aside_for_first_header(state, new_len)?;
            }
            let rendered = self.render(state, new_len)?;
            self.publish_new(rendered)?;
            let is_behind_chunks = self.space.index().start > new_len as u64;
            if self.index.len() > 0 || !is_behind_chunks {
                return Ok(());
            }
        }
        if self.index.len() == 0 && new_len >= old_len {
            return self.commit_without_chunks(state, new_len);
        }
        if new_len > old_len {
            self.move_aside(new_len)?;
        }
        // Offsets count from the end of the header.
        self.index.relocate(|offset| offset + old_len as u64 - new_len as u64)?;
        let result = self.render(state, new_len).and_then(|rendered| self.publish(rendered));
        if self.header.len() == old_len {
            self.index.relocate(|offset| offset + new_len as u64 - old_len as u64)?;
        }
        result?;
        if self.index.len() == 0 { self.commit_without_chunks(state, new_len) } else { Ok(()) }
    }

    /// Commits a frame that has no chunks, and a header that is not shorter than it was. The
    /// trailer goes directly behind the header: the reference looks for it there.
    fn commit_without_chunks(&mut self, state: &State, header_len: usize) -> Result<()> {
        let trailer = self.render_trailer(state, self.packed_form())?;
        let front = header_len as u64..(header_len + trailer.len()) as u64;
        self.move_aside(header_len + trailer.len())?;
        let rendered = self.render_at(state, header_len, trailer, front)?;
        self.publish(rendered)?;
        self.cbytes = 0;
        Ok(())
    }

    /// What is to be written if the frame is to be what the state and the index say.
    pub(super) fn render(&mut self, state: &State, header_len: usize) -> Result<Rendered> {
        let trailer = self.render_trailer(state, self.packed_form())?;
        let len = self.index.pack()?.len() + trailer.len();
        let place = self.find_place(Some(Part::Index(self.index.version())), len as u64);
        self.render_at(state, header_len, trailer, place)
    }

    pub(super) fn render_trailer(&mut self, state: &State, form: Option<Form>) -> Result<Trailer> {
        let hashes = if self.hashes.is_some() { Some(self.load_hashes()?) } else { None };
        Trailer::new(state.vlmetalayers.chunks(), hashes, form)
    }

    /// How a packed index is covered by a fingerprint if there are no hashes. One that is not
    /// leaves a place that cannot be used again, which is nothing to a frame that is written with
    /// one commit.
    pub(super) fn packed_form(&self) -> Option<Form> {
        (self.history != History::New).then_some(Form::Whole)
    }

    /// The header of a frame with index and trailer at a place.
    pub(super) fn render_header(&self, state: &State, header_len: usize, place: &Range<u64>) -> Result<Vec<u8>> {
        let has_vlmetalayers = self.hashes.is_some() || !state.vlmetalayers.is_empty();
        header::write(state, place.end, place.start - header_len as u64, false, has_vlmetalayers)
    }

    fn render_at(&mut self, state: &State, header_len: usize, trailer: Trailer, place: Range<u64>) -> Result<Rendered> {
        let header = self.render_header(state, header_len, &place)?;
        let index = RenderedIndex::Packed { index: self.index.pack()?, old_hashes: None };
        Ok(with_fingerprint(Rendered { header, index, trailer, place }))
    }

    /// Where an index, perhaps one that has been written already, and a trailer go, `len` bytes
    /// together: behind all chunks.
    pub(super) fn find_place(&mut self, index: Option<Part>, len: u64) -> Range<u64> {
        let start = self.space.allocate_index(index, len).unwrap_or(self.buffer.end());
        start..start + len
    }

    /// The first commit: everything but the header, then the header.
    fn publish_new(&mut self, rendered: Rendered) -> Result<()> {
        self.write_tail(&rendered)?;
        self.flush()?;
        self.sync()?;
        self.write_first_header(&rendered.header)?;
        self.committed(rendered);
        self.is_new = false;
        Ok(())
    }

    /// Writes the header of a new frame, everything else of which is there. The first sector is
    /// written last, and its first byte after the others, so that a frame is there as a whole or
    /// not at all.
    fn write_first_header(&mut self, header: &[u8]) -> Result<()> {
        let (first_sector, rest) = header.split_at(header.len().min(SECTOR));
        let (first_byte, others) = first_sector.split_at(1);
        if !rest.is_empty() {
            self.storage()?.write_at(SECTOR as u64, rest)?;
            self.sync()?;
        }
        let storage = self.storage()?;
        storage.write_at(1, others)?;
        storage.write_at(0, first_byte)?;
        self.sync()
    }

    /// Writes index and trailer, then the header.
    pub(super) fn publish(&mut self, rendered: Rendered) -> Result<()> {
        let Rendered { header, place, .. } = &rendered;
        let is_whole = self.header.get(FIXED_LEN..) != header.get(FIXED_LEN..);
        let changed = if is_whole { &header[..] } else { &header[..FIXED_LEN] };
        self.write_tail(&rendered)?;
        self.flush_with_footer(changed, self.freed_by(&rendered))?;
        self.sync()?;
        let (old, end) = (self.stored_start(changed.len())?, place.end);
        let written = self.write_start(changed);
        let is_written = written.is_ok();
        let published = written.and_then(|()| self.sync()).and_then(|()| {
            self.committed(rendered);
            // Other programs may change the metalayers from now on, which must not be undone.
            match is_whole {
                true if self.slots.is_some() => self.cut_long_footer(),
                // What others still read of the old chunks lies behind a frame without any.
                true if self.index.len() == 0 => self.cut(self.space.footer().start),
                true => self.cut(end),
                false => Ok(()),
            }
        });
        if published.is_err() {
            // Whoever is told that it failed finds what was there before. If this fails too, one of
            // the two is there.
            let restored = self.write_start(&old).and_then(|()| self.sync());
            let is_untouched = !is_written && matches!(self.has_known_state(), Ok(true));
            self.is_header_known = restored.is_ok() || is_untouched;
        }
        published
    }

    /// Writes the first bytes of the frame, in one step as far as the storage knows such.
    fn write_start(&mut self, bytes: &[u8]) -> Result<()> {
        let base = self.base;
        Ok(self.storage()?.write_at(base, bytes)?)
    }

    /// Writes index and trailer to their place.
    fn write_tail(&mut self, rendered: &Rendered) -> Result<()> {
        let Rendered { index, trailer, place, .. } = rendered;
        let (index, old_hashes) = match index {
            RenderedIndex::Packed { index, old_hashes } => (index, old_hashes),
            RenderedIndex::InSlot { slot, .. } => return self.write_slot(*slot, trailer),
        };
        let (before, after) = trailer.parts();
        let known = std::mem::take(&mut self.hashes);
        let (hashes, version) = match old_hashes {
            Some(hashes) => (hashes.as_slice(), None),
            None => ChunkHashes::to_write(known.as_ref()),
        };
        let index_version = old_hashes.is_none().then(|| Part::Index(self.index.version()));
        let parts =
            [(index.bytes(), index_version), (before, None), (hashes, version.map(Part::Hashes)), (after, None)];
        let written = self.write_parts(place.start, parts);
        self.hashes = known;
        written
    }

    /// Writes parts one after the other, to the end or into free space.
    fn write_parts(&mut self, start: u64, parts: [(&[u8], Option<Part>); 4]) -> Result<()> {
        let is_end = start == self.buffer.end();
        let mut at = start;
        for (bytes, part) in parts {
            let place = at..at + bytes.len() as u64;
            at = place.end;
            if is_end {
                self.buffer.push(bytes);
            } else if !part.is_some_and(|part| self.space.holds(&place, part)) {
                self.write_over(place.start, bytes)?;
            }
            if let Some(part) = part {
                self.space.note_written(place, part);
            }
        }
        Ok(())
    }

    /// Writes everything that is not yet written, and at the very end what is going to happen to
    /// the header. When it has happened, `freed` is free.
    fn flush_with_footer(&mut self, changed: &[u8], freed: Vec<Range<u64>>) -> Result<()> {
        if changed.len() > FIXED_LEN && self.slots.is_some() {
            return self.flush_with_two_footers(changed, freed);
        }
        let len = Footer::len(changed.len()) as u64;
        let last = self.space.footer();
        // The last footer has served its purpose, and is at the very end unless something has come
        // after it.
        let is_replaced = last.end == self.readable_end() && last.end - last.start >= len;
        let start = if is_replaced { last.end - len } else { self.readable_end() };
        self.space.set_footer(start..start + len);
        if !is_replaced {
            self.space.free(last);
        }
        let (old, free_space) = (self.stored_start(changed.len())?, self.space.free_space_after(freed));
        let footer = Footer { old, new: changed.to_vec(), free_space, start }.to_bytes();
        self.footer_owner = FooterOwner::own(&footer);
        if start == self.buffer.end() {
            self.buffer.push(&footer);
            return self.flush();
        }
        self.flush()?;
        let base = self.base;
        self.storage()?.write_at(base + start, &footer)?;
        self.limit = self.limit.max(start + len);
        Ok(())
    }

    /// The same for all of the header: behind a footer without metalayers, which stays when the
    /// other one is cut off.
    fn flush_with_two_footers(&mut self, changed: &[u8], freed: Vec<Range<u64>>) -> Result<()> {
        let last = self.space.footer();
        let is_replaced = last.end == self.readable_end();
        let start = if is_replaced { last.start } else { self.readable_end() };
        if !is_replaced {
            self.space.free(last);
        }
        let (old, free_space) = (self.stored_start(changed.len())?, self.space.free_space_after(freed));
        let fixed = changed[..FIXED_LEN].to_vec();
        let short = Footer { old: fixed.clone(), new: fixed, free_space: free_space.clone(), start }.to_bytes();
        let end = start + short.len() as u64;
        let long = Footer { old, new: changed.to_vec(), free_space, start: end }.to_bytes();
        self.space.set_footer(start..end);
        self.footer_owner = FooterOwner::own(&short);
        self.flush()?;
        let base = self.base;
        self.storage()?.write_at(base + start, &[&short[..], &long].concat())?;
        self.buffer = AppendBuffer::new(end + long.len() as u64);
        self.limit = self.buffer.end();
        Ok(())
    }

    /// Cuts off a footer that has metalayers; the one before it stays.
    fn cut_long_footer(&mut self) -> Result<()> {
        let end = self.space.footer().end;
        let base = self.base;
        self.storage()?.set_len(base + end)?;
        self.buffer = AppendBuffer::new(end);
        self.limit = end;
        self.space.set_committed_end(end);
        Ok(())
    }

    /// What a commit frees, besides what is free already: readers of what it replaces notice by the
    /// fingerprint that something was overwritten. Without one they could not.
    fn freed_by(&self, rendered: &Rendered) -> Vec<Range<u64>> {
        let mut freed = vec![self.freed_index()];
        if let (Some(slots), RenderedIndex::InSlot { slot, .. }) = (&self.slots, &rendered.index) {
            freed.extend(slots.free_besides(Some(*slot), rendered.place.end));
        }
        freed
    }

    /// The index and the trailer that the next commit replaces, if their space may be reused then.
    fn freed_index(&self) -> Range<u64> {
        let live = self.space.index();
        let is_in_slot = self.slots.as_ref().is_some_and(|slots| slots.contain(&live));
        if is_in_slot || !self.trailer.has_fingerprint() { 0..0 } else { live }
    }

    /// The first bytes of the frame as they are.
    fn stored_start(&self, len: usize) -> Result<Vec<u8>> {
        let mut start = self.header.clone();
        let known = start.len();
        start.resize(len, 0);
        if len > known {
            self.read_position(known as u64, &mut start[known..])?;
        }
        Ok(start)
    }

    /// Notes a commit: what it has replaced is free.
    pub(super) fn committed(&mut self, rendered: Rendered) {
        let freed = self.freed_index();
        self.header = rendered.header;
        self.trailer = rendered.trailer;
        self.foreign = Foreign::default();
        let packed = match rendered.index {
            RenderedIndex::Packed { index, .. } => Some(index),
            RenderedIndex::InSlot { slot, .. } => {
                self.slots.iter_mut().for_each(|slots| slots.live = Some(slot));
                None
            }
        };
        self.index.set_committed(packed);
        self.space.index_moved(rendered.place, freed);
        self.space.set_committed_end(self.readable_end());
        if self.index.len() > 0 {
            self.history = History::Committed;
        }
        self.fresh.clear();
    }
}

/// The same, with the fingerprint of what it is.
pub(super) fn with_fingerprint(mut rendered: Rendered) -> Rendered {
    let (form, digest) = match &rendered.index {
        RenderedIndex::Packed { index, .. } => (Form::Whole, index.digest()),
        RenderedIndex::InSlot { digest, .. } => (Form::Words, *digest),
    };
    rendered.trailer.put_fingerprint(&rendered.header, form, digest);
    rendered
}
