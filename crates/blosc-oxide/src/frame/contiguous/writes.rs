//! Writing to a contiguous frame: to the end, or to where nothing lives.

use super::Contiguous;
use crate::error::{ErrorKind, Result, bail};
use crate::storage::{Durability, Storage};

impl Contiguous {
    /// Runs an action that writes; if it fails, what is on the storage is no longer known, and the handle is done.
    pub(super) fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        let result = action(self);
        // A refusal leaves the storage as it was.
        self.is_poisoned |= matches!(&result, Err(error) if error.kind() == ErrorKind::Io);
        if self.is_poisoned {
            self.reclaim();
        }
        result
    }

    /// Gives back the space of everything that has been written since the last commit and will never be committed: a full
    /// disk has room again. Nothing is cut off that a header may need which is there after all.
    fn reclaim(&mut self) {
        let is_ours = self.is_new || (self.is_header_known && matches!(self.is_current(), Ok(true)));
        let end = self.base + self.places.committed_end;
        if is_ours && let Ok(storage) = self.access.as_write() {
            // Why nothing can be written is what the caller is told.
            let _ = storage.set_len(end);
        }
    }

    pub(super) fn check_writable(&mut self) -> Result<()> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        self.access.as_write().map(|_| ())
    }

    /// The storage, to be written to. What another process has written before it was killed may be in the memory of the
    /// system only: nothing is built on it before it is on the disk.
    pub(super) fn storage(&mut self) -> Result<&mut dyn Storage> {
        if !self.is_settled {
            self.sync()?;
            self.is_settled = true;
        }
        self.access.as_write()
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        match self.settings.durability {
            Durability::Fsync => Ok(self.access.as_write()?.sync()?),
            Durability::None => Ok(()),
        }
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.tail.bytes().is_empty() {
            self.storage()?;
            let position = self.base + self.tail.start();
            self.access.as_write()?.write_at(position, self.tail.bytes())?;
            self.tail.flushed();
        }
        Ok(())
    }

    /// Adds bytes at the end and returns where they start.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64> {
        let position = self.tail.push(bytes);
        if self.tail.is_full() {
            self.flush()?;
        }
        Ok(position)
    }

    /// Stores the bytes of a chunk and returns where they start.
    pub(super) fn put_chunk(&mut self, bytes: &[u8]) -> Result<u64> {
        let len = bytes.len() as u64;
        let position = if let Some(position) = self.places.room.take(len) {
            self.write_over(position, bytes)?;
            position
        } else {
            self.push(bytes)?
        };
        self.places.chunks_end = self.places.chunks_end.max(position + len);
        Ok(position)
    }

    /// Writes to where nothing lives.
    pub(super) fn write_over(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.places.overwritten(&(position..position + bytes.len() as u64));
            let base = self.base;
            self.storage()?.write_at(base + position, bytes)?;
        }
        Ok(())
    }
}
