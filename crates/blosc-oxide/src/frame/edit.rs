//! Editing a frame.

use super::transaction::Transaction;
use super::{Frame, FrameOptions};
use crate::error::Result;
use crate::schunk::SuperChunk;
use crate::storage::Location;
use std::ops::{Deref, DerefMut};

/// An edit of a frame, from [`Frame::edit`] or [`Frame::create`]: all of it is published by one
/// [`commit`](Self::commit), or nothing of it. Dropping it takes everything back.
///
/// It is a [`SuperChunk`] to change; what has been changed is read back by this edit only. A call
/// that fails leaves it as it was before the call. When a write to the storage has failed, every
/// further change is `Poisoned`. Nobody else edits the frame at the same time, while those who read
/// it see what was committed last.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(4))?;
/// edit.append(&[1; 4000])?;
/// let frame = edit.commit()?;
///
/// let mut edit = frame.edit()?;
/// edit.append(&[2; 4000])?;
/// edit.vlmetalayers_mut().add("note", b"ones and twos")?;
/// assert_eq!((frame.nbytes(), edit.nbytes()), (4000, 8000));
/// drop(edit);
/// assert_eq!(frame.edit()?.nbytes(), 4000);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct FrameEdit {
    sc: SuperChunk,
    transaction: Transaction,
}

impl FrameEdit {
    pub(super) fn begin(frame: &Frame) -> Result<Self> {
        let (transaction, sc) = Transaction::begin(frame.origin())?;
        Ok(Self { sc, transaction })
    }

    pub(super) fn create(location: Location, options: FrameOptions) -> Result<Self> {
        let (transaction, sc) = Transaction::create(location, options)?;
        Ok(Self { sc, transaction })
    }

    /// Publishes all changes, and returns the frame with them. If that fails, they are taken back.
    ///
    /// # Errors
    /// `Io` if they cannot be written, `Poisoned` if that has happened before, `Conflict` if
    /// somebody who knows of no locks has changed the frame since the edit began. What was
    /// committed before is kept then.
    pub fn commit(mut self) -> Result<Frame> {
        self.checkpoint()
    }

    /// Publishes all changes so far, and goes on editing; the frame that is returned has them.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn checkpoint(&mut self) -> Result<Frame> {
        self.transaction.publish(&mut self.sc)
    }

    /// Publishes all changes so far, and reclaims the space of everything that is unused. Frames
    /// that were opened or committed before can no longer be read: they report `Conflict` until
    /// they are [refreshed](Frame::refresh). One that another process has opened notices it by its
    /// checksums if it was opened with [`check_on_read`](crate::OpenOptions::with_check_on_read),
    /// and else by damage that it takes the moved chunks for.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn compact(&mut self) -> Result<Frame> {
        self.transaction.compact(&mut self.sc)
    }

    /// Takes back everything that has not been published. Dropping the edit does the same.
    pub fn abort(self) {}
}

impl Drop for FrameEdit {
    fn drop(&mut self) {
        self.transaction.end(std::mem::replace(&mut self.sc, SuperChunk::placeholder()));
    }
}

impl Deref for FrameEdit {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        &self.sc
    }
}

impl DerefMut for FrameEdit {
    fn deref_mut(&mut self) -> &mut SuperChunk {
        &mut self.sc
    }
}
