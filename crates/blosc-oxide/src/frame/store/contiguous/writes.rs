//! Writing to a contiguous frame: to the end, or into free space.

use super::{Contiguous, FooterOwner};
use crate::error::{ErrorKind, Result, bail};
use crate::frame::format::footer::{Footer, HASH_LEN};
use crate::frame::format::free_space::FreeSpace;
use crate::frame::format::header::FIXED_LEN;
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

    /// Frees the space of everything written since the last commit, none of which will be
    /// committed: a full disk has space again. Nothing is cut off that a header needs which may
    /// have been written after all.
    pub(super) fn reclaim(&mut self) {
        let is_ours = self.is_new || (self.is_header_known && matches!(self.has_known_state(), Ok(true)));
        let end = self.base + self.space.committed_end();
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
        if !self.buffer.bytes().is_empty() {
            self.storage()?;
            let position = self.base + self.buffer.start();
            self.access.as_write()?.write_at(position, self.buffer.bytes())?;
            self.buffer.flushed();
        }
        Ok(())
    }

    /// Adds bytes at the end and returns where they start.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64> {
        let position = self.buffer.push(bytes);
        if self.buffer.is_full() {
            self.flush()?;
        }
        Ok(position)
    }

    /// Stores the bytes of a chunk and returns where they start.
    pub(super) fn put_chunk(&mut self, bytes: &[u8]) -> Result<u64> {
        let len = bytes.len() as u64;
        let position = if let Some(position) = self.space.allocate_chunk(len) {
            self.write_over(position, bytes)?;
            if position < self.space.committed_end() {
                self.fresh.insert(position);
            }
            position
        } else {
            self.push(bytes)?
        };
        self.space.extend_chunks_to(position + len);
        Ok(position)
    }

    /// Marks the last footer, if another handle has written it, so that this handle no longer
    /// relies on what it has left in free space.
    fn claim_free_space(&mut self) -> Result<()> {
        let is_there = !self.space.footer().is_empty();
        if self.footer_owner == FooterOwner::Foreign && is_there {
            let free_space = FreeSpace { chunks_end: self.space.chunks_end(), parts: Vec::new() };
            self.replace_footer(free_space)?;
            self.footer_owner = FooterOwner::Claimed;
        }
        Ok(())
    }

    /// Replaces the last footer by one without metalayers, which says that no commit is in
    /// progress.
    pub(super) fn replace_footer(&mut self, free_space: FreeSpace) -> Result<()> {
        let end = self.space.footer().end;
        let start = end - Footer::len(FIXED_LEN) as u64;
        let fixed = self.header[..FIXED_LEN].to_vec();
        let footer = Footer { old: fixed.clone(), new: fixed, free_space, start }.to_bytes();
        let base = self.base;
        self.storage()?.write_at(base + start, &footer)?;
        self.space.set_footer(start..end);
        self.footer_owner = FooterOwner::own(&footer);
        Ok(())
    }

    /// Whether nobody else has written to free space since the last commit of this handle.
    pub(super) fn is_undisturbed(&self) -> Result<bool> {
        let FooterOwner::Own(hash) = self.footer_owner else { return Ok(true) };
        let mut found = [0; HASH_LEN];
        self.read_position(self.space.footer().end - found.len() as u64, &mut found)?;
        Ok(found == hash)
    }

    /// Writes into free space.
    pub(super) fn write_over(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.space.note_overwritten(&(position..position + bytes.len() as u64));
            self.claim_free_space()?;
            let base = self.base;
            self.storage()?.write_at(base + position, bytes)?;
        }
        Ok(())
    }
}

impl FooterOwner {
    /// That of a handle that has written this footer.
    pub(super) fn own(footer: &[u8]) -> Self {
        footer.last_chunk().map_or(Self::Foreign, |&hash| Self::Own(hash))
    }
}
