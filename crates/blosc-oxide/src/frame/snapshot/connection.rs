//! What all snapshots and edits of one opening share: the location, and whose turn it is to edit.

use crate::error::{AtPath, Result, bail};
use crate::exec::lock;
use crate::frame::lock::LockFile;
use crate::frame::open_options::OpenOptions;
use crate::frame::options::Settings;
use crate::frame::store::contiguous::{Access, Contiguous, Overwrites};
use crate::frame::store::sparse::Sparse;
use crate::schunk::{PublishChunks, ReadChunks, State, Store, SuperChunk};
use crate::storage::{Directory, FileDirectory, FileIdentity, FileStorage, Location};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Instant;

/// Shared by all snapshots and edits that come from one opening.
pub(crate) struct Connection {
    location: Location,
    options: OpenOptions,
    turn: Mutex<Turn>,
    /// An edit has ended.
    freed: Condvar,
    opened: Mutex<OpenedFile>,
}

/// The file that was opened last at a path, which another one can have taken the place of.
#[derive(Default)]
struct OpenedFile {
    identity: Option<FileIdentity>,
    overwrites: Arc<Overwrites>,
}

/// Whose turn it is to edit.
#[derive(Default)]
struct Turn {
    is_taken: bool,
    /// What the last edit leaves to the next, which need not read it again.
    left: Leftover,
    /// The newest known state, as long as a snapshot of it is in use.
    newest: Weak<SuperChunk>,
    /// The newest state of a frame in memory, which is stored nowhere else.
    kept: Option<Arc<SuperChunk>>,
}

/// What an edit leaves to the next one.
#[derive(Default)]
pub(in crate::frame) struct Leftover {
    /// The super-chunk that has been edited; it may have become out of date.
    pub(in crate::frame) editor: Option<SuperChunk>,
    /// The file that processes lock, if they do.
    pub(in crate::frame) lock: Option<LockFile>,
}

impl Connection {
    pub(in crate::frame) fn new(location: Location, options: OpenOptions) -> Arc<Self> {
        Arc::new(Self { location, options, turn: Mutex::default(), freed: Condvar::new(), opened: Mutex::default() })
    }

    pub(in crate::frame) fn options(&self) -> &OpenOptions {
        &self.options
    }

    pub(in crate::frame) fn location(&self) -> &Location {
        &self.location
    }

    /// The path, where the frame has one.
    pub(in crate::frame) fn path(&self) -> Option<&Path> {
        if let Location::Path(path) = &self.location { Some(path) } else { None }
    }

    /// The same result, with an error that names the path.
    pub(crate) fn named<T>(&self, result: Result<T>) -> Result<T> {
        match self.path() {
            Some(path) => result.at_path(path),
            None => result,
        }
    }

    /// What the stores on the opened storage share.
    pub(in crate::frame) fn overwrites(&self) -> Arc<Overwrites> {
        Arc::clone(&lock(&self.opened).overwrites)
    }

    /// The same for a file; those on another file have nothing to do with it.
    fn overwrites_of(&self, file: &FileStorage) -> Result<Arc<Overwrites>> {
        let identity = file.identity()?;
        let mut opened = lock(&self.opened);
        if opened.identity.is_none() || opened.identity != identity {
            *opened = OpenedFile { identity, overwrites: Arc::default() };
        }
        Ok(Arc::clone(&opened.overwrites))
    }

    /// Notes which file has been made.
    pub(in crate::frame) fn set_created(&self, file: Option<FileIdentity>) {
        lock(&self.opened).identity = file;
    }

    /// Waits until no edit of this opening is in progress. Whoever takes the turn must end it.
    pub(in crate::frame) fn take_turn(&self, deadline: Option<Instant>) -> Result<Leftover> {
        let mut turn = lock(&self.turn);
        while turn.is_taken {
            let Some(deadline) = deadline else {
                turn = self.freed.wait(turn).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!(Locked, "another edit of the frame has not ended in time");
            }
            turn = self.freed.wait_timeout(turn, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        turn.is_taken = true;
        Ok(std::mem::take(&mut turn.left))
    }

    /// Takes the turn of a new frame, which nobody else knows of.
    pub(in crate::frame) fn take_first_turn(&self) {
        lock(&self.turn).is_taken = true;
    }

    /// Ends a turn.
    pub(in crate::frame) fn give_turn(&self, left: Leftover) {
        let mut turn = lock(&self.turn);
        turn.left = left;
        turn.is_taken = false;
        self.freed.notify_one();
    }

    /// Notes what was committed last.
    pub(in crate::frame) fn set_newest(&self, newest: Arc<SuperChunk>) {
        let mut turn = lock(&self.turn);
        turn.newest = Arc::downgrade(&newest);
        turn.kept = matches!(self.location, Location::Memory).then_some(newest);
    }

    /// The newest known state.
    pub(in crate::frame) fn newest(&self) -> Option<Arc<SuperChunk>> {
        lock(&self.turn).newest.upgrade()
    }

    /// Reads the newest state.
    pub(in crate::frame) fn open_reader(&self) -> Result<SuperChunk> {
        let settings = Settings::of(&self.options);
        let (store, state): (Arc<dyn ReadChunks>, State) = match &self.location {
            Location::Path(path) if path.is_dir() => shared(sparse(FileDirectory::new(path), false, settings)?),
            Location::Path(path) => {
                let file = FileStorage::open(path)?;
                let overwrites = self.overwrites_of(&file)?;
                shared(Contiguous::open(Access::Read(Arc::new(file)), 0, settings, &overwrites)?)
            }
            Location::Storage(storage) => {
                let access = Access::Read(Arc::clone(storage) as _);
                shared(Contiguous::open(access, 0, settings, &self.overwrites())?)
            }
            Location::Directory(directory) => shared(Sparse::open(Arc::clone(directory), false, settings)?),
            Location::Source { source, offset } => {
                shared(Contiguous::open(Access::Read(Arc::clone(source)), *offset, settings, &self.overwrites())?)
            }
            Location::Memory => bail!(InvalidArgument, "there is nothing in memory to be opened"),
        };
        self.super_chunk(Store::Shared(store), state)
    }

    /// Reads the newest state, to change it.
    pub(in crate::frame) fn open_editor(&self) -> Result<SuperChunk> {
        let settings = Settings::of(&self.options);
        let (store, state): (Box<dyn PublishChunks>, State) = match &self.location {
            Location::Path(path) if path.is_dir() => owned(sparse(FileDirectory::new(path), true, settings)?),
            Location::Path(path) => {
                let file = FileStorage::open_writable(path)?;
                let overwrites = self.overwrites_of(&file)?;
                owned(Contiguous::open(Access::Write(Arc::new(file)), 0, settings, &overwrites)?)
            }
            Location::Storage(storage) => {
                owned(Contiguous::open(Access::Write(Arc::clone(storage)), 0, settings, &self.overwrites())?)
            }
            Location::Directory(directory) => owned(Sparse::open(Arc::clone(directory), true, settings)?),
            Location::Source { .. } => bail!(InvalidArgument, "what the frame is in can only be read"),
            Location::Memory => match self.newest().and_then(|newest| newest.fork()) {
                Some(fork) => return Ok(fork),
                None => bail!(InvalidArgument, "there is nothing in memory to be edited"),
            },
        };
        self.super_chunk(Store::Own(store), state)
    }

    fn super_chunk(&self, store: Store, state: State) -> Result<SuperChunk> {
        let chunks = state.options(&self.options.chunks());
        let mut sc = SuperChunk::with_store(state, store, chunks, self.options.limits());
        sc = sc.with_untold_bitshuffle(self.options.bitshuffle());
        if self.options.check_on_read() {
            sc.store().fetch_hashes()?;
            sc.start_checking();
        }
        Ok(sc)
    }
}

fn sparse(directory: impl Directory + 'static, can_write: bool, settings: Settings) -> Result<(Sparse, State)> {
    Sparse::open(Arc::new(directory), can_write, settings)
}

fn shared((store, state): (impl ReadChunks + 'static, State)) -> (Arc<dyn ReadChunks>, State) {
    (Arc::new(store), state)
}

fn owned((store, state): (impl PublishChunks + 'static, State)) -> (Box<dyn PublishChunks>, State) {
    (Box::new(store), state)
}
