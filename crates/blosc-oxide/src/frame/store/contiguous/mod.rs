//! A frame in one storage. Live bytes are never overwritten: new bytes go behind the end, and one
//! write to the header publishes them.
//!
//! A frame on storage, after two commits (what is in brackets is dead):
//!
//! ```text
//! header | chunks | [index, trailer, footer] | chunks | index | trailer | footer
//!          ^--------------------- section ---------------^
//! ```
//!
//! Space of dead indexes, trailers and footers is reused, by chunks and by later indexes: always
//! for the next commit, while the committed state stays whole.

mod access;
mod chunk_hashes;
mod commit;
mod hashes;
mod moves;
mod overwrites;
mod reads;
mod recovery;
mod slots;
mod writes;

pub(in crate::frame) use access::Access;
pub(in crate::frame) use overwrites::Overwrites;

use self::chunk_hashes::ChunkHashes;
use self::overwrites::View;
use crate::chunk::Special;
use crate::error::{Result, bail};
use crate::frame::format::early::Generation;
use crate::frame::format::footer::HASH_LEN;
use crate::frame::format::hashes::{Hashes, UNKNOWN};
use crate::frame::format::header;
use crate::frame::format::index::{Entry, Index};
use crate::frame::format::trailer::Trailer;
use crate::frame::options::Settings;
use crate::frame::read::load::{self, Loaded};
use crate::frame::space::append_buffer::AppendBuffer;
use crate::frame::space::index_slots::IndexSlots;
use crate::frame::space::map::SpaceMap;
use crate::frame::store::committed::{CHANGED_MEANWHILE, CommittedState, OWNED_BY_ANOTHER};
use crate::frame::store::splice;
use crate::schunk::{Facts, Foreign, PublishChunks, ReadChunks, Slot, StageChunks, Staged, State, hash_of_chunk};
use crate::storage::{Storage, WriteRight};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The shortest chunk that other readers accept in a frame.
const MIN_CHUNK: usize = 32;

/// What a handle has done to a frame, by which the form of the next commit is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum History {
    /// It is making it, or moves its chunks together, and has committed no chunks yet.
    New,
    /// It has opened it, or has moved its chunks together.
    Opened,
    /// It has committed chunks, and perhaps does so again and again.
    Committed,
}

/// Who wrote the last footer. As long as a handle has, nobody else has written to free space since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FooterOwner {
    /// Another handle, which may rely on what is in free space.
    Foreign,
    /// This one, to say that free space is being written to.
    Claimed,
    /// This one, with its last commit; the hash of the footer.
    Own([u8; HASH_LEN]),
}

/// The chunks of a contiguous frame.
pub(in crate::frame) struct Contiguous {
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
    hashes: Option<ChunkHashes>,
    /// Bytes that are not yet written to the storage; its end is where the next bytes go.
    buffer: AppendBuffer,
    /// Where the last byte is that can be read; the tail ends there, or before it while chunks are
    /// moved to the front.
    limit: u64,
    space: SpaceMap,
    /// The slots for index and trailer, once this handle has committed several times.
    slots: Option<IndexSlots>,
    history: History,
    /// Who wrote the last footer.
    footer_owner: FooterOwner,
    /// Positions of chunks stored since the last commit, before the end that the storage had then.
    fresh: HashSet<u64>,
    /// Total size of the chunks, superseded ones included.
    cbytes: u64,
    foreign: Foreign,
    /// Whether nothing has been committed yet.
    is_new: bool,
    /// Whether everything that has been found on the storage survives a loss of power.
    is_settled: bool,
    is_poisoned: bool,
    /// Whether the storage has the header that was committed last, and perhaps no other one.
    is_header_known: bool,
    /// What a crash has left unfinished: whether the header is torn. `None` if that has been dealt
    /// with.
    unhealed: Option<bool>,
    /// The right to change the frame, as long as it is being edited.
    right: Option<WriteRight>,
    /// What has been overwritten of what it reads.
    view: View,
}

impl Contiguous {
    /// Begins a frame on an empty storage: there is none before the first commit, which must not
    /// change the metalayers.
    pub(in crate::frame) fn begin_new(
        storage: Arc<dyn Storage>,
        state: &State,
        settings: Settings,
        overwrites: Arc<Overwrites>,
    ) -> Result<Self> {
        let header = header::write(state, 0, 0, false, false)?;
        let start = header.len() as u64;
        let store = Self {
            access: Access::Write(storage),
            base: 0,
            settings,
            header,
            trailer: Trailer::default(),
            index: Index::new(),
            hashes: settings.checksums.then(|| ChunkHashes::loaded(Hashes::default())),
            buffer: AppendBuffer::new(start),
            limit: start,
            space: SpaceMap::new(start),
            slots: None,
            history: History::New,
            footer_owner: FooterOwner::Foreign,
            fresh: HashSet::new(),
            cbytes: 0,
            foreign: Foreign::default(),
            is_new: true,
            is_settled: true,
            is_poisoned: false,
            is_header_known: true,
            unhealed: None,
            right: None,
            view: View::newest(overwrites),
        };
        if !store.access.as_read().is_empty()? {
            bail!(InvalidArgument, "a frame is to be made where there is something already");
        }
        Ok(store)
    }

    /// Opens the frame that starts at `base`.
    pub(in crate::frame) fn open(
        access: Access,
        base: u64,
        settings: Settings,
        overwrites: &Arc<Overwrites>,
    ) -> Result<(Self, State)> {
        // Before anything is read, so that an edit keeps what it overwrites meanwhile.
        let view = match access {
            Access::Read(_) => View::snapshot(overwrites),
            Access::Write(_) => View::newest(Arc::clone(overwrites)),
        };
        let loaded = load::load(access.as_read(), base, settings.limits)?;
        if loaded.extent.is_sparse {
            bail!(InvalidArgument, "this is the index of a sparse frame: open the directory that it is in");
        }
        Self::of_loaded(access, None, base, loaded, settings, view)
    }

    /// Takes over a frame that has been read.
    fn of_loaded(
        access: Access,
        right: Option<WriteRight>,
        base: u64,
        loaded: Loaded,
        settings: Settings,
        view: View,
    ) -> Result<(Self, State)> {
        let Loaded { generation, extent, state, index, header, trailer, integrity } = loaded;
        let can_write = matches!(access, Access::Write(_));
        if can_write && (generation != Generation::Current || base > 0) {
            bail!(Unsupported, "early frames, and frames inside a larger file, can only be read");
        }
        let foreign = integrity.foreign();
        // What another program has changed since has hashes that no longer count.
        let hashes = match (integrity.hashes, integrity.verdict) {
            (Some(stored), Some(_)) => Some(ChunkHashes::stored(stored)),
            _ if integrity.has_hashes => Some(ChunkHashes::loaded(Hashes::unknown_to(can_write, index.len()))),
            _ => None,
        };
        let end = if can_write { access.as_read().len()?.max(extent.frame_len) } else { extent.frame_len };
        let live = header.len() as u64 + extent.section_len..extent.frame_len;
        let mut store = Self {
            access,
            base,
            settings,
            space: SpaceMap::opened(live, end, index.len() > 0),
            slots: None,
            history: History::Opened,
            footer_owner: FooterOwner::Foreign,
            fresh: HashSet::new(),
            header,
            trailer,
            index,
            hashes,
            buffer: AppendBuffer::new(end),
            limit: end,
            cbytes: extent.section_len,
            foreign,
            is_new: false,
            is_settled: false,
            is_poisoned: false,
            is_header_known: true,
            unhealed: can_write.then_some(integrity.is_recovered),
            right,
            view,
        };
        store.heal_if_alone()?;
        Ok((store, state))
    }

    /// Whether header, index and trailer are still those that were committed or found here last.
    fn has_known_state(&self) -> Result<bool> {
        let Range { start: index_at, end } = self.space.index();
        let (header, index, trailer) = (&self.header[..], self.index.committed(), &self.trailer);
        CommittedState { header, index, index_at, trailer, end }.is_stored_in(self.access.as_read(), self.base)
    }

    /// Takes away everything from a position on.
    fn cut(&mut self, position: u64) -> Result<()> {
        let end = self.base + position;
        self.leave_slots();
        self.storage()?.set_len(end)?;
        self.buffer = AppendBuffer::new(position);
        self.limit = position;
        self.space.truncate(position);
        self.footer_owner = FooterOwner::Foreign;
        Ok(())
    }

    /// Stores a chunk; its entry and its hash.
    fn store(&mut self, bytes: &[u8]) -> Result<(Entry, u64)> {
        self.check_writable()?;
        if bytes.len() < MIN_CHUNK {
            bail!(InvalidArgument, "a frame takes chunks of {MIN_CHUNK} bytes or more, this has {}", bytes.len());
        }
        let position = self.guarded(|store| store.put_chunk(bytes))?;
        self.cbytes += bytes.len() as u64;
        let hash = if self.hashes.is_some() { hash_of_chunk(bytes) } else { UNKNOWN };
        Ok((Entry::At(position - self.header.len() as u64), hash))
    }

    /// Frees the space of a chunk that is no longer used, if it was stored since the last commit.
    fn give_back(&mut self, gone: Entry) -> Result<()> {
        let Some(offset) = gone.offset() else { return Ok(()) };
        let position = self.position_of(offset);
        if position < self.space.committed_end() && !self.fresh.remove(&position) {
            return Ok(());
        }
        let len = self.header_at_offset(offset)?.cbytes() as u64;
        if position + len > self.buffer.start() {
            // What is not on the storage yet would be written over what comes there.
            self.flush()?;
        }
        self.space.free(position..position + len);
        self.cbytes = self.cbytes.saturating_sub(len);
        Ok(())
    }
}

/// What getting the right to change a frame has brought.
#[derive(Debug, Default)]
struct Begun {
    /// Whether there was no right before.
    is_new: bool,
    /// The state that another process has committed meanwhile.
    state: Option<State>,
}

impl Contiguous {
    /// Acquires the right to change the frame, and reloads if another process has committed.
    fn acquire(&mut self, has_changes: bool) -> Result<Begun> {
        self.check_writable()?;
        if self.right.is_some() || self.is_new {
            return Ok(Begun::default());
        }
        self.right = self.access.as_write()?.own()?;
        if self.right.is_none() {
            bail!(Locked, "{OWNED_BY_ANOTHER}");
        }
        match self.catch_up(has_changes) {
            Ok(state) => Ok(Begun { is_new: true, state }),
            Err(error) => {
                self.right = None;
                Err(error)
            }
        }
    }
}

impl ReadChunks for Contiguous {
    fn nchunks(&self) -> usize {
        self.index.len()
    }

    fn cbytes(&self) -> u64 {
        self.cbytes
    }

    fn slot(&self, index: usize) -> Result<Slot> {
        self.index.entry(index).map(Entry::slot)
    }

    fn run(&self, index: usize) -> Result<(Slot, usize)> {
        self.index.run(index).map(|(entry, end)| (entry.slot(), end))
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

    fn read(&self, index: usize) -> Result<Cow<'_, [u8]>> {
        self.read_at_offset(self.offset(index)?).map(Cow::Owned)
    }

    fn position(&self, index: usize) -> Result<Option<u64>> {
        let offset = self.index.entry(index)?.offset();
        Ok(offset.map(|offset| self.base.saturating_add(self.position_of(offset))))
    }

    fn fetch_hashes(&self) -> Result<()> {
        self.read_hashes()
    }

    fn hash(&self, index: usize) -> Option<u64> {
        self.hashes.as_ref()?.get()?.get(index)
    }

    fn is_current(&self) -> Result<bool> {
        self.has_known_state()
    }

    fn facts(&self) -> Facts<'_> {
        let tail = self.space.index().end - self.space.index().start;
        let all = self.readable_end().saturating_sub(self.header.len() as u64);
        Facts {
            header: &self.header,
            source: Some((self.access.as_read(), self.base)),
            foreign: self.foreign,
            has_hashes: self.hashes.is_some(),
            min_chunk: MIN_CHUNK,
            chunk_space: all.saturating_sub(tail),
            memory: None,
        }
    }
}

impl StageChunks for Contiguous {
    fn stage(&mut self, chunk: Cow<'_, [u8]>) -> Result<Staged> {
        self.store(&chunk).map(|(entry, hash)| entry.staged(hash))
    }

    fn insert_specials(&mut self, index: usize, special: Special, count: usize) -> Result<()> {
        if self.hashes.is_some() {
            self.load_hashes()?;
        }
        self.index.insert_run(index, Entry::Special(special), count)?;
        if let Some(hashes) = self.hashes.as_mut().and_then(ChunkHashes::get_mut) {
            hashes.insert_unknown(index, count);
        }
        Ok(())
    }

    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>> {
        if self.hashes.is_some() {
            self.load_hashes()?;
        }
        let hashes = self.hashes.as_mut().and_then(ChunkHashes::get_mut);
        splice::splice(range, chunks, &mut self.index, hashes)
    }

    fn unstage(&mut self, staged: Staged) -> Result<()> {
        let (entry, _) = splice::entry_of(&staged)?;
        self.guarded(|store| store.give_back(entry))
    }
}

impl PublishChunks for Contiguous {
    fn begin(&mut self, has_changes: bool) -> Result<Option<State>> {
        self.acquire(has_changes).map(|begun| begun.state)
    }

    fn release(&mut self) {
        self.right = None;
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        let is_checked = self.acquire(true)?.is_new || self.is_new;
        if !is_checked && !self.has_known_state()? {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        self.guarded(|store| store.commit_guarded(state))
    }

    fn compact(&mut self, state: &State) -> Result<()> {
        self.view.begin_compaction();
        self.guarded(|store| store.compact_guarded(state))
    }

    fn abandon(&mut self) {
        let is_held = self.right.is_some() || self.is_new;
        // A failed write has done so already.
        if is_held && !self.is_poisoned {
            self.reclaim();
        }
    }

    fn snapshot(&self, with_hashes: bool) -> Result<Arc<dyn ReadChunks>> {
        let (live, end) = (self.space.index(), self.readable_end());
        Ok(Arc::new(Self {
            access: self.access.share(),
            base: self.base,
            settings: self.settings,
            header: self.header.clone(),
            trailer: self.trailer.clone(),
            index: self.index.share(),
            hashes: self.snapshot_of_hashes(with_hashes)?,
            buffer: AppendBuffer::new(end),
            limit: end,
            space: SpaceMap::opened(live, end, self.index.len() > 0),
            slots: None,
            history: History::Opened,
            footer_owner: FooterOwner::Foreign,
            fresh: HashSet::new(),
            cbytes: self.cbytes,
            foreign: self.foreign,
            is_new: false,
            is_settled: true,
            is_poisoned: false,
            is_header_known: true,
            unhealed: None,
            right: None,
            view: View::snapshot(self.view.shared()),
        }))
    }
}
