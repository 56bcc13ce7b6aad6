//! A frame in one storage. Live bytes are never overwritten: what is new goes behind the end, and one write to the
//! header makes it count.
//!
//! A frame on storage, after two commits (what is in brackets is dead):
//!
//! ```text
//! header | chunks | [index, trailer, footer] | chunks | index | trailer | footer
//!          ^--------------------- section ---------------^
//! ```

use super::Settings;
use super::checksums::{self, UNKNOWN};
use super::footer::{self, Footer};
use super::header::{self, FIXED_LEN};
use super::index::{self, Entry, Index};
use super::open::{self, Generation, Opened};
use super::tail::Tail;
use super::trailer::{self, FINGERPRINT_LEN};
use crate::chunk::Header;
use crate::error::{ErrorKind, Result, bail, error};
use crate::schunk::{ChunkStore, NewChunk, Slot, State};
use crate::storage::{Durability, MemoryStorage, ReadAt, Storage, read_exact};

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
    /// Header, index and trailer as they were committed last.
    header: Vec<u8>,
    committed_index: Vec<u8>,
    trailer: Vec<u8>,
    /// The index with all changes since then. Offsets count from the end of the committed header.
    index: Index,
    /// A hash for each chunk; `None` if the frame has none.
    hashes: Option<Hashes>,
    /// Bytes that are written but not yet handed to the storage; its end is where the next bytes go.
    tail: Tail,
    /// Where the last byte is that can be read; the tail ends there, or before it while chunks are moved to the front.
    limit: u64,
    /// What the chunks take, those included that no longer count.
    cbytes: u64,
    is_poisoned: bool,
}

/// The hashes of the chunks, read when they are first needed.
enum Hashes {
    Stored(Vec<u8>),
    Loaded(Vec<u64>),
}

impl Contiguous {
    /// Makes an empty frame on an empty storage.
    pub(super) fn create(storage: Box<dyn Storage>, state: &State, settings: Settings) -> Result<Self> {
        let mut store = Self {
            access: Access::Write(storage),
            base: 0,
            settings,
            header: Vec::new(),
            committed_index: Vec::new(),
            trailer: Vec::new(),
            index: Index::new(),
            hashes: settings.checksums.then(|| Hashes::Loaded(Vec::new())),
            tail: Tail::new(0),
            limit: 0,
            cbytes: 0,
            is_poisoned: false,
        };
        if !store.access.as_read().is_empty()? {
            bail!(InvalidArgument, "a frame is to be made where there is something already");
        }
        let header_len = header::write(state, 0, 0, false, false)?.len();
        store.tail = Tail::new(header_len as u64);
        let (header, index, trailer) = store.render(state, &[], header_len)?;
        let bytes = [&header[..], &index, &trailer].concat();
        store.guarded(|store| store.write_new(&bytes))?;
        store.tail = Tail::new(bytes.len() as u64);
        store.committed(header, index, trailer);
        Ok(store)
    }

    /// The first sector is written last, and its first byte after the others, so that a frame is there as a whole or
    /// not at all.
    fn write_new(&mut self, bytes: &[u8]) -> Result<()> {
        let (first_sector, rest) = bytes.split_at(bytes.len().min(SECTOR));
        let (first_byte, others) = first_sector.split_at(1);
        if !rest.is_empty() {
            self.access.as_write()?.write_at(SECTOR as u64, rest)?;
            self.sync()?;
        }
        let storage = self.access.as_write()?;
        storage.write_at(1, others)?;
        storage.write_at(0, first_byte)?;
        self.sync()
    }

    /// Takes over a frame that has been opened.
    pub(super) fn open(access: Access, base: u64, opened: Opened, settings: Settings) -> Result<(Self, State)> {
        let Opened { generation, extent, state, index, header, trailer, integrity } = opened;
        let can_write = matches!(access, Access::Write(_));
        if can_write && (generation != Generation::Current || base > 0) {
            bail!(Unsupported, "early frames, and frames inside a larger file, can only be read");
        }
        // What another program has changed since has hashes that no longer count.
        let hashes = match (integrity.layer, integrity.verdict) {
            (Some(layer), Some(_)) => Some(Hashes::Stored(layer)),
            (Some(_), None) => Some(Hashes::Loaded(vec![UNKNOWN; index.len()])),
            (None, _) => None,
        };
        let end = if can_write { access.as_read().len()?.max(extent.frame_len) } else { extent.frame_len };
        let mut store = Self {
            access,
            base,
            settings,
            committed_index: index.packed().to_vec(),
            header,
            trailer,
            index,
            hashes,
            tail: Tail::new(end),
            limit: end,
            cbytes: extent.section_len,
            is_poisoned: false,
        };
        if can_write {
            store.guarded(|store| store.heal(integrity.is_recovered))?;
        }
        Ok((store, state))
    }

    /// Finishes what a crash has left unfinished: puts the header back that was found torn, and cuts off a footer that
    /// would undo what other programs do to metalayers.
    fn heal(&mut self, is_torn: bool) -> Result<()> {
        let footer = footer::read(self.access.as_read(), self.base, self.settings.limits);
        if is_torn {
            let storage = self.access.as_write()?;
            storage.write_at(self.base, &self.header)?;
            self.sync()?;
        }
        match footer {
            Some(footer) if footer.new.len() > FIXED_LEN => self.cut(footer.start),
            _ => Ok(()),
        }
    }

    /// Takes away everything from a position on.
    fn cut(&mut self, position: u64) -> Result<()> {
        self.access.as_write()?.set_len(self.base + position)?;
        self.tail = Tail::new(position);
        self.limit = position;
        Ok(())
    }

    /// Runs an action that writes; if it fails, what is on the storage is no longer known, and the handle is done.
    fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        let result = action(self);
        // A refusal leaves the storage as it was.
        self.is_poisoned = matches!(&result, Err(error) if error.kind() == ErrorKind::Io);
        result
    }

    fn check_writable(&mut self) -> Result<()> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        self.access.as_write().map(|_| ())
    }

    fn sync(&mut self) -> Result<()> {
        match self.settings.durability {
            Durability::Fsync => Ok(self.access.as_write()?.sync()?),
            Durability::None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.tail.bytes().is_empty() {
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

    /// Header, index and trailer of a frame with these entries, as they will be stored if the index starts at the end.
    fn render(&mut self, state: &State, entries: &[Entry], header_len: usize) -> Result<(Vec<u8>, Vec<u8>, Vec<u8>)> {
        let index = if entries.is_empty() { Vec::new() } else { index::pack(entries)? };
        let layer = match self.hashes {
            Some(_) => Some(checksums::write_layer(self.load_hashes()?)?),
            None => None,
        };
        let ours = layer.iter().map(|layer| (checksums::LAYER_NAME, layer.as_slice()));
        let trailer = trailer::write(state.vlmetalayers.chunks().chain(ours), layer.is_some())?;
        let has_vlmetalayers = layer.is_some() || !state.vlmetalayers.is_empty();
        let index_at = self.tail.end();
        let frame_len = index_at + index.len() as u64 + trailer.len() as u64;
        let header = header::write(state, frame_len, index_at - header_len as u64, false, has_vlmetalayers)?;
        let trailer = if layer.is_some() { with_fingerprint(trailer, &header, &index) } else { trailer };
        Ok((header, index, trailer))
    }

    /// Writes index and trailer behind the end, then the header.
    fn publish(&mut self, header: Vec<u8>, index: Vec<u8>, trailer: Vec<u8>) -> Result<()> {
        let is_whole = self.header.get(FIXED_LEN..) != header.get(FIXED_LEN..);
        let changed = if is_whole { &header[..] } else { &header[..FIXED_LEN] };
        self.tail.push(&index);
        self.tail.push(&trailer);
        let frame_len = self.tail.end();
        self.flush_with_footer(changed)?;
        self.sync()?;
        self.access.as_write()?.write_at(self.base, changed)?;
        self.sync()?;
        if is_whole {
            // Other programs may change the metalayers from now on, which must not be undone.
            self.cut(frame_len)?;
        }
        self.committed(header, index, trailer);
        Ok(())
    }

    /// Writes everything that is not yet written, and at the very end what is going to happen to the header.
    fn flush_with_footer(&mut self, changed: &[u8]) -> Result<()> {
        let start = self.section_end();
        let footer = Footer { old: self.stored_start(changed.len())?, new: changed.to_vec(), start }.to_bytes();
        if start == self.tail.end() {
            self.tail.push(&footer);
            return self.flush();
        }
        self.flush()?;
        self.access.as_write()?.write_at(self.base + start, &footer)?;
        self.limit += footer.len() as u64;
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

    fn committed(&mut self, header: Vec<u8>, index: Vec<u8>, trailer: Vec<u8>) {
        self.header = header;
        self.committed_index = index;
        self.trailer = trailer;
    }

    /// Makes the bytes up to `header_len` dead, so that a longer header can be written there.
    fn make_room(&mut self, header_len: usize) -> Result<()> {
        let mut committed = committed_entries(&self.committed_index, self.settings)?;
        let mut pending = self.index.entries()?.to_vec();
        let room = (header_len - self.header.len()) as u64;
        let in_the_way = |entry: &Entry| matches!(entry, Entry::At(offset) if *offset < room);
        let mut moved: Vec<Entry> = committed.iter().chain(&pending).copied().filter(in_the_way).collect();
        moved.sort_unstable_by_key(|entry| if let Entry::At(offset) = entry { *offset } else { 0 });
        moved.dedup();
        self.tail.pad_to(header_len as u64);
        for entry in moved {
            let Entry::At(from) = entry else { continue };
            let bytes = self.read_at_offset(from)?;
            let to = self.push(&bytes)? - self.header.len() as u64;
            for entry in committed.iter_mut().chain(&mut pending).filter(|entry| **entry == Entry::At(from)) {
                *entry = Entry::At(to);
            }
        }
        self.publish_moved(&committed)?;
        *self.index.entries_mut()? = pending;
        Ok(())
    }

    /// Commits the state that is committed already, with its chunks elsewhere.
    fn publish_moved(&mut self, entries: &[Entry]) -> Result<()> {
        let index = if entries.is_empty() { Vec::new() } else { index::pack(entries)? };
        let index_at = self.tail.end();
        let frame_len = index_at + index.len() as u64 + self.trailer.len() as u64;
        let header = header::with_lengths(&self.header, frame_len, index_at - self.header.len() as u64)?;
        let trailer = self.trailer.clone();
        let trailer =
            if trailer::has_fingerprint(&trailer) { with_fingerprint(trailer, &header, &index) } else { trailer };
        self.publish(header, index, trailer)
    }

    fn commit_guarded(&mut self, state: &State) -> Result<()> {
        let old_len = self.header.len();
        let new_len = header::write(state, 0, 0, false, false)?.len();
        if new_len > old_len {
            self.make_room(new_len)?;
        }
        let mut entries = self.index.entries()?.to_vec();
        if new_len != old_len {
            let shift = |offset: u64| offset + old_len as u64 - new_len as u64;
            for entry in &mut entries {
                *entry = if let Entry::At(offset) = *entry { Entry::At(shift(offset)) } else { *entry };
            }
        }
        let (header, index, trailer) = self.render(state, &entries, new_len)?;
        self.publish(header, index, trailer)?;
        if new_len != old_len {
            *self.index.entries_mut()? = entries;
        }
        Ok(())
    }

    /// Moves all chunks together, twice: behind the end first, so that the front is dead and can be written.
    fn compact_guarded(&mut self, state: &State) -> Result<()> {
        let (entries, live) = self.entries_side_by_side()?;
        let (header, index, trailer) = self.render(state, &entries, self.header.len())?;
        // What is written to the front must not reach the copies behind the end.
        let needed = (header.len() + index.len() + trailer.len()) as u64 + live;
        if needed >= self.tail.end() {
            return Ok(());
        }
        self.move_chunks(state)?;
        self.limit = self.tail.end();
        self.tail = Tail::new(self.header.len() as u64);
        self.move_chunks(state)?;
        self.cut(self.tail.end())?;
        self.cbytes = live;
        self.sync()
    }

    /// The entries that the chunks will have without anything between them, and what the chunks take.
    fn entries_side_by_side(&self) -> Result<(Vec<Entry>, u64)> {
        let mut end = 0;
        let mut entries = self.index.entries()?.to_vec();
        for entry in &mut entries {
            if let Entry::At(offset) = *entry {
                *entry = Entry::At(end);
                end += self.header_at_offset(offset)?.cbytes() as u64;
            }
        }
        Ok((entries, end))
    }

    /// Writes all chunks anew from the end on, in order, and commits that.
    fn move_chunks(&mut self, state: &State) -> Result<()> {
        let header_len = self.header.len() as u64;
        let mut entries = self.index.entries()?.to_vec();
        for entry in &mut entries {
            if let Entry::At(offset) = *entry {
                let bytes = self.read_at_offset(offset)?;
                *entry = Entry::At(self.push(&bytes)? - header_len);
            }
        }
        let (header, index, trailer) = self.render(state, &entries, self.header.len())?;
        self.publish(header, index, trailer)?;
        *self.index.entries_mut()? = entries;
        Ok(())
    }

    fn load_hashes(&mut self) -> Result<&mut Vec<u64>> {
        if let Some(Hashes::Stored(layer)) = &self.hashes {
            let hashes = checksums::read_layer(layer, self.index.len(), self.settings.limits)?;
            self.hashes = Some(Hashes::Loaded(hashes));
        }
        match &mut self.hashes {
            Some(Hashes::Loaded(hashes)) => Ok(hashes),
            _ => bail!(InvalidArgument, "the frame has no checksums"),
        }
    }

    /// Changes the list of hashes as the list of entries is changed.
    fn change_hashes(&mut self, change: impl FnOnce(&mut Vec<u64>)) -> Result<()> {
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
                let position = self.guarded(|store| store.push(bytes))?;
                self.cbytes += bytes.len() as u64;
                let hash = if self.hashes.is_some() { checksums::of_chunk(bytes) } else { UNKNOWN };
                Ok((Entry::At(position - self.header.len() as u64), hash))
            }
        }
    }

    fn position(&self, offset: u64) -> u64 {
        offset.saturating_add(self.header.len() as u64)
    }

    /// Reads from the frame, also what is not yet on the storage.
    fn read_position(&self, position: u64, out: &mut [u8]) -> Result<()> {
        let stored = self.tail.read(position, out);
        let at = self.base.checked_add(position).ok_or_else(|| error!(Corrupt, "chunk: it is at {position}"))?;
        if stored == 0 { Ok(()) } else { read_exact(self.access.as_read(), at, &mut out[..stored], "chunk") }
    }

    /// Where reading must end: chunks lie before that.
    fn section_end(&self) -> u64 {
        self.limit.max(self.tail.end())
    }

    fn head(&self, offset: u64, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let position = self.position(offset);
        let there = self.section_end().saturating_sub(position);
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        if out.len() < len {
            out.resize(len, 0);
        }
        self.read_position(position, &mut out[..len])?;
        Ok(len)
    }

    fn header_at_offset(&self, offset: u64) -> Result<Header> {
        let mut head = Vec::new();
        let len = self.head(offset, MIN_CHUNK, &mut head)?;
        let header = Header::parse(&head[..len])?;
        let there = self.section_end().saturating_sub(self.position(offset));
        if header.cbytes() as u64 > there {
            bail!(Corrupt, "chunk: it has {} bytes, {there} are left of the frame", header.cbytes());
        }
        Ok(header)
    }

    fn read_at_offset(&self, offset: u64) -> Result<Vec<u8>> {
        let header = self.header_at_offset(offset)?;
        self.settings.limits.check("a chunk", header.cbytes())?;
        let mut bytes = vec![0; header.cbytes()];
        self.read_position(self.position(offset), &mut bytes)?;
        Ok(bytes)
    }

    fn offset(&self, index: usize) -> Result<u64> {
        match self.index.entry(index)? {
            Entry::At(offset) => Ok(offset),
            Entry::Special(special) => bail!(InvalidArgument, "chunk {index} is not stored, it is {special:?}"),
        }
    }
}

fn committed_entries(packed: &[u8], settings: Settings) -> Result<Vec<Entry>> {
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    Ok(Index::parse(packed, settings.limits)?.entries()?.to_vec())
}

pub(super) fn with_fingerprint(mut trailer: Vec<u8>, header: &[u8], index: &[u8]) -> Vec<u8> {
    let fingerprint = checksums::fingerprint(header, index, &trailer);
    let at = trailer.len() - FINGERPRINT_LEN;
    trailer[at..].copy_from_slice(&fingerprint);
    trailer
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
        let at = self.position(self.offset(index)?).saturating_add(position as u64);
        if at.saturating_add(out.len() as u64) > self.section_end() {
            bail!(Corrupt, "{} bytes at {at} are beyond the end of the frame at {}", out.len(), self.section_end());
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
        self.index.entries_mut()?.insert(index, entry);
        Ok(())
    }

    fn replace(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        let (entry, hash) = self.store(chunk)?;
        self.change_hashes(|hashes| hashes[index] = hash)?;
        self.index.entries_mut()?[index] = entry;
        Ok(())
    }

    fn remove(&mut self, index: usize) -> Result<()> {
        self.check_writable()?;
        self.change_hashes(|hashes| {
            hashes.remove(index);
        })?;
        self.index.entries_mut()?.remove(index);
        Ok(())
    }

    fn reorder(&mut self, order: &[usize]) -> Result<()> {
        self.check_writable()?;
        self.change_hashes(|hashes| *hashes = order.iter().map(|&from| hashes[from]).collect())?;
        let mut entries = self.index.entries_mut()?;
        *entries = order.iter().map(|&from| entries[from]).collect();
        Ok(())
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        self.guarded(|store| store.commit_guarded(state))
    }

    fn compact(&mut self, state: &State) -> Result<()> {
        self.guarded(|store| store.compact_guarded(state))
    }

    fn hash(&mut self, index: usize) -> Result<Option<u64>> {
        if self.hashes.is_none() {
            return Ok(None);
        }
        Ok(self.load_hashes()?.get(index).copied().filter(|&hash| hash != UNKNOWN))
    }

    fn dead_bytes(&self) -> Result<u64> {
        let all = self.tail.end().saturating_sub(self.header.len() as u64);
        let tail = (self.committed_index.len() + self.trailer.len()) as u64;
        Ok(all.saturating_sub(self.entries_side_by_side()?.1).saturating_sub(tail))
    }

    fn source(&self) -> Option<(&dyn ReadAt, u64)> {
        Some((self.access.as_read(), self.base))
    }

    fn reload(&mut self) -> Result<Option<State>> {
        if matches!(self.access, Access::Write(_)) {
            return Ok(None);
        }
        let opened = open::open(self.access.as_read(), self.base, self.settings.limits)?;
        // After a compaction lengths can be what they were long ago.
        if opened.header == self.header
            && opened.trailer == self.trailer
            && opened.index.packed() == self.committed_index
        {
            return Ok(None);
        }
        let access = std::mem::replace(&mut self.access, Access::Read(Box::new(MemoryStorage::default())));
        let (store, state) = Self::open(access, self.base, opened, self.settings)?;
        *self = store;
        Ok(Some(state))
    }
}
