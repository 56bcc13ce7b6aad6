//! Where a frame is, and who is editing it: what all snapshots and edits of one opening share.

use super::contiguous::{Access, Contiguous};
use super::lock::LockFile;
use super::open;
use super::open_options::OpenOptions;
use super::options::Settings;
use super::sparse::Sparse;
use crate::error::{AtPath, Result, bail};
use crate::exec::lock;
use crate::schunk::{PublishChunks, ReadChunks, State, Store, SuperChunk};
use crate::storage::{Directory, FileDirectory, FileStorage, Location};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Instant;

/// What all snapshots and edits of a frame share that come from one opening.
pub(crate) struct Origin {
    location: Location,
    options: OpenOptions,
    turn: Mutex<Turn>,
    /// An edit has ended.
    freed: Condvar,
}

/// Who may edit.
#[derive(Default)]
struct Turn {
    is_taken: bool,
    /// What the last edit leaves to the next, so that it need not read again what it knows.
    left: Left,
    /// What has been committed last, as far as is known here and somebody still reads it.
    newest: Weak<SuperChunk>,
    /// The same in memory, where it is nowhere else.
    kept: Option<Arc<SuperChunk>>,
}

/// What an edit leaves to the next one.
#[derive(Default)]
pub(super) struct Left {
    /// The super-chunk that has been edited; it may have become out of date.
    pub(super) editor: Option<SuperChunk>,
    /// The file that processes lock, if they do.
    pub(super) lock: Option<LockFile>,
}

impl Origin {
    pub(super) fn new(location: Location, options: OpenOptions) -> Arc<Self> {
        Arc::new(Self { location, options, turn: Mutex::default(), freed: Condvar::new() })
    }

    pub(super) fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// The path, where the frame has one.
    pub(super) fn path(&self) -> Option<&Path> {
        if let Location::Path(path) = &self.location { Some(path) } else { None }
    }

    /// The same result, with an error that names the path.
    pub(crate) fn named<T>(&self, result: Result<T>) -> Result<T> {
        match self.path() {
            Some(path) => result.at_path(path),
            None => result,
        }
    }

    /// Waits until nobody edits what comes from the same opening. Who has the turn gives it back.
    pub(super) fn take_turn(&self, deadline: Option<Instant>) -> Result<Left> {
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

    /// Takes the turn of something that is being made, and that nobody else knows of.
    pub(super) fn take_first_turn(&self) {
        lock(&self.turn).is_taken = true;
    }

    /// Ends a turn.
    pub(super) fn give_turn(&self, left: Left) {
        let mut turn = lock(&self.turn);
        turn.left = left;
        turn.is_taken = false;
        self.freed.notify_one();
    }

    /// Takes notice of what has been committed.
    pub(super) fn set_newest(&self, newest: Arc<SuperChunk>) {
        let mut turn = lock(&self.turn);
        turn.newest = Arc::downgrade(&newest);
        turn.kept = matches!(self.location, Location::Memory).then_some(newest);
    }

    /// What has been committed last, as far as is known here.
    pub(super) fn newest(&self) -> Option<Arc<SuperChunk>> {
        lock(&self.turn).newest.upgrade()
    }

    /// Reads the newest state.
    pub(super) fn open_reader(&self) -> Result<SuperChunk> {
        let settings = Settings::of(&self.options);
        let (store, state): (Arc<dyn ReadChunks>, State) = match &self.location {
            Location::Path(path) if path.is_dir() => shared(sparse(FileDirectory::new(path), false, settings)?),
            Location::Path(path) => shared(contiguous(Access::Read(Arc::new(FileStorage::open(path)?)), 0, settings)?),
            Location::Storage(storage) => shared(contiguous(Access::Read(Arc::clone(storage) as _), 0, settings)?),
            Location::Directory(directory) => shared(Sparse::open(Arc::clone(directory), false, settings)?),
            Location::Source { source, offset } => {
                shared(contiguous(Access::Read(Arc::clone(source)), *offset, settings)?)
            }
            Location::Memory => bail!(InvalidArgument, "there is nothing in memory to be opened"),
        };
        self.super_chunk(Store::Shared(store), state)
    }

    /// Reads the newest state, to change it.
    pub(super) fn open_editor(&self) -> Result<SuperChunk> {
        let settings = Settings::of(&self.options);
        let (store, state): (Box<dyn PublishChunks>, State) = match &self.location {
            Location::Path(path) if path.is_dir() => owned(sparse(FileDirectory::new(path), true, settings)?),
            Location::Path(path) => {
                owned(contiguous(Access::Write(Arc::new(FileStorage::open_writable(path)?)), 0, settings)?)
            }
            Location::Storage(storage) => owned(contiguous(Access::Write(Arc::clone(storage)), 0, settings)?),
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
            sc.compare_when_read();
        }
        Ok(sc)
    }
}

fn contiguous(access: Access, offset: u64, settings: Settings) -> Result<(Contiguous, State)> {
    let opened = open::open(access.as_read(), offset, settings.limits)?;
    if opened.extent.is_sparse {
        bail!(InvalidArgument, "this is the index of a sparse frame: open the directory that it is in");
    }
    Contiguous::open(access, offset, opened, settings)
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
