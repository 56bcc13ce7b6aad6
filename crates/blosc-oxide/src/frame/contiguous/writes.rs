//! Writing to a contiguous frame: to the end, or to where nothing lives.

use super::{Contiguous, Mark};
use crate::error::{ErrorKind, Result, bail};
use crate::frame::footer::{Footer, HASH_LEN};
use crate::frame::header::FIXED_LEN;
use crate::frame::vacancies::Vacancies;
use crate::storage::{Durability, Storage};

impl Contiguous {
    /// Runs an action that writes; if it fails, what is on the storage is no longer known, and the
    /// handle is done.
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

    /// Gives back the space of everything that has been written since the last commit and will
    /// never be committed: a full disk has room again. Nothing is cut off that a header may need
    /// which is there after all.
    pub(super) fn reclaim(&mut self) {
        let is_ours = self.is_new || (self.is_header_known && matches!(self.has_known_state(), Ok(true)));
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

    /// The storage, to be written to. What another process has written before it was killed may be
    /// in the memory of the system only: nothing is built on it before it is on the disk.
    pub(super) fn storage(&mut self) -> Result<&dyn Storage> {
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
            if position < self.places.committed_end {
                self.fresh.insert(position);
            }
            position
        } else {
            self.push(bytes)?
        };
        self.places.chunks_end = self.places.chunks_end.max(position + len);
        Ok(position)
    }

    /// Lets another handle know, whose footer is the last one, that what it has left in free places
    /// may be overwritten.
    fn take_free_places(&mut self) -> Result<()> {
        let is_there = !self.places.footer.is_empty();
        if self.mark == Mark::Foreign && is_there {
            let vacancies = Vacancies { chunks_end: self.places.chunks_end, parts: Vec::new() };
            self.replace_footer(vacancies)?;
            self.mark = Mark::Taken;
        }
        Ok(())
    }

    /// Puts a footer that says nothing of metalayers, and that no commit is under way, in place of
    /// the last one.
    pub(super) fn replace_footer(&mut self, vacancies: Vacancies) -> Result<()> {
        let end = self.places.footer.end;
        let start = end - Footer::len(FIXED_LEN) as u64;
        let fixed = self.header[..FIXED_LEN].to_vec();
        let footer = Footer { old: fixed.clone(), new: fixed, vacancies, start }.to_bytes();
        let base = self.base;
        self.storage()?.write_at(base + start, &footer)?;
        self.places.footer = start..end;
        self.mark = Mark::own(&footer);
        Ok(())
    }

    /// Whether nobody else has written to free places since the last commit of this handle, if that
    /// is the last one.
    pub(super) fn is_undisturbed(&self) -> Result<bool> {
        let Mark::Own(hash) = self.mark else { return Ok(true) };
        let mut found = [0; HASH_LEN];
        self.read_position(self.places.footer.end - found.len() as u64, &mut found)?;
        Ok(found == hash)
    }

    /// Writes to where nothing lives.
    pub(super) fn write_over(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.places.overwritten(&(position..position + bytes.len() as u64));
            self.take_free_places()?;
            let base = self.base;
            self.storage()?.write_at(base + position, bytes)?;
        }
        Ok(())
    }
}

impl Mark {
    /// That of a handle that has written this footer.
    pub(super) fn own(footer: &[u8]) -> Self {
        footer.last_chunk().map_or(Self::Foreign, |&hash| Self::Own(hash))
    }
}
