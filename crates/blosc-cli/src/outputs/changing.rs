//! Files that are changed in place: by one process at a time, and all or nothing.

use crate::arguments::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::source::Opening;
use crate::process::progress::Progress;
use crate::store;
use blosc_oxide::{Frame, FrameEdit, OpenOptions, storage::FileStorage};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a program that locks the frame is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes `edit` of the frame at `path`: all that it does counts, or nothing if it fails.
pub(crate) fn change<T>(path: &Path, global: &Global, edit: impl FnOnce(&mut FrameEdit) -> Outcome<T>) -> Outcome<T> {
    settle(Frame::open_with(path, &options(path, global))?.edit()?, edit)
}

/// The same, and what is moved inside the frame is counted; not so where programs lock it, because
/// that takes a path.
pub(crate) fn change_shown<T>(
    path: &Path,
    progress: &Progress,
    global: &Global,
    edit: impl FnOnce(&mut FrameEdit) -> Outcome<T>,
) -> Outcome<T> {
    if path.is_dir() || lock_file(path).exists() {
        return change(path, global, edit);
    }
    let storage = progress.moving(FileStorage::open_writable(path)?);
    let options = Opening::new(global).options().with_lock_timeout(Duration::ZERO);
    settle(Frame::open_with(storage, &options)?.edit()?, edit)
}

/// Commits what `action` does; if it fails, dropping the edit takes it back.
fn settle<T>(mut edit: FrameEdit, action: impl FnOnce(&mut FrameEdit) -> Outcome<T>) -> Outcome<T> {
    let result = action(&mut edit)?;
    edit.commit()?;
    Ok(result)
}

/// How the frame at `path` is opened to be changed.
pub(crate) fn options(path: &Path, global: &Global) -> OpenOptions {
    let options = Opening::new(global).options().with_lock_timeout(Duration::ZERO);
    // The file is left by programs that lock the frame; where there is none, nobody does.
    if lock_file(path).exists() { options.with_locking(true).with_lock_timeout(PATIENCE) } else { options }
}

/// The file that programs lock which change a sparse frame; in it, and left there.
pub(crate) const LOCK_NAME: &str = ".b2lock";

/// As long as it lives, no other process has one for the same Bloscpack file. Other formats see to
/// it themselves.
pub(crate) struct Alone {
    /// `None` where files cannot be locked.
    _file: Option<File>,
}

impl Alone {
    /// Gets hold of the file at `path`.
    pub(crate) fn at(path: &Path) -> Outcome<Self> {
        // Elsewhere a lock keeps this process itself from writing, too.
        if !cfg!(unix) {
            return Ok(Self { _file: None });
        }
        if store::split(path).is_some() {
            return Err(Failure::usage("a member of a store is not changed in place; convert it to a file of its own"));
        }
        let file = File::open(path).at_path(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: Some(file) }),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::usage("another process is changing it; try again when that has ended"))
            }
            Err(TryLockError::Error(_)) => Ok(Self { _file: None }),
        }
    }
}

/// Where programs that lock a frame do so.
fn lock_file(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join(LOCK_NAME);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(LOCK_NAME);
    PathBuf::from(name)
}
