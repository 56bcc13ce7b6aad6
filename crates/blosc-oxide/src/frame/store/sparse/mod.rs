//! A frame in a directory: a file for each chunk, and one for header, index and trailer.
//!
//! Files are never changed once they count. A commit writes the new index beside the old one and
//! lets the two change names.

mod commit;
mod numbers;

pub(in crate::frame) use numbers::{file_name, file_number};

use crate::chunk::{Header, Special};
use crate::error::{ErrorKind, Result, bail, error};
use crate::exec::lock;
use crate::frame::format::hashes::{Hashes, UNKNOWN};
use crate::frame::format::index::{Entry, Index};
use crate::frame::format::trailer::Trailer;
use crate::frame::options::Settings;
use crate::frame::read::load::{self, Loaded};
use crate::frame::store::committed::{
    CHANGED_MEANWHILE, COMPACTED_MEANWHILE, CommittedState, OWNED_BY_ANOTHER, REMOVED_MEANWHILE,
};
use crate::frame::store::splice;
use crate::schunk::{Facts, Foreign, PublishChunks, ReadChunks, Slot, StageChunks, Staged, State, hash_of_chunk};
use crate::storage::{Directory, DirectoryReader, Durability, ReadAt, WriteRight, read_exact};
use numbers::FreeNumbers;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::ErrorKind::{AlreadyExists, InvalidInput, NotFound};
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

/// The file with header, index and trailer.
pub(crate) const INDEX_NAME: &str = "chunks.b2frame";
pub(in crate::frame) const NEW_INDEX_NAME: &str = "chunks.b2frame.new";
const MIN_CHUNK: usize = 32;

/// The chunks of a sparse frame.
pub(in crate::frame) struct Sparse {
    directory: Arc<dyn Directory>,
    can_write: bool,
    settings: Settings,
    /// As they were committed last.
    header: Vec<u8>,
    trailer: Trailer,
    index: Index,
    hashes: Option<Hashes>,
    /// The numbers that a new file can have.
    free: FreeNumbers,
    /// The files that have been written since the last commit and that the index names.
    fresh: BTreeSet<u64>,
    /// The files that a committed index names or has named, and the one with all changes does not;
    /// each with the number of the commit that has superseded it or is going to.
    dropped: Vec<(u64, u64)>,
    /// How many commits there were.
    commits: u64,
    /// The snapshots that there are, each with the number of its commit.
    snapshots: Mutex<Vec<(u64, Weak<()>)>>,
    /// Marks this as a snapshot for the others until it is dropped.
    _token: Arc<()>,
    /// Whether several chunks may be in one file; none is removed then.
    is_shared: bool,
    /// What the used files hold together.
    cbytes: u64,
    foreign: Foreign,
    /// The file that was read last: a chunk is read in several parts.
    recent: Mutex<Option<(u64, Arc<dyn ReadAt>)>>,
    /// The committed index; where it is not known, it cannot be put back if the file system has no
    /// exchange of names.
    index_file: Option<Box<dyn ReadAt>>,
    /// Registers this and its snapshots as readers of the directory.
    reader: Arc<dyn DirectoryReader>,
    /// The right to change the frame, as long as it is being edited.
    right: Option<WriteRight>,
    /// Whether all names that have been found survive a loss of power.
    is_settled: bool,
    is_poisoned: bool,
}

impl Sparse {
    /// Begins a frame in an empty directory: there is none before the first commit.
    pub(in crate::frame) fn begin_new(directory: Arc<dyn Directory>, settings: Settings) -> Result<Self> {
        let reader = Arc::from(directory.reader().map_err(|cause| at_file(INDEX_NAME, cause))?);
        let store = Self {
            directory,
            can_write: true,
            settings,
            header: Vec::new(),
            trailer: Trailer::default(),
            index: Index::new(),
            hashes: settings.checksums.then(Hashes::default),
            free: FreeNumbers::default(),
            fresh: BTreeSet::new(),
            dropped: Vec::new(),
            commits: 0,
            snapshots: Mutex::default(),
            _token: Arc::default(),
            is_shared: false,
            cbytes: 0,
            foreign: Foreign::default(),
            recent: Mutex::default(),
            index_file: None,
            reader,
            right: None,
            is_settled: true,
            is_poisoned: false,
        };
        if store.directory.open(INDEX_NAME).is_ok() {
            bail!(InvalidArgument, "a frame is to be made where there is one already");
        }
        Ok(store)
    }

    /// Reads the index.
    pub(in crate::frame) fn open(
        directory: Arc<dyn Directory>,
        can_write: bool,
        settings: Settings,
    ) -> Result<(Self, State)> {
        // Others must see the reader before it reads what they may replace.
        let reader = Arc::from(directory.reader().map_err(|cause| at_file(INDEX_NAME, cause))?);
        let source = directory.open(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        let opened = load::load(&*source, 0, settings.limits)?;
        if !opened.extent.is_sparse {
            bail!(Corrupt, "frame: {INDEX_NAME} says that its chunks are in itself");
        }
        if can_write {
            directory.keep_permissions_of(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        }
        let Loaded { extent, state, index, header, trailer, integrity, .. } = opened;
        let foreign = integrity.foreign();
        let hashes = match (integrity.hashes, integrity.verdict) {
            (Some(stored), Some(_)) => Some(stored.load(&*source, 0, index.len(), settings.limits)?),
            _ if integrity.has_hashes => Some(Hashes::unknown_to(can_write, index.len())),
            _ => None,
        };
        let files = if can_write { index.offsets()?.collect() } else { BTreeSet::new() };
        let is_shared = can_write && files.len() < index.stored()?;
        let cbytes = extent.section_len;
        let store = Self {
            directory,
            can_write,
            settings,
            header,
            trailer,
            index,
            hashes,
            free: FreeNumbers::besides(&files),
            fresh: BTreeSet::new(),
            dropped: Vec::new(),
            commits: 0,
            snapshots: Mutex::default(),
            _token: Arc::default(),
            is_shared,
            cbytes,
            foreign,
            recent: Mutex::default(),
            index_file: can_write.then_some(source),
            reader,
            right: None,
            is_settled: false,
            is_poisoned: false,
        };
        Ok((store, state))
    }

    fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        let result = action(self);
        self.is_poisoned = matches!(&result, Err(error) if error.kind() == ErrorKind::Io);
        if self.is_poisoned {
            self.remove_fresh();
        }
        result
    }

    fn check_writable(&self) -> Result<()> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        if !self.can_write {
            bail!(InvalidArgument, "the frame is open for reading only");
        }
        Ok(())
    }

    /// Removes what was written since the last commit and will never count.
    fn remove_fresh(&mut self) {
        for &file in &self.fresh {
            // A file that stays does no harm, and a failure that led here is what the caller is
            // told.
            let _ = self.directory.remove(&file_name(file));
        }
    }

    fn is_durable(&self) -> bool {
        self.settings.durability == Durability::Fsync
    }

    /// Writes a file of its own for a chunk; its entry and its hash.
    fn store(&mut self, bytes: &[u8]) -> Result<(Entry, u64)> {
        if bytes.len() < MIN_CHUNK {
            bail!(InvalidArgument, "a frame takes chunks of {MIN_CHUNK} bytes or more, this has {}", bytes.len());
        }
        let file = self.guarded(|store| store.write_chunk(bytes))?;
        self.fresh.insert(file);
        self.cbytes += bytes.len() as u64;
        Ok((Entry::At(file), if self.hashes.is_some() { hash_of_chunk(bytes) } else { UNKNOWN }))
    }

    /// Makes the names survive that another process has given before it was killed: an index that
    /// is only in the memory of the system may give way to an older one, whose files must still be
    /// there.
    fn settle(&mut self) -> Result<()> {
        if !self.is_settled && self.is_durable() {
            self.directory.sync()?;
        }
        self.is_settled = true;
        Ok(())
    }

    /// Writes a new file and returns its number. An existing file is left alone: it may be in use
    /// by a reader.
    fn write_chunk(&mut self, bytes: &[u8]) -> Result<u64> {
        self.settle()?;
        self.forget_recent();
        let (name, file, created) = loop {
            let file = self.free.take();
            let name = file_name(file);
            match self.directory.create_new(&name) {
                Err(cause) if cause.kind() == AlreadyExists => {}
                created => break (name, file, created),
            }
        };
        let written = created.and_then(|file| {
            file.write_at(0, bytes)?;
            if self.is_durable() { file.sync() } else { Ok(()) }
        });
        match written {
            Ok(()) => Ok(file),
            Err(cause) => {
                // Half a file is no use to anybody; that it cannot be removed either is not the
                // news.
                let _ = self.directory.remove(&name);
                Err(at_file(&name, cause))
            }
        }
    }

    /// What the file of a chunk holds; nothing if there is none.
    fn stored_len(&self, entry: Entry) -> Result<u64> {
        let Entry::At(file) = entry else { return Ok(0) };
        let name = file_name(file);
        match self.directory.open(&name).and_then(|file| file.len()) {
            Ok(len) => Ok(len),
            Err(cause) if cause.kind() == NotFound => Ok(0),
            Err(cause) => Err(at_file(&name, cause)),
        }
    }

    /// Whether the index is still the one that was committed or found here last.
    fn has_known_state(&self) -> Result<bool> {
        let source = self.directory.open(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        let (header, index, trailer) = (&self.header[..], self.index.committed(), &self.trailer);
        let end = (header.len() + self.index_len() + trailer.len()) as u64;
        CommittedState { header, index, index_at: header.len() as u64, trailer, end }.is_stored_in(&*source, 0)
    }

    /// Reloads if another process has committed, now that none can; returns the new state if so.
    fn catch_up(&mut self, has_changes: bool) -> Result<Option<State>> {
        if self.has_known_state()? {
            return Ok(None);
        }
        if has_changes {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        self.open_again().map(Some)
    }

    /// Becomes what is in the directory now.
    fn open_again(&mut self) -> Result<State> {
        let (store, state) = Self::open(Arc::clone(&self.directory), self.can_write, self.settings)?;
        *self = Self { right: self.right.take(), ..store };
        Ok(state)
    }

    /// A number may stand for another file from now on.
    fn forget_recent(&mut self) {
        *lock(&self.recent) = None;
    }

    fn open_chunk(&self, index: usize) -> Result<(String, Arc<dyn ReadAt>)> {
        let file = match self.index.entry(index)? {
            Entry::At(file) => file,
            entry => bail!(InvalidArgument, "chunk {index} is not stored, it is {entry:?}"),
        };
        if self.is_poisoned && self.fresh.contains(&file) {
            // It has been removed.
            self.check_writable()?;
        }
        let name = file_name(file);
        if let Some((number, source)) = &*lock(&self.recent)
            && *number == file
        {
            return Ok((name, Arc::clone(source)));
        }
        let opened = self.directory.open(&name).map_err(|cause| {
            if cause.kind() != NotFound {
                return at_chunk_file(&name, cause);
            }
            match self.has_known_state() {
                Ok(false) => error!(Conflict, "{name}: {COMPACTED_MEANWHILE}"),
                // Who takes a frame away begins with the index.
                Err(error) if is_not_found(&error) => error!(Conflict, "{name}: {REMOVED_MEANWHILE}"),
                _ => at_chunk_file(&name, cause),
            }
        });
        let source: Arc<dyn ReadAt> = opened?.into();
        *lock(&self.recent) = Some((file, Arc::clone(&source)));
        Ok((name, source))
    }

    fn entry(&self, index: usize) -> Result<Entry> {
        self.index.entry(index)
    }
}

fn is_not_found(error: &crate::error::Error) -> bool {
    error.io_error().is_some_and(|cause| cause.kind() == NotFound)
}

fn at_file(name: &str, cause: std::io::Error) -> crate::error::Error {
    error!(Io, "{name}: {cause}").with_source(cause)
}

/// Why the file of a chunk cannot be opened. That a frame is without one of its files is damage,
/// and no fault of the disk.
fn at_chunk_file(name: &str, cause: std::io::Error) -> crate::error::Error {
    if cause.kind() == NotFound {
        return error!(Corrupt, "{name}: its file is not there").with_source(cause);
    }
    if cause.kind() == InvalidInput {
        return error!(Corrupt, "{name}: {cause}").with_source(cause);
    }
    at_file(name, cause)
}

impl Sparse {
    /// Acquires the right to change the frame, and reloads if another process has committed;
    /// returns whether the right is new, and the new state.
    fn acquire(&mut self, has_changes: bool) -> Result<(bool, Option<State>)> {
        self.check_writable()?;
        if self.right.is_some() || self.header.is_empty() {
            return Ok((false, None));
        }
        self.right = self.directory.own(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        if self.right.is_none() {
            bail!(Locked, "{OWNED_BY_ANOTHER}");
        }
        match self.catch_up(has_changes) {
            Ok(state) => Ok((true, state)),
            Err(error) => {
                self.right = None;
                Err(error)
            }
        }
    }
}

impl ReadChunks for Sparse {
    fn nchunks(&self) -> usize {
        self.index.len()
    }

    fn cbytes(&self) -> u64 {
        self.cbytes
    }

    fn slot(&self, index: usize) -> Result<Slot> {
        self.entry(index).map(Entry::slot)
    }

    fn run(&self, index: usize) -> Result<(Slot, usize)> {
        self.index.run(index).map(|(entry, end)| (entry.slot(), end))
    }

    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let (name, source) = self.open_chunk(index)?;
        let there = source.len().map_err(|cause| at_file(&name, cause))?;
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        if out.len() < len {
            out.resize(len, 0);
        }
        read_exact(&*source, 0, &mut out[..len], &name)?;
        Ok(len)
    }

    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()> {
        let (name, source) = self.open_chunk(index)?;
        read_exact(&*source, position as u64, out, &name)
    }

    fn read(&self, index: usize) -> Result<Cow<'_, [u8]>> {
        let (name, source) = self.open_chunk(index)?;
        let mut head = [0; MIN_CHUNK];
        read_exact(&*source, 0, &mut head, &name)?;
        let header = Header::parse(&head)?;
        let there = source.len().map_err(|cause| at_file(&name, cause))?;
        if header.cbytes() as u64 > there {
            bail!(Truncated, "{name}: the chunk has {} bytes, {there} are there", header.cbytes());
        }
        self.settings.limits.check("a chunk", header.cbytes())?;
        let mut out = vec![0; header.cbytes()];
        read_exact(&*source, 0, &mut out, &name)?;
        Ok(Cow::Owned(out))
    }

    fn position(&self, index: usize) -> Result<Option<u64>> {
        self.entry(index).map(Entry::offset)
    }

    fn hash(&self, index: usize) -> Option<u64> {
        self.hashes.as_ref()?.get(index)
    }

    fn is_current(&self) -> Result<bool> {
        self.has_known_state()
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            header: &self.header,
            source: None,
            foreign: self.foreign,
            has_hashes: self.hashes.is_some(),
            min_chunk: MIN_CHUNK,
            chunk_space: 0,
            memory: None,
        }
    }
}

impl StageChunks for Sparse {
    fn stage(&mut self, chunk: Cow<'_, [u8]>) -> Result<Staged> {
        self.store(&chunk).map(|(entry, hash)| entry.staged(hash))
    }

    fn insert_specials(&mut self, index: usize, special: Special, count: usize) -> Result<()> {
        self.index.insert_run(index, Entry::Special(special), count)?;
        if let Some(hashes) = &mut self.hashes {
            hashes.insert_unknown(index, count);
        }
        Ok(())
    }

    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>> {
        splice::splice(range, chunks, &mut self.index, self.hashes.as_mut())
    }

    fn unstage(&mut self, staged: Staged) -> Result<()> {
        let Staged::At { entry: file, .. } = staged else { return Ok(()) };
        let len = self.stored_len(Entry::At(file)).unwrap_or_default();
        self.cbytes = self.cbytes.saturating_sub(len);
        if self.fresh.remove(&file) {
            self.remove_file(file);
        } else if !self.is_shared {
            // The committed index names it.
            self.dropped.push((self.commits + 1, file));
        }
        Ok(())
    }
}

impl PublishChunks for Sparse {
    fn begin(&mut self, has_changes: bool) -> Result<Option<State>> {
        self.acquire(has_changes).map(|(_, state)| state)
    }

    fn release(&mut self) {
        self.right = None;
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        let is_checked = self.acquire(true)?.0 || self.header.is_empty();
        if !is_checked && !self.has_known_state()? {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        self.guarded(|store| store.commit_guarded(state))
    }

    /// Removes files that nothing names: what a crash left behind.
    fn compact(&mut self, _state: &State) -> Result<()> {
        self.guarded(|store| {
            store.settle()?;
            let known: BTreeSet<String> = store.index.offsets()?.map(file_name).collect();
            for name in store.directory.names()? {
                let is_ours = name == NEW_INDEX_NAME || file_number(&name).is_some();
                if is_ours && !known.contains(&name) {
                    store.directory.remove(&name).map_err(|cause| at_file(&name, cause))?;
                }
            }
            Ok(())
        })
    }

    fn abandon(&mut self) {
        self.remove_fresh();
    }

    fn snapshot(&self, _with_hashes: bool) -> Result<Arc<dyn ReadChunks>> {
        let token = Arc::default();
        lock(&self.snapshots).push((self.commits, Arc::downgrade(&token)));
        Ok(Arc::new(Self {
            directory: Arc::clone(&self.directory),
            can_write: false,
            settings: self.settings,
            header: self.header.clone(),
            trailer: self.trailer.clone(),
            index: self.index.share(),
            hashes: self.hashes.as_ref().map(Hashes::copy),
            free: FreeNumbers::default(),
            fresh: BTreeSet::new(),
            dropped: Vec::new(),
            commits: self.commits,
            snapshots: Mutex::default(),
            _token: token,
            is_shared: self.is_shared,
            cbytes: self.cbytes,
            foreign: self.foreign,
            recent: Mutex::default(),
            index_file: None,
            reader: Arc::clone(&self.reader),
            right: None,
            is_settled: true,
            is_poisoned: false,
        }))
    }
}
