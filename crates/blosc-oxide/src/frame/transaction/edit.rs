//! Editing a frame.

use super::begin::Transaction;
use crate::error::Result;
use crate::frame::options::FrameOptions;
use crate::frame::snapshot::frame::Frame;
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

impl Frame {
    /// Begins a new frame, where there must be nothing yet: on a path it is a file or a directory,
    /// as the options say, in a storage it is contiguous, in a directory sparse. Nothing is there
    /// before the first commit.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
    /// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
    /// edit.append(b"all at once")?;
    /// let frame = edit.commit()?;
    /// assert_eq!((frame.nbytes(), frame.dead_bytes()?), (11, 0));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if it cannot be made; `InvalidArgument` if there is something already, or if the
    /// options ask for locking and it has no path; as [`Compressor::new`](crate::Compressor::new).
    pub fn create(location: impl Into<Location>, options: impl Into<FrameOptions>) -> Result<FrameEdit> {
        let (transaction, sc) = Transaction::create(location.into(), options.into())?;
        Ok(FrameEdit { sc, transaction })
    }

    /// Begins an edit of the newest state. It waits until nobody else edits the frame, at most as
    /// long as [`OpenOptions::with_lock_timeout`](crate::OpenOptions::with_lock_timeout) says.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
    /// let frame = Frame::create(MemoryStorage::default(), Options::new(1))?.commit()?;
    /// let mut edit = frame.edit()?;
    /// edit.append(b"more")?;
    /// assert_eq!(edit.commit()?.nbytes(), 4);
    /// assert_eq!(frame.nbytes(), 0);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Locked` if another edit does not end in time; `InvalidArgument` if it is in something that
    /// can only be read; `Unsupported` for early frames; as [`open`](Self::open) and writing.
    pub fn edit(&self) -> Result<FrameEdit> {
        let (transaction, sc) = Transaction::begin(self.connection())?;
        Ok(FrameEdit { sc, transaction })
    }
}

impl FrameEdit {
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
