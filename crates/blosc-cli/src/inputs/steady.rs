//! Files that others change while they are read. Frames see to it themselves; what is read of a
//! Bloscpack file while data is appended to it can look like damage.

use crate::failure::{Failure, Outcome};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::SystemTime;

/// Reads the file at `path`; if others have changed it meanwhile, or are about to, damage is not
/// called so.
pub(crate) fn read_steadily<T>(path: &Path, read: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let before = stamp(path);
    read().map_err(|failure| match failure {
        Failure::Damaged(_) if stamp(path) != before || is_being_changed(path) => {
            Failure::usage(format!("{}: another process has changed it while it was read; try again", path.display()))
        }
        other => other,
    })
}

/// What a change of a file changes.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Whether somebody holds the lock of those who change a file in place.
fn is_being_changed(path: &Path) -> bool {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
