//! Locks between processes, as the reference takes them: a file beside the frame, locked shared or
//! exclusively, with a counter that every exclusive lock moves on.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | 0 |
//! | 8..16 | the counter, in the byte order of the machine |

use crate::error::{Result, bail, error};
use crate::frame::store::sparse::INDEX_NAME;
use crate::storage::{FileStorage, ReadAt, SharedLock, Storage, open_sidecar};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is appended to the name of a file, and is the whole name in a directory.
const SUFFIX: &str = ".b2lock";
const COUNTER_AT: u64 = 8;
const COUNTER_LEN: usize = 8;
/// The pause between two attempts to get a lock.
const PAUSE: Duration = Duration::from_millis(2);

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::frame) enum Hold {
    /// With other readers.
    Shared,
    /// Alone.
    Exclusive,
}

/// The file beside a frame.
#[derive(Debug)]
pub(in crate::frame) struct LockFile {
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
    pub(in crate::frame) fn open(path: &Path, timeout: Option<Duration>) -> Result<Self> {
        let frame = if path.is_dir() { path.join(INDEX_NAME) } else { path.to_owned() };
        let path = lock_path(path);
        let handle = open_sidecar(&path, &frame).map_err(|cause| at_path(&path, cause))?;
        let file = handle.try_clone().map_err(|cause| at_path(&path, cause))?.into();
        Ok(Self { file, handle, path, timeout, held: None, known: 0, current: 0 })
    }

    /// Notes that the frame has another path now, and this file with it.
    pub(in crate::frame) fn moved_with(&mut self, frame: &Path) {
        self.path = lock_path(frame);
    }

    pub(in crate::frame) fn is_held(&self, hold: Hold) -> bool {
        self.held == Some(hold) || self.held == Some(Hold::Exclusive)
    }

    /// Waits for the lock; whether others had it exclusively since [`catch_up`](Self::catch_up).
    pub(in crate::frame) fn acquire(&mut self, hold: Hold) -> Result<bool> {
        if !self.is_held(hold) {
            // Changing the kind of a lock lets others in between, too, and can deadlock on some
            // systems.
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

    /// Reads the counter, increments it for an exclusive lock, and returns whether others have
    /// changed it.
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
    pub(in crate::frame) fn catch_up(&mut self) {
        self.known = self.current;
    }

    pub(in crate::frame) fn release(&mut self) {
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

/// Waits until nobody changes the frame at `path`.
pub(in crate::frame) fn wait_for_shared(path: &Path, timeout: Option<Duration>) -> Result<SharedLock> {
    let mut file = LockFile::open(path, timeout)?;
    file.acquire(Hold::Shared)?;
    Ok(SharedLock::new(file))
}

impl Drop for LockFile {
    fn drop(&mut self) {
        self.release();
    }
}
