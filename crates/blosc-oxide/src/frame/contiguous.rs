//! A frame in one storage. Live bytes are never overwritten: what is new goes behind the end, and one write to the
//! header makes it count.
//!
//! A frame on storage, after two commits (what is in brackets is dead):
//!
//! ```text
//! header | chunks | [index, trailer, footer] | chunks | index | trailer | footer
//!          ^--------------------- section ---------------^
//! ```
//!
//! What is dead of indexes, trailers and footers is used again, by chunks and by later indexes: always by what comes to
//! count with the next commit, while the committed one stays whole.

use super::Settings;
use super::arrange;
use super::checksums::{self, Hashes, StoredHashes, UNKNOWN};
use super::footer::{self, Footer};
use super::header::{self, FIXED_LEN};
use super::index::{self, Entry, Index, Packed};
use super::open::{self, Generation, Opened};
use super::places::{Part, Places};
use super::room::Room;
use super::tail::Tail;
use super::trailer::Trailer;
use crate::chunk::Header;
use crate::error::{ErrorKind, Result, bail, error};
use crate::schunk::{ChunkStore, Foreign, NewChunk, Slot, Source, Staged, State};
use crate::storage::{Durability, MemoryStorage, ReadAt, Storage, read_exact};
use std::collections::BTreeMap;
use std::ops::Range;

/// A write of this size, aligned to it, happens wholly or not at all.
const SECTOR: usize = 512;
/// The shortest chunk that other readers accept in a frame.
const MIN_CHUNK: usize = 32;

/// What the frame is on.
pub(super) enum Access {
    Read(Box<dyn ReadAt>),
    Write(Box<dyn Storage>),
}

impl Access {
    fn as_read(&self) -> &dyn ReadAt {
        match self {
            Self::Read(source) => &**source,
            Self::Write(storage) => &**storage,
        }
    }

    fn as_write(&mut self) -> Result<&mut dyn Storage> {
        match self {
            Self::Write(storage) => Ok(&mut **storage),
            Self::Read(_) => bail!(InvalidArgument, "the frame is open for reading only"),
        }
    }
}

/// The chunks of a contiguous frame.
pub(super) struct Contiguous {
    access: Access,
    /// Where the frame starts in the storage.
    base: u64,
    settings: Settings,
    /// Header and trailer as they were committed last.
    header: Vec<u8>,
    trailer: Trailer,
    /// The index with all changes since then. Offsets count from the end of the committed header.
    index: Index,
    /// A hash for each chunk; `None` if the frame has none.
    hashes: Option<KnownHashes>,
    /// Bytes that are written but not yet handed to the storage; its end is where the next bytes go.
    tail: Tail,
    /// Where the last byte is that can be read; the tail ends there, or before it while chunks are moved to the front.
    limit: u64,
    places: Places,
    /// What the chunks take, those included that no longer count.
    cbytes: u64,
    foreign: Foreign,
    /// Whether nothing has been committed yet.
    is_new: bool,
    /// Whether everything that has been found on the storage survives a loss of power.
    is_settled: bool,
    is_poisoned: bool,
}

/// The hashes of the chunks, read when they are first needed.
enum KnownHashes {
    Stored(StoredHashes),
    Loaded(Hashes),
}

/// What a commit writes behind the chunks, and over the header.
struct Rendered {
    header: Vec<u8>,
    index: Packed,
    trailer: Trailer,
    /// The hashes that go into the trailer, if this is not the index and the hashes that are known, but older ones.
    old_hashes: Option<Vec<u8>>,
    /// Where index and trailer go.
    place: Range<u64>,
}

impl Contiguous {
    /// Begins a frame on an empty storage: there is none before the first commit, which must not change the metalayers.
    pub(super) fn begin_new(storage: Box<dyn Storage>, state: &State, settings: Settings) -> Result<Self> {
        let header = header::write(state, 0, 0, false, false)?;
        let start = header.len() as u64;
        let store = Self {
            access: Access::Write(storage),
            base: 0,
            settings,
            header,
            trailer: Trailer::default(),
            index: Index::new(),
            hashes: settings.checksums.then(|| KnownHashes::Loaded(Hashes::default())),
            tail: Tail::new(start),
            limit: start,
            places: Places::new(start, new_room(settings.checksums)),
            cbytes: 0,
            foreign: Foreign::default(),
            is_new: true,
            is_settled: true,
            is_poisoned: false,
        };
        if !store.access.as_read().is_empty()? {
            bail!(InvalidArgument, "a frame is to be made where there is something already");
        }
        Ok(store)
    }

    /// Writes the header of a new frame, everything else of which is there. The first sector is written last, and its
    /// first byte after the others, so that a frame is there as a whole or not at all.
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

    /// Takes over a frame that has been opened.
    pub(super) fn open(access: Access, base: u64, opened: Opened, settings: Settings) -> Result<(Self, State)> {
        let Opened { generation, extent, state, index, header, trailer, integrity } = opened;
        let can_write = matches!(access, Access::Write(_));
        if can_write && (generation != Generation::Current || base > 0) {
            bail!(Unsupported, "early frames, and frames inside a larger file, can only be read");
        }
        let foreign = integrity.foreign();
        // What another program has changed since has hashes that no longer count.
        let hashes = match (integrity.hashes, integrity.verdict) {
            (Some(stored), Some(_)) => Some(KnownHashes::Stored(stored)),
            _ if integrity.has_hashes => Some(KnownHashes::Loaded(Hashes::unknown(index.len()))),
            _ => None,
        };
        let end = if can_write { access.as_read().len()?.max(extent.frame_len) } else { extent.frame_len };
        let live = header.len() as u64 + extent.section_len..extent.frame_len;
        let mut store = Self {
            access,
            base,
            settings,
            places: Places::opened(live, end, index.len() > 0, new_room(hashes.is_some())),
            header,
            trailer,
            index,
            hashes,
            tail: Tail::new(end),
            limit: end,
            cbytes: extent.section_len,
            foreign,
            is_new: false,
            is_settled: false,
            is_poisoned: false,
        };
        if can_write {
            store.guarded(|store| store.heal(integrity.is_recovered))?;
        }
        Ok((store, state))
    }

    /// Becomes what has been found on its storage.
    fn become_opened(&mut self, opened: Opened) -> Result<State> {
        let access = std::mem::replace(&mut self.access, Access::Read(Box::new(MemoryStorage::default())));
        let (store, state) = Self::open(access, self.base, opened, self.settings)?;
        *self = store;
        Ok(state)
    }

    /// Finishes what a crash has left unfinished: puts the header back that was found torn, and cuts off a footer that
    /// would undo what other programs do to metalayers. Takes over what the footer knows of the frame.
    fn heal(&mut self, is_torn: bool) -> Result<()> {
        let footer = footer::read(self.access.as_read(), self.base, self.settings.limits);
        if is_torn {
            let (base, header) = (self.base, self.header.clone());
            self.storage()?.write_at(base, &header)?;
            self.sync()?;
        }
        let Some(footer) = footer else { return Ok(()) };
        if self.header.starts_with(&footer.new) {
            let place = footer.start..footer.start + Footer::len(footer.new.len()) as u64;
            self.places.believe(&footer.vacancies, self.header.len() as u64, place);
        }
        if footer.new.len() > FIXED_LEN { self.cut(footer.start) } else { Ok(()) }
    }

    /// Takes away everything from a position on.
    fn cut(&mut self, position: u64) -> Result<()> {
        let end = self.base + position;
        self.storage()?.set_len(end)?;
        self.tail = Tail::new(position);
        self.limit = position;
        self.places.cut(position);
        Ok(())
    }

    /// Runs an action that writes; if it fails, what is on the storage is no longer known, and the handle is done.
    fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        let result = action(self);
        // A refusal leaves the storage as it was.
        self.is_poisoned |= matches!(&result, Err(error) if error.kind() == ErrorKind::Io);
        result
    }

    fn check_writable(&mut self) -> Result<()> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        self.access.as_write().map(|_| ())
    }

    /// The storage, to be written to. What another process has written before it was killed may be in the memory of the
    /// system only: nothing is built on it before it is on the disk.
    fn storage(&mut self) -> Result<&mut dyn Storage> {
        if !self.is_settled {
            self.sync()?;
            self.is_settled = true;
        }
        self.access.as_write()
    }

    fn sync(&mut self) -> Result<()> {
        match self.settings.durability {
            Durability::Fsync => Ok(self.access.as_write()?.sync()?),
            Durability::None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.tail.bytes().is_empty() {
            self.storage()?;
            let position = self.base + self.tail.start();
            self.access.as_write()?.write_at(position, self.tail.bytes())?;
            self.tail.flushed();
        }
        Ok(())
    }

    /// Adds bytes at the end and returns where they start.
    fn push(&mut self, bytes: &[u8]) -> Result<u64> {
        let position = self.tail.push(bytes);
        if self.tail.is_full() {
            self.flush()?;
        }
        Ok(position)
    }

    /// Stores the bytes of a chunk and returns where they start.
    fn put_chunk(&mut self, bytes: &[u8]) -> Result<u64> {
        let len = bytes.len() as u64;
        let position = if let Some(position) = self.places.room.take(len) {
            self.write_over(position, bytes)?;
            position
        } else {
            self.push(bytes)?
        };
        self.places.chunks_end = self.places.chunks_end.max(position + len);
        Ok(position)
    }

    /// What is to be written if the frame is to be what the state and the index say.
    fn render(&mut self, state: &State, header_len: usize) -> Result<Rendered> {
        let trailer = self.render_trailer(state)?;
        let len = self.index.pack()?.len() + trailer.len();
        let place = self.find_place(Some(Part::Index(self.index.version())), len as u64);
        self.render_at(state, header_len, trailer, place)
    }

    fn render_trailer(&mut self, state: &State) -> Result<Trailer> {
        let hashes = if self.hashes.is_some() { Some(self.load_hashes()?) } else { None };
        Trailer::new(state.vlmetalayers.chunks(), hashes)
    }

    fn render_at(&mut self, state: &State, header_len: usize, trailer: Trailer, place: Range<u64>) -> Result<Rendered> {
        let has_vlmetalayers = self.hashes.is_some() || !state.vlmetalayers.is_empty();
        let header = header::write(state, place.end, place.start - header_len as u64, false, has_vlmetalayers)?;
        let index = self.index.pack()?;
        Ok(with_fingerprint(Rendered { header, index, trailer, old_hashes: None, place }))
    }

    /// Where an index, perhaps one that has been written already, and a trailer go, `len` bytes together: behind all
    /// chunks.
    fn find_place(&mut self, index: Option<Part>, len: u64) -> Range<u64> {
        let start = self.places.take(index, len).unwrap_or(self.tail.end());
        start..start + len
    }

    /// Writes index and trailer, then the header.
    fn publish(&mut self, rendered: Rendered) -> Result<()> {
        let Rendered { header, place, .. } = &rendered;
        let is_whole = self.header.get(FIXED_LEN..) != header.get(FIXED_LEN..);
        let changed = if is_whole { &header[..] } else { &header[..FIXED_LEN] };
        self.write_tail(&rendered)?;
        self.flush_with_footer(changed)?;
        self.sync()?;
        let base = self.base;
        self.storage()?.write_at(base, changed)?;
        self.sync()?;
        let end = place.end;
        self.committed(rendered);
        if is_whole {
            // Other programs may change the metalayers from now on, which must not be undone.
            self.cut(end)?;
        }
        Ok(())
    }

    /// Writes index and trailer to their place.
    fn write_tail(&mut self, rendered: &Rendered) -> Result<()> {
        let Rendered { index, trailer, old_hashes, place, .. } = rendered;
        let (before, after) = trailer.parts();
        let known = std::mem::take(&mut self.hashes);
        let (hashes, version) = match old_hashes {
            Some(hashes) => (hashes.as_slice(), None),
            None => known_hashes(&known),
        };
        let index_version = old_hashes.is_none().then(|| Part::Index(self.index.version()));
        let parts =
            [(index.bytes(), index_version), (before, None), (hashes, version.map(Part::Hashes)), (after, None)];
        let written = self.write_parts(place.start, parts);
        self.hashes = known;
        written
    }

    /// Writes parts one after the other, to the end or to where nothing lives.
    fn write_parts(&mut self, start: u64, parts: [(&[u8], Option<Part>); 4]) -> Result<()> {
        let is_end = start == self.tail.end();
        let mut at = start;
        for (bytes, part) in parts {
            let place = at..at + bytes.len() as u64;
            at = place.end;
            if is_end {
                self.tail.push(bytes);
            } else if !part.is_some_and(|part| self.places.holds(&place, part)) {
                self.write_over(place.start, bytes)?;
            }
            if let Some(part) = part {
                self.places.wrote(place, part);
            }
        }
        Ok(())
    }

    /// Writes to where nothing lives.
    fn write_over(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.places.overwritten(&(position..position + bytes.len() as u64));
            let base = self.base;
            self.storage()?.write_at(base + position, bytes)?;
        }
        Ok(())
    }

    /// Writes everything that is not yet written, and at the very end what is going to happen to the header.
    fn flush_with_footer(&mut self, changed: &[u8]) -> Result<()> {
        let len = Footer::len(changed.len()) as u64;
        let last = self.places.footer.clone();
        // The last footer has served its purpose, and is at the very end unless something has come after it.
        let is_replaced = last.end == self.readable_end() && last.end - last.start >= len;
        let start = if is_replaced { last.end - len } else { self.readable_end() };
        self.places.footer = start..start + len;
        if !is_replaced {
            self.places.room.give(last);
        }
        let (old, vacancies) = (self.stored_start(changed.len())?, self.places.vacancies());
        let footer = Footer { old, new: changed.to_vec(), vacancies, start }.to_bytes();
        if start == self.tail.end() {
            self.tail.push(&footer);
            return self.flush();
        }
        self.flush()?;
        let base = self.base;
        self.storage()?.write_at(base + start, &footer)?;
        self.limit = self.limit.max(start + len);
        Ok(())
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

    /// Takes notice of a commit: what it has replaced is free.
    fn committed(&mut self, rendered: Rendered) {
        self.header = rendered.header;
        self.trailer = rendered.trailer;
        self.foreign = Foreign::default();
        self.index.set_committed(rendered.index);
        self.places.moved(rendered.place);
        self.places.committed_end = self.readable_end();
    }

    /// Makes the bytes up to `header_len` dead, so that a longer header, or one and a trailer, can be written there.
    fn make_room(&mut self, header_len: usize) -> Result<()> {
        let pending: Vec<Entry> = self.index.entries()?.collect();
        let mut committed = self.index.committed_entries()?;
        let room = (header_len - self.header.len()) as u64;
        let places = committed.iter().chain(&pending).filter_map(|entry| entry.place());
        let mut moved: Vec<u64> = places.filter(|&offset| offset < room).collect();
        moved.sort_unstable();
        moved.dedup();
        self.places.reserve(header_len as u64);
        self.tail.pad_to(header_len as u64);
        let mut places = BTreeMap::new();
        for from in moved {
            let bytes = self.read_at_offset(from)?;
            let position = self.push(&bytes)?;
            self.places.chunks_end = position + bytes.len() as u64;
            places.insert(from, position - self.header.len() as u64);
        }
        let moved = |entry: &Entry| match entry.place().and_then(|from| places.get(&from)) {
            Some(&to) => Entry::At(to),
            None => *entry,
        };
        committed.iter_mut().for_each(|entry| *entry = moved(entry));
        self.publish_moved(&committed)?;
        // The place of the old index is free now, but for what the header takes of it.
        self.places.reserve(header_len as u64);
        self.index.set(pending.iter().map(moved))
    }

    /// Commits the state that is committed already, with its chunks elsewhere.
    fn publish_moved(&mut self, entries: &[Entry]) -> Result<()> {
        let index = index::pack(entries.iter().copied())?;
        let place = self.find_place(None, (index.len() + self.trailer.len()) as u64);
        let header = header::with_lengths(&self.header, place.end, place.start - self.header.len() as u64)?;
        let (trailer, old_hashes) = (self.trailer.clone(), Some(self.committed_hashes()?));
        self.publish(with_fingerprint(Rendered { header, index, trailer, old_hashes, place }))
    }

    fn commit_guarded(&mut self, state: &State) -> Result<()> {
        let old_len = self.header.len();
        let new_len = header::write(state, 0, 0, false, false)?.len();
        if self.is_new {
            if new_len != old_len {
                bail!(InvalidArgument, "the metalayers of a new frame are to be there before its first chunk");
            }
            let rendered = self.render(state, new_len)?;
            self.publish_new(rendered)?;
            let is_behind_chunks = self.places.live.start > new_len as u64;
            if self.index.len() > 0 || !is_behind_chunks {
                return Ok(());
            }
        }
        if self.index.len() == 0 && new_len >= old_len {
            return self.commit_without_chunks(state, new_len);
        }
        if new_len > old_len {
            self.make_room(new_len)?;
        }
        if new_len == old_len {
            let rendered = self.render(state, new_len)?;
            return self.publish(rendered);
        }
        // Offsets count from the end of the header.
        let entries: Vec<Entry> = self.index.entries()?.collect();
        let shift = |offset: u64| offset + old_len as u64 - new_len as u64;
        self.index.set(entries.iter().map(|entry| entry.map_place(shift)))?;
        let result = self.render(state, new_len).and_then(|rendered| self.publish(rendered));
        if self.header.len() == old_len {
            self.index.set(entries.into_iter())?;
        }
        result?;
        if self.index.len() == 0 { self.commit_without_chunks(state, new_len) } else { Ok(()) }
    }

    /// Commits a frame that has no chunks, and a header that is not shorter than it was. The trailer goes directly behind
    /// the header: the reference looks for it there.
    fn commit_without_chunks(&mut self, state: &State, header_len: usize) -> Result<()> {
        let trailer = self.render_trailer(state)?;
        let front = header_len as u64..(header_len + trailer.len()) as u64;
        self.make_room(header_len + trailer.len())?;
        let rendered = self.render_at(state, header_len, trailer, front)?;
        self.publish(rendered)?;
        self.cbytes = 0;
        Ok(())
    }

    /// Moves all chunks together, twice: behind the end first, so that the front is dead and can be written.
    fn compact_guarded(&mut self, state: &State) -> Result<()> {
        if self.index.len() == 0 {
            self.commit_guarded(state)?;
            return self.cut_behind_live();
        }
        let live = self.live_bytes()?;
        // What is written to the front must not reach the copies behind the end; an index is never longer than this.
        let index_len = index::max_packed_len(self.index.len());
        // That of another program may be without hashes, and shorter.
        let trailer_len = self.render_trailer(state)?.len();
        let needed = (self.header.len() + index_len + trailer_len) as u64 + live;
        if needed >= self.tail.end() {
            return self.cut_behind_live();
        }
        self.places.forget_room();
        self.move_chunks(state)?;
        // Between the two the end is not where it seems to be: nothing else may be done then.
        self.move_to_front(state).inspect_err(|_| self.is_poisoned = true)?;
        self.cbytes = live;
        self.sync()
    }

    /// Cuts off what is behind the frame: the footer, and room that there was.
    fn cut_behind_live(&mut self) -> Result<()> {
        self.cut(self.places.live.end)?;
        self.sync()
    }

    /// Writes all chunks, which are behind the end, to directly behind the header, and cuts off the rest.
    fn move_to_front(&mut self, state: &State) -> Result<()> {
        self.limit = self.tail.end();
        self.tail = Tail::new(self.header.len() as u64);
        self.places.forget_room();
        self.places.chunks_end = self.header.len() as u64;
        self.move_chunks(state)?;
        self.places.forget_room();
        self.cut(self.tail.end())
    }

    /// What the chunks take that count.
    fn live_bytes(&self) -> Result<u64> {
        let offsets = self.index.entries()?.filter_map(|entry| entry.place());
        offsets.map(|offset| self.header_at_offset(offset).map(|header| header.cbytes() as u64)).sum()
    }

    /// Writes all chunks anew from the end on, in order, and commits that.
    fn move_chunks(&mut self, state: &State) -> Result<()> {
        let header_len = self.header.len() as u64;
        let mut entries: Vec<Entry> = self.index.entries()?.collect();
        for entry in &mut entries {
            if let Entry::At(offset) = *entry {
                let bytes = self.read_at_offset(offset)?;
                *entry = Entry::At(self.push(&bytes)? - header_len);
            }
        }
        self.places.chunks_end = self.tail.end();
        self.index.set(entries.into_iter())?;
        let rendered = self.render(state, self.header.len())?;
        self.publish(rendered)
    }

    fn load_hashes(&mut self) -> Result<&mut Hashes> {
        if let Some(KnownHashes::Stored(stored)) = &self.hashes {
            let source = self.access.as_read();
            let hashes = match stored.load(source, self.base, self.index.len(), self.settings.limits) {
                // Another process has committed since, perhaps to where they were.
                Err(error) if error.kind() != ErrorKind::Io && self.is_outdated()? => Hashes::unknown(self.index.len()),
                result => result?,
            };
            self.hashes = Some(KnownHashes::Loaded(hashes));
        }
        match &mut self.hashes {
            Some(KnownHashes::Loaded(hashes)) => Ok(hashes),
            _ => bail!(InvalidArgument, "the frame has no checksums"),
        }
    }

    /// Whether the stored header, or the fingerprint at the end of the trailer, is no longer the one that is known: after
    /// several commits lengths can be what they were.
    fn is_outdated(&self) -> Result<bool> {
        let (_, known) = self.trailer.parts();
        let (mut header, mut end) = (vec![0; self.header.len()], vec![0; known.len()]);
        self.read_position(0, &mut header)?;
        self.read_position(self.places.live.end - known.len() as u64, &mut end)?;
        Ok(header != self.header || end != known)
    }

    /// The hashes of the committed trailer, which those that are known may no longer be.
    fn committed_hashes(&self) -> Result<Vec<u8>> {
        let gap = self.trailer.gap();
        let mut hashes = vec![0; gap.len()];
        let trailer_at = self.places.live.end - self.trailer.len() as u64;
        self.read_position(trailer_at + gap.start as u64, &mut hashes)?;
        Ok(hashes)
    }

    /// Changes the list of hashes as the list of entries is changed.
    fn change_hashes(&mut self, change: impl FnOnce(&mut Hashes)) -> Result<()> {
        if self.hashes.is_some() {
            change(self.load_hashes()?);
        }
        Ok(())
    }

    /// Stores a chunk; its entry and its hash.
    fn store(&mut self, chunk: NewChunk<'_>) -> Result<(Entry, u64)> {
        self.check_writable()?;
        match chunk {
            NewChunk::Special(special) => Ok((Entry::Special(special), UNKNOWN)),
            NewChunk::Bytes(bytes) => {
                if bytes.len() < MIN_CHUNK {
                    bail!(
                        InvalidArgument,
                        "a frame takes chunks of {MIN_CHUNK} bytes or more, this has {}",
                        bytes.len()
                    );
                }
                let position = self.guarded(|store| store.put_chunk(bytes))?;
                self.cbytes += bytes.len() as u64;
                let hash = if self.hashes.is_some() { checksums::of_chunk(bytes) } else { UNKNOWN };
                Ok((Entry::At(position - self.header.len() as u64), hash))
            }
        }
    }

    /// Gives back the room of chunks that no longer count, as far as they were stored since the last commit.
    fn give_back(&mut self, gone: &[Entry]) -> Result<()> {
        for offset in gone.iter().filter_map(|entry| entry.place()) {
            let position = self.position_of(offset);
            if position < self.places.committed_end {
                continue;
            }
            let len = self.header_at_offset(offset)?.cbytes() as u64;
            if position + len > self.tail.start() {
                // What is not on the storage yet would be written over what comes there.
                self.flush()?;
            }
            self.places.room.give(position..position + len);
            self.cbytes = self.cbytes.saturating_sub(len);
        }
        Ok(())
    }

    fn position_of(&self, offset: u64) -> u64 {
        offset.saturating_add(self.header.len() as u64)
    }

    /// Reads from the frame, also what is not yet on the storage.
    fn read_position(&self, position: u64, out: &mut [u8]) -> Result<()> {
        let stored = self.tail.read(position, out);
        let at = self.base.checked_add(position).ok_or_else(|| error!(Corrupt, "chunk: it is at {position}"))?;
        if stored == 0 { Ok(()) } else { read_exact(self.access.as_read(), at, &mut out[..stored], "chunk") }
    }

    /// Where reading must end: chunks lie before that.
    fn readable_end(&self) -> u64 {
        self.limit.max(self.tail.end())
    }

    fn head(&self, offset: u64, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let position = self.position_of(offset);
        let there = self.readable_end().saturating_sub(position);
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        if out.len() < len {
            out.resize(len, 0);
        }
        match self.read_position(position, &mut out[..len]) {
            Err(error) if error.kind() == ErrorKind::Truncated => self.shortened_head(position, len, out),
            result => result.map(|()| len),
        }
    }

    /// Reads the same from a frame that another process has made shorter, by cutting off what is dead.
    fn shortened_head(&self, position: u64, len: usize, out: &mut [u8]) -> Result<usize> {
        let there = self.access.as_read().len()?.saturating_sub(self.base).saturating_sub(position);
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        self.read_position(position, &mut out[..len])?;
        Ok(len)
    }

    fn header_at_offset(&self, offset: u64) -> Result<Header> {
        let mut head = Vec::new();
        let len = self.head(offset, MIN_CHUNK, &mut head)?;
        let header = Header::parse(&head[..len])?;
        let there = self.readable_end().saturating_sub(self.position_of(offset));
        if header.cbytes() as u64 > there {
            bail!(Corrupt, "chunk: it has {} bytes, {there} are left of the frame", header.cbytes());
        }
        Ok(header)
    }

    fn read_at_offset(&self, offset: u64) -> Result<Vec<u8>> {
        let header = self.header_at_offset(offset)?;
        self.settings.limits.check("a chunk", header.cbytes())?;
        let mut bytes = vec![0; header.cbytes()];
        self.read_position(self.position_of(offset), &mut bytes)?;
        Ok(bytes)
    }

    fn offset(&self, index: usize) -> Result<u64> {
        match self.index.entry(index)? {
            Entry::At(offset) => Ok(offset),
            Entry::Special(special) => bail!(InvalidArgument, "chunk {index} is not stored, it is {special:?}"),
        }
    }
}

/// Room that can be given some, if readers can tell that an index is being overwritten.
fn new_room(has_fingerprint: bool) -> Room {
    if has_fingerprint { Room::default() } else { Room::closed() }
}

/// The hashes to be written, and which version they are.
fn known_hashes(hashes: &Option<KnownHashes>) -> (&[u8], Option<u64>) {
    match hashes {
        Some(KnownHashes::Loaded(hashes)) => (hashes.as_bytes(), Some(hashes.version())),
        _ => (&[], None),
    }
}

fn with_fingerprint(mut rendered: Rendered) -> Rendered {
    rendered.trailer.put_fingerprint(&rendered.header, rendered.index.digest());
    rendered
}

impl ChunkStore for Contiguous {
    fn nchunks(&self) -> usize {
        self.index.len()
    }

    fn cbytes(&self) -> u64 {
        self.cbytes
    }

    fn min_chunk(&self) -> usize {
        MIN_CHUNK
    }

    fn slot(&self, index: usize) -> Result<Slot> {
        Ok(match self.index.entry(index)? {
            Entry::Special(special) => Slot::Special(special),
            Entry::At(_) => Slot::Stored,
        })
    }

    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        self.head(self.offset(index)?, len, out)
    }

    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()> {
        let at = self.position_of(self.offset(index)?).saturating_add(position as u64);
        if at.saturating_add(out.len() as u64) > self.readable_end() {
            bail!(Corrupt, "{} bytes at {at} are beyond the end of the frame at {}", out.len(), self.readable_end());
        }
        self.read_position(at, out)
    }

    fn read(&self, index: usize, out: &mut Vec<u8>) -> Result<()> {
        *out = self.read_at_offset(self.offset(index)?)?;
        Ok(())
    }

    fn insert(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        let (entry, hash) = self.store(chunk)?;
        self.change_hashes(|hashes| hashes.insert(index, hash))?;
        self.index.insert(index, entry)
    }

    fn replace(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        let (entry, hash) = self.store(chunk)?;
        let gone = self.index.entry(index)?;
        self.change_hashes(|hashes| hashes.replace(index, hash))?;
        self.index.replace(index, entry)?;
        self.guarded(|store| store.give_back(&[gone]))
    }

    fn remove(&mut self, index: usize) -> Result<()> {
        self.check_writable()?;
        let gone = self.index.entry(index)?;
        self.change_hashes(|hashes| hashes.remove(index))?;
        self.index.remove(index)?;
        self.guarded(|store| store.give_back(&[gone]))
    }

    fn stage(&mut self, chunk: Vec<u8>) -> Result<Staged> {
        match self.store(NewChunk::Bytes(&chunk))? {
            (Entry::At(entry), hash) => Ok(Staged::At { entry, hash }),
            (Entry::Special(special), _) => Ok(Staged::Special(special)),
        }
    }

    fn unstage(&mut self, staged: Staged) {
        let Ok((entry, _)) = arrange::staged_entry(&staged) else { return };
        // Room that is not given back does no harm; `compact` finds it.
        let _ = self.guarded(|store| store.give_back(&[entry]));
    }

    fn put(&mut self, index: usize, staged: Staged) -> Result<()> {
        self.check_writable()?;
        let (entry, hash) = arrange::staged_entry(&staged)?;
        let gone = self.index.entry(index)?;
        self.change_hashes(|hashes| hashes.replace(index, hash))?;
        self.index.replace(index, entry)?;
        self.guarded(|store| store.give_back(&[gone]))
    }

    fn arrange(&mut self, kept: usize, sources: Vec<Source>) -> Result<()> {
        self.check_writable()?;
        self.fetch_hashes()?;
        let hashes = match &mut self.hashes {
            Some(KnownHashes::Loaded(hashes)) => Some(hashes),
            _ => None,
        };
        let gone = arrange::arrange(kept, &sources, &mut self.index, hashes)?;
        self.guarded(|store| store.give_back(&gone))
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        self.guarded(|store| store.commit_guarded(state))
    }

    fn compact(&mut self, state: &State) -> Result<()> {
        self.guarded(|store| store.compact_guarded(state))
    }

    fn fetch_hashes(&mut self) -> Result<()> {
        if self.hashes.is_some() {
            self.load_hashes()?;
        }
        Ok(())
    }

    fn hash(&self, index: usize) -> Option<u64> {
        match &self.hashes {
            Some(KnownHashes::Loaded(hashes)) => hashes.get(index),
            _ => None,
        }
    }

    fn compare(&self, index: usize, bytes: &[u8]) -> Result<()> {
        checksums::check_chunk(self.hash(index), bytes)
    }

    fn foreign(&self) -> Foreign {
        self.foreign
    }

    fn dead_bytes(&self) -> Result<u64> {
        let all = self.readable_end().saturating_sub(self.header.len() as u64);
        let tail = self.places.live.end - self.places.live.start;
        Ok(all.saturating_sub(self.live_bytes()?).saturating_sub(tail))
    }

    fn has_hashes(&self) -> bool {
        self.hashes.is_some()
    }

    fn position(&self, index: usize) -> Result<Option<u64>> {
        Ok(match self.index.entry(index)? {
            Entry::At(offset) => Some(self.base.saturating_add(self.position_of(offset))),
            Entry::Special(_) => None,
        })
    }

    fn header(&self) -> &[u8] {
        &self.header
    }

    fn source(&self) -> Option<(&dyn ReadAt, u64)> {
        Some((self.access.as_read(), self.base))
    }

    fn rollback(&mut self) -> Result<State> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        if self.is_new {
            bail!(InvalidArgument, "nothing has been committed yet");
        }
        // Should this fail, the changes are still there, and must not be committed.
        self.is_poisoned = true;
        let opened = open::open(self.access.as_read(), self.base, self.settings.limits)?;
        self.become_opened(opened)
    }

    fn reload(&mut self) -> Result<Option<State>> {
        if matches!(self.access, Access::Write(_)) {
            return Ok(None);
        }
        let opened = open::open(self.access.as_read(), self.base, self.settings.limits)?;
        // After a compaction lengths can be what they were long ago.
        if opened.header == self.header
            && opened.trailer == self.trailer
            && opened.index.committed() == self.index.committed()
        {
            return Ok(None);
        }
        self.become_opened(opened).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Compressor, Options};
    use crate::limits::Limits;

    #[test]
    fn a_chunk_that_was_moved_counts_as_soon_as_that_is_committed() {
        let options = Options::new(4);
        let state = State::new(&options);
        let settings = Settings { durability: Durability::None, checksums: true, limits: Limits::new() };
        let mut store = Contiguous::begin_new(Box::new(MemoryStorage::default()), &state, settings).unwrap();
        let chunk = Compressor::new(options).unwrap().compress(b"some data that lies behind the header").unwrap();
        store.insert(0, NewChunk::Bytes(&chunk)).unwrap();
        store.commit(&state).unwrap();
        let before = store.offset(0).unwrap();
        store.make_room(store.header.len() + 100).unwrap();
        let offset = store.offset(0).unwrap();
        assert!(offset > before);
        // What follows may be refused, and the room of the chunk must not be given back then.
        assert!(store.position_of(offset) < store.places.committed_end);
    }
}
