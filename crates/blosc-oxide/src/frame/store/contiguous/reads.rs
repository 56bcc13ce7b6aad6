//! Reading from a contiguous frame, also what is not yet on the storage.

use super::{Contiguous, MIN_CHUNK};
use crate::chunk::Header;
use crate::error::{ErrorKind, Result, bail, error};
use crate::frame::format::index::Entry;
use crate::storage::read_exact;

impl Contiguous {
    pub(super) fn offset(&self, index: usize) -> Result<u64> {
        match self.index.entry(index)? {
            Entry::At(offset) => Ok(offset),
            entry => bail!(InvalidArgument, "chunk {index} is not stored, it is {entry:?}"),
        }
    }

    pub(super) fn position_of(&self, offset: u64) -> u64 {
        offset.saturating_add(self.header.len() as u64)
    }

    /// Reads from the frame, also what is not yet on the storage.
    pub(super) fn read_position(&self, position: u64, out: &mut [u8]) -> Result<()> {
        let stored = self.buffer.read(position, out);
        if self.is_poisoned && stored > 0 && position >= self.space.committed_end() {
            bail!(Poisoned, "an earlier write has failed, and what was not committed is gone: open the frame again");
        }
        let at = self.base.checked_add(position).ok_or_else(|| error!(Corrupt, "chunk: it is at {position}"))?;
        if stored == 0 {
            return Ok(());
        }
        let read = read_exact(self.access.as_read(), at, &mut out[..stored], "chunk");
        self.view.check()?;
        self.view.restore(position, &mut out[..stored]);
        read
    }

    /// Where reading must end: chunks lie before that.
    pub(super) fn readable_end(&self) -> u64 {
        self.limit.max(self.buffer.end())
    }

    pub(super) fn head(&self, offset: u64, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let position = self.position_of(offset);
        let there = self.readable_end().saturating_sub(position);
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        if out.len() < len {
            out.resize(len, 0);
        }
        match self.read_position(position, &mut out[..len]) {
            Err(error) if error.kind() == ErrorKind::Truncated => self.shortened_head(position, len, out),
            result => result.map(|()| len),
        }
    }

    /// Reads the same from a frame that another process has made shorter, by cutting off what is
    /// dead.
    fn shortened_head(&self, position: u64, len: usize, out: &mut [u8]) -> Result<usize> {
        let there = self.access.as_read().len()?.saturating_sub(self.base).saturating_sub(position);
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        self.read_position(position, &mut out[..len])?;
        Ok(len)
    }

    pub(super) fn header_at_offset(&self, offset: u64) -> Result<Header> {
        let mut head = Vec::new();
        let len = self.head(offset, MIN_CHUNK, &mut head)?;
        let header = Header::parse(&head[..len])?;
        let there = self.readable_end().saturating_sub(self.position_of(offset));
        if header.cbytes() as u64 > there {
            bail!(Corrupt, "chunk: it has {} bytes, {there} are left of the frame", header.cbytes());
        }
        Ok(header)
    }

    pub(super) fn read_at_offset(&self, offset: u64) -> Result<Vec<u8>> {
        let header = self.header_at_offset(offset)?;
        self.settings.limits.check("a chunk", header.cbytes())?;
        let mut bytes = vec![0; header.cbytes()];
        self.read_position(self.position_of(offset), &mut bytes)?;
        Ok(bytes)
    }
}
