//! A frame in one storage. Live bytes are never overwritten: what is new goes behind the end, and
//! one write to the header makes it count.
//!
//! A frame on storage, after two commits (what is in brackets is dead):
//!
//! ```text
//! header | chunks | [index, trailer, footer] | chunks | index | trailer | footer
//!          ^--------------------- section ---------------^
//! ```
//!
//! What is dead of indexes, trailers and footers is used again, by chunks and by later indexes:
//! always by what comes to count with the next commit, while the committed one stays whole.

mod commit;
mod hashes;
mod moves;
mod reads;
mod slots;
mod writes;

use self::hashes::KnownHashes;
use super::Settings;
use super::checksums::{Hashes, UNKNOWN};
use super::footer::{self, Footer, HASH_LEN};
use super::header::{self, FIXED_LEN};
use super::index::{Entry, Index};
use super::known::{CHANGED_MEANWHILE, COMPACTED_MEANWHILE, Known, OWNED_BY_ANOTHER};
use super::open::{self, Generation, Opened};
use super::places::Places;
use super::room::Room;
use super::slots::Slots;
use super::staged;
use super::tail::Tail;
use super::trailer::Trailer;
use crate::chunk::Special;
use crate::error::{Result, bail};
use crate::schunk::{Facts, Foreign, PublishChunks, ReadChunks, Slot, StageChunks, Staged, State, hash_of_chunk};
use crate::storage::{MemoryStorage, ReadAt, Storage, WriteRight};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The shortest chunk that other readers accept in a frame.
const MIN_CHUNK: usize = 32;

/// What the frame is on.
pub(super) enum Access {
    Read(Arc<dyn ReadAt>),
    Write(Arc<dyn Storage>),
}

impl Access {
    pub(super) fn as_read(&self) -> &dyn ReadAt {
        match self {
            Self::Read(source) => &**source,
            Self::Write(storage) => &**storage,
        }
    }

    /// The same to read only.
    fn share(&self) -> Self {
        match self {
            Self::Read(source) => Self::Read(Arc::clone(source)),
            Self::Write(storage) => Self::Read(Arc::clone(storage) as Arc<dyn ReadAt>),
        }
    }

    fn as_write(&self) -> Result<&dyn Storage> {
        match self {
            Self::Write(storage) => Ok(&**storage),
            Self::Read(_) => bail!(InvalidArgument, "the frame is open for reading only"),
        }
    }
}

/// What a handle has done to a frame, which tells what is worth while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum History {
    /// It is making it, or moves its chunks together, and has committed no chunks yet.
    New,
    /// It has opened it, or has moved its chunks together.
    Opened,
    /// It has committed chunks, and perhaps does so again and again.
    Committed,
}

/// Whose the last footer is. As long as it is that of a handle, nobody else has written to free
/// places since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Somebody else's, who may count on what is in free places.
    Foreign,
    /// It says that somebody writes to free places.
    Taken,
    /// That of the last commit of this handle; its hash.
    Own([u8; HASH_LEN]),
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
    /// Bytes that are written but not yet handed to the storage; its end is where the next bytes
    /// go.
    tail: Tail,
    /// Where the last byte is that can be read; the tail ends there, or before it while chunks are
    /// moved to the front.
    limit: u64,
    places: Places,
    /// Where index and trailer go in turns, once this handle has committed several times.
    slots: Option<Slots>,
    history: History,
    /// What is known of the last footer.
    mark: Mark,
    /// Where chunks are that have been stored since the last commit, before the end that the
    /// storage had then.
    fresh: HashSet<u64>,
    /// What the chunks take, those included that no longer count.
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
    compactions: Compactions,
}

/// How often those who share a storage have moved its chunks together, and how often they had when
/// this was opened.
#[derive(Debug, Clone, Default)]
struct Compactions {
    count: Arc<AtomicU64>,
    known: u64,
}

impl Compactions {
    /// Takes notice of one, before it begins.
    fn begin(&mut self) {
        self.known = self.count.fetch_add(1, Ordering::AcqRel) + 1;
    }

    /// Whether chunks are where they were.
    fn check(&self) -> Result<()> {
        if self.count.load(Ordering::Acquire) != self.known {
            bail!(Conflict, "{COMPACTED_MEANWHILE}");
        }
        Ok(())
    }
}

impl Contiguous {
    /// Begins a frame on an empty storage: there is none before the first commit, which must not
    /// change the metalayers.
    pub(super) fn begin_new(storage: Arc<dyn Storage>, state: &State, settings: Settings) -> Result<Self> {
        let header = header::write(state, 0, 0, false, false)?;
        let start = header.len() as u64;
        let store = Self {
            access: Access::Write(storage),
            base: 0,
            settings,
            header,
            trailer: Trailer::default(),
            index: Index::new(),
            hashes: settings.checksums.then(|| KnownHashes::loaded(Hashes::default())),
            tail: Tail::new(start),
            limit: start,
            places: Places::new(start, Room::default()),
            slots: None,
            history: History::New,
            mark: Mark::Foreign,
            fresh: HashSet::new(),
            cbytes: 0,
            foreign: Foreign::default(),
            is_new: true,
            is_settled: true,
            is_poisoned: false,
            is_header_known: true,
            unhealed: None,
            right: None,
            compactions: Compactions::default(),
        };
        if !store.access.as_read().is_empty()? {
            bail!(InvalidArgument, "a frame is to be made where there is something already");
        }
        Ok(store)
    }

    /// Takes over a frame that has been opened.
    pub(super) fn open(access: Access, base: u64, opened: Opened, settings: Settings) -> Result<(Self, State)> {
        Self::open_with(access, None, base, opened, settings)
    }

    fn open_with(
        access: Access,
        right: Option<WriteRight>,
        base: u64,
        opened: Opened,
        settings: Settings,
    ) -> Result<(Self, State)> {
        let Opened { generation, extent, state, index, header, trailer, integrity } = opened;
        let can_write = matches!(access, Access::Write(_));
        if can_write && (generation != Generation::Current || base > 0) {
            bail!(Unsupported, "early frames, and frames inside a larger file, can only be read");
        }
        let foreign = integrity.foreign();
        // What another program has changed since has hashes that no longer count.
        let hashes = match (integrity.hashes, integrity.verdict) {
            (Some(stored), Some(_)) => Some(KnownHashes::stored(stored)),
            _ if integrity.has_hashes => Some(KnownHashes::loaded(Hashes::unknown_in(&index, can_write))),
            _ => None,
        };
        let end = if can_write { access.as_read().len()?.max(extent.frame_len) } else { extent.frame_len };
        let live = header.len() as u64 + extent.section_len..extent.frame_len;
        let mut store = Self {
            access,
            base,
            settings,
            places: Places::opened(live, end, index.len() > 0, Room::default()),
            slots: None,
            history: History::Opened,
            mark: Mark::Foreign,
            fresh: HashSet::new(),
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
            is_header_known: true,
            unhealed: can_write.then_some(integrity.is_recovered),
            right,
            compactions: Compactions::default(),
        };
        store.heal_if_alone()?;
        Ok((store, state))
    }

    /// Becomes what has been found on its storage.
    fn become_opened(&mut self, opened: Opened) -> Result<State> {
        let access = std::mem::replace(&mut self.access, Access::Read(Arc::new(MemoryStorage::default())));
        let right = self.right.take();
        let (store, state) = Self::open_with(access, right, self.base, opened, self.settings)?;
        *self = Self { compactions: std::mem::take(&mut self.compactions), ..store };
        Ok(state)
    }

    /// Finishes what a crash has left unfinished, unless somebody else is changing the frame: then
    /// it is not a crash.
    fn heal_if_alone(&mut self) -> Result<()> {
        let Some(is_torn) = self.unhealed else { return Ok(()) };
        let right = if self.right.is_some() { None } else { self.access.as_write()?.own()? };
        if self.right.is_some() || right.is_some() {
            self.unhealed = None;
            self.guarded(|store| store.heal(is_torn))?;
        }
        Ok(())
    }

    /// Puts the header back that was found torn, and cuts off a footer that would undo what other
    /// programs do to metalayers. Takes over what the footer knows of the frame.
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
        } else if self.header.starts_with(&footer.old) && self.has_chunks_before(footer.vacancies.chunks_end)? {
            self.places.believe_undone(&footer.vacancies, self.header.len() as u64);
        }
        if footer.new.len() > FIXED_LEN { self.cut(footer.start) } else { Ok(()) }
    }

    /// Whether there are chunks, and all of them before a position: not while they are being moved
    /// together.
    fn has_chunks_before(&self, position: u64) -> Result<bool> {
        let last = self.index.places()?.max();
        Ok(last.is_some_and(|offset| self.position_of(offset) < position))
    }

    /// Reclaims the space of what lies behind the frame and was never committed, by somebody who
    /// was killed or has given it up. A footer stays; so does everything where there are no chunks,
    /// because deleted ones may lie there that others are reading. Opening a frame does not do
    /// this: where there are no locks, somebody may be about to commit.
    fn cut_uncommitted(&mut self) -> Result<()> {
        let end = self.places.live.end;
        if self.index.len() == 0 || self.limit <= end || !self.places.footer.is_empty() {
            return Ok(());
        }
        self.guarded(|store| store.cut(end))
    }

    /// Whether header, index and trailer are still those that were committed or found here last.
    fn has_known_state(&self) -> Result<bool> {
        let Range { start: index_at, end } = self.places.live;
        let (header, index, trailer) = (&self.header[..], self.index.committed(), &self.trailer);
        Known { header, index, index_at, trailer, end }.is_at(self.access.as_read(), self.base)
    }

    /// Takes notice of what others have committed, now that nobody else can; the new state, if they
    /// have.
    fn catch_up(&mut self, has_changes: bool) -> Result<Option<State>> {
        let is_current = self.has_known_state()?;
        if is_current && self.access.as_read().len()? == self.base + self.readable_end() && self.is_undisturbed()? {
            self.heal_if_alone()?;
            return self.cut_uncommitted().map(|()| None);
        }
        if has_changes && !is_current {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        // Somebody may also have written something behind the frame or to free places, and have
        // given it up.
        let opened = open::open(self.access.as_read(), self.base, self.settings.limits)?;
        let state = self.become_opened(opened)?;
        self.cut_uncommitted()?;
        Ok((!is_current).then_some(state))
    }

    /// Takes away everything from a position on.
    fn cut(&mut self, position: u64) -> Result<()> {
        let end = self.base + position;
        self.leave_slots();
        self.storage()?.set_len(end)?;
        self.tail = Tail::new(position);
        self.limit = position;
        self.places.cut(position);
        self.mark = Mark::Foreign;
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

    /// Gives back the room of a chunk that no longer counts, if it was stored since the last
    /// commit.
    fn give_back(&mut self, gone: Entry) -> Result<()> {
        let Some(offset) = gone.place() else { return Ok(()) };
        let position = self.position_of(offset);
        if position < self.places.committed_end && !self.fresh.remove(&position) {
            return Ok(());
        }
        let len = self.header_at_offset(offset)?.cbytes() as u64;
        if position + len > self.tail.start() {
            // What is not on the storage yet would be written over what comes there.
            self.flush()?;
        }
        self.places.room.give(position..position + len);
        self.cbytes = self.cbytes.saturating_sub(len);
        Ok(())
    }
}

/// What getting the right to change a frame has brought.
#[derive(Debug, Default)]
struct Begun {
    /// Whether there was no right before.
    is_new: bool,
    /// What others have made of the frame meanwhile.
    state: Option<State>,
}

impl Contiguous {
    /// Gets the right to change the frame, and takes notice of what others have committed.
    fn hold(&mut self, has_changes: bool) -> Result<Begun> {
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
        let offset = self.index.entry(index)?.place();
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
        let tail = self.places.live.end - self.places.live.start;
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
        if let Some(hashes) = self.hashes.as_mut().and_then(KnownHashes::get_mut) {
            hashes.insert_unknown(index, count);
        }
        Ok(())
    }

    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>> {
        if self.hashes.is_some() {
            self.load_hashes()?;
        }
        let hashes = self.hashes.as_mut().and_then(KnownHashes::get_mut);
        staged::splice(range, chunks, &mut self.index, hashes)
    }

    fn unstage(&mut self, staged: Staged) -> Result<()> {
        let (entry, _) = staged::entry_of(&staged)?;
        self.guarded(|store| store.give_back(entry))
    }
}

impl PublishChunks for Contiguous {
    fn begin(&mut self, has_changes: bool) -> Result<Option<State>> {
        self.hold(has_changes).map(|begun| begun.state)
    }

    fn release(&mut self) {
        self.right = None;
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        let is_checked = self.hold(true)?.is_new || self.is_new;
        if !is_checked && !self.has_known_state()? {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        self.guarded(|store| store.commit_guarded(state))
    }

    fn compact(&mut self, state: &State) -> Result<()> {
        self.compactions.begin();
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
        let (live, end) = (self.places.live.clone(), self.readable_end());
        Ok(Arc::new(Self {
            access: self.access.share(),
            base: self.base,
            settings: self.settings,
            header: self.header.clone(),
            trailer: self.trailer.clone(),
            index: self.index.share(),
            hashes: self.snapshot_of_hashes(with_hashes)?,
            tail: Tail::new(end),
            limit: end,
            places: Places::opened(live, end, self.index.len() > 0, Room::default()),
            slots: None,
            history: History::Opened,
            mark: Mark::Foreign,
            fresh: HashSet::new(),
            cbytes: self.cbytes,
            foreign: self.foreign,
            is_new: false,
            is_settled: true,
            is_poisoned: false,
            is_header_known: true,
            unhealed: None,
            right: None,
            compactions: self.compactions.clone(),
        }))
    }
}
