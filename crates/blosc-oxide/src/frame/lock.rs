//! Locks between processes, as the reference takes them: a file beside the frame, locked shared or exclusively, with a
//! counter that every exclusive lock moves on.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | 0 |
//! | 8..16 | the counter, in the byte order of the machine |

use super::known::CHANGED_MEANWHILE;
use super::options::FrameOptions;
use super::sparse::INDEX_NAME;
use crate::chunk::Special;
use crate::error::{Result, bail, error};
use crate::schunk::{Begun, ChunkStore, Foreign, Slot, Staged, State};
use crate::storage::{FileStorage, ReadAt, Storage, open_sidecar};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is appended to the name of a file, and is the whole name in a directory.
const SUFFIX: &str = ".b2lock";
const COUNTER_AT: u64 = 8;
const COUNTER_LEN: usize = 8;
/// How often a lock is asked for again by somebody who waits for a limited time.
const PAUSE: Duration = Duration::from_millis(2);

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// With others who only read.
    Shared,
    /// Alone.
    Exclusive,
}

/// The file beside a frame.
#[derive(Debug)]
pub(super) struct LockFile {
    file: FileStorage,
    handle: File,
    path: PathBuf,
    /// How long to wait for others; `None` for as long as it takes.
    timeout: Option<Duration>,
    held: Option<Hold>,
    /// The counter when what is known of the frame was read, or when it was last changed by us.
    known: u64,
    /// The counter now, while the lock is held.
    current: u64,
}

impl LockFile {
    /// The file that belongs to the frame at `path`; it is made if it is not there.
    pub(super) fn open(path: &Path, timeout: Option<Duration>) -> Result<Self> {
        let frame = if path.is_dir() { path.join(INDEX_NAME) } else { path.to_owned() };
        let path = lock_path(path);
        let handle = open_sidecar(&path, &frame).map_err(|cause| at_path(&path, cause))?;
        let file = handle.try_clone().map_err(|cause| at_path(&path, cause))?.into();
        Ok(Self { file, handle, path, timeout, held: None, known: 0, current: 0 })
    }

    pub(super) fn is_held(&self, hold: Hold) -> bool {
        self.held == Some(hold) || self.held == Some(Hold::Exclusive)
    }

    /// Waits for the lock; whether others had it exclusively since [`catch_up`](Self::catch_up).
    pub(super) fn acquire(&mut self, hold: Hold) -> Result<bool> {
        if !self.is_held(hold) {
            // Changing the kind of a lock lets others in between, too, and can deadlock on some systems.
            self.release();
            self.wait(hold)?;
            self.held = Some(hold);
            let counted = self.count(hold).map_err(|cause| at_path(&self.path, cause));
            if counted.is_err() {
                self.release();
            }
            return counted;
        }
        Ok(false)
    }

    /// Notes the counter, moves it on if need be, and tells whether others have moved it.
    #[expect(clippy::host_endian_bytes, reason = "it is shared by the processes of one machine, C-Blosc2 among them")]
    fn count(&mut self, hold: Hold) -> io::Result<bool> {
        let mut bytes = [0; COUNTER_LEN];
        match self.file.read_at(COUNTER_AT, &mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            // Nobody had it exclusively yet.
            _ => {}
        }
        let found = u64::from_ne_bytes(bytes);
        self.current = found;
        if hold == Hold::Exclusive {
            self.current = found.wrapping_add(1);
            self.file.write_at(COUNTER_AT, &self.current.to_ne_bytes())?;
        }
        Ok(found != self.known)
    }

    /// What is known of the frame is what is there now.
    pub(super) fn catch_up(&mut self) {
        self.known = self.current;
    }

    pub(super) fn release(&mut self) {
        if self.held.take().is_some() {
            // It cannot fail for a file that is open, and closing it does the same.
            let _ = self.handle.unlock();
        }
    }

    fn wait(&self, hold: Hold) -> Result<()> {
        let Some(timeout) = self.timeout else {
            let locked = match hold {
                Hold::Shared => self.handle.lock_shared(),
                Hold::Exclusive => self.handle.lock(),
            };
            return locked.map_err(|cause| at_path(&self.path, cause));
        };
        let start = Instant::now();
        loop {
            let tried = match hold {
                Hold::Shared => self.handle.try_lock_shared(),
                Hold::Exclusive => self.handle.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(cause)) => return Err(at_path(&self.path, cause)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= timeout => {
                    bail!(Locked, "{}: another process has had the lock for {timeout:?}", self.path.display());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE.min(timeout)),
            }
        }
    }
}

fn lock_path(frame: &Path) -> PathBuf {
    if frame.is_dir() {
        return frame.join(SUFFIX);
    }
    let mut path = OsString::from(frame);
    path.push(SUFFIX);
    path.into()
}

fn at_path(path: &Path, cause: io::Error) -> crate::error::Error {
    error!(Io, "{}: {cause}", path.display()).with_source(cause)
}

/// Opens the frame anew.
pub(super) type Reopen = Box<dyn Fn() -> Result<(Box<dyn ChunkStore>, State)> + Send + Sync>;

/// The chunks of a frame that several processes change.
///
/// The lock is held from the first change to the commit, so that nothing that is written can be in the way of others,
/// and a change is always one of what is there.
pub(super) struct LockedStore {
    inner: Box<dyn ChunkStore>,
    lock: LockFile,
    can_write: bool,
    reopen: Reopen,
}

impl LockedStore {
    /// Takes over a store that was opened while `lock` was held, and lets the lock go.
    pub(super) fn new(inner: Box<dyn ChunkStore>, mut lock: LockFile, can_write: bool, reopen: Reopen) -> Self {
        lock.catch_up();
        lock.release();
        Self { inner, lock, can_write, reopen }
    }

    /// Gets the lock and, if others have changed the frame, takes notice of that.
    fn hold(&mut self, hold: Hold, has_changes: bool) -> Result<Option<State>> {
        let is_stale = self.lock.acquire(hold)?;
        let state = if is_stale { self.catch_up(has_changes) } else { Ok(None) };
        match state {
            Ok(state) => {
                self.lock.catch_up();
                Ok(state)
            }
            Err(error) => {
                self.lock.release();
                Err(error)
            }
        }
    }

    fn catch_up(&mut self, has_changes: bool) -> Result<Option<State>> {
        if has_changes {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        if !self.can_write {
            return self.inner.reload();
        }
        let (store, state) = (self.reopen)()?;
        self.inner = store;
        Ok(Some(state))
    }
}

impl ChunkStore for LockedStore {
    fn begin(&mut self, has_changes: bool) -> Result<Begun> {
        if !self.can_write {
            bail!(InvalidArgument, "the frame is open for reading only");
        }
        if self.lock.is_held(Hold::Exclusive) {
            return Ok(Begun::default());
        }
        let state = self.hold(Hold::Exclusive, has_changes)?;
        // Those who do not lock may be changing it, too.
        match self.inner.begin(has_changes) {
            Ok(begun) => Ok(Begun { is_new: true, state: begun.state.or(state) }),
            Err(error) => {
                self.lock.release();
                Err(error)
            }
        }
    }

    fn share(&mut self, has_changes: bool) -> Result<Option<State>> {
        self.hold(Hold::Shared, has_changes)
    }

    fn release(&mut self) {
        self.inner.release();
        self.lock.release();
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        self.begin(true)?;
        self.inner.commit(state)
    }

    fn compact(&mut self, state: &State) -> Result<()> {
        self.begin(true)?;
        self.inner.compact(state)
    }

    fn rollback(&mut self) -> Result<State> {
        // Metalayers may have been changed without it, and others may be writing.
        self.lock.acquire(Hold::Shared)?;
        let state = self.inner.rollback();
        self.lock.catch_up();
        state
    }

    fn reload(&mut self) -> Result<Option<State>> {
        if self.lock.is_held(Hold::Shared) {
            // Nobody can have changed anything.
            return Ok(None);
        }
        let state = self.hold(Hold::Shared, false);
        self.lock.release();
        state
    }

    fn is_locking(&self) -> bool {
        true
    }

    fn nchunks(&self) -> usize {
        self.inner.nchunks()
    }

    fn cbytes(&self) -> u64 {
        self.inner.cbytes()
    }

    fn min_chunk(&self) -> usize {
        self.inner.min_chunk()
    }

    fn slot(&self, index: usize) -> Result<Slot> {
        self.inner.slot(index)
    }

    fn run(&self, index: usize) -> Result<(Slot, usize)> {
        self.inner.run(index)
    }

    fn foreign(&self) -> Foreign {
        self.inner.foreign()
    }

    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        self.inner.read_head(index, len, out)
    }

    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()> {
        self.inner.read_part(index, position, out)
    }

    fn read(&self, index: usize, out: &mut Vec<u8>) -> Result<()> {
        self.inner.read(index, out)
    }

    fn insert_specials(&mut self, index: usize, special: Special, count: usize) -> Result<()> {
        self.inner.insert_specials(index, special, count)
    }

    fn bytes(&self, index: usize) -> Option<&[u8]> {
        self.inner.bytes(index)
    }

    fn stage(&mut self, chunk: Cow<'_, [u8]>) -> Result<Staged> {
        self.inner.stage(chunk)
    }

    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>> {
        self.inner.splice(range, chunks)
    }

    fn unstage(&mut self, staged: Staged) -> Result<()> {
        self.inner.unstage(staged)
    }

    fn fetch_hashes(&mut self) -> Result<()> {
        self.inner.fetch_hashes()
    }

    fn hash(&self, index: usize) -> Option<u64> {
        self.inner.hash(index)
    }

    fn compare(&self, index: usize, bytes: &[u8]) -> Result<()> {
        self.inner.compare(index, bytes)
    }

    fn dead_bytes(&self) -> Result<u64> {
        self.inner.dead_bytes()
    }

    fn has_hashes(&self) -> bool {
        self.inner.has_hashes()
    }

    fn position(&self, index: usize) -> Result<Option<u64>> {
        self.inner.position(index)
    }

    fn header(&self) -> &[u8] {
        self.inner.header()
    }

    fn source(&self) -> Option<(&dyn ReadAt, u64)> {
        self.inner.source()
    }
}

/// Refuses options that a frame without a path cannot have.
pub(super) fn check_unlocked(options: &FrameOptions) -> Result<()> {
    if options.locking {
        bail!(InvalidArgument, "a frame is locked by a file beside it, for which it must have a path");
    }
    Ok(())
}
