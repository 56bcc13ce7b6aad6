//! Chunks compared with their checksums when they are read.

use crate::error::Result;
use crate::schunk::SuperChunk;
use crate::schunk::checked_chunks::CheckedChunks;
use crate::schunk::store::compare;

impl SuperChunk {
    /// From now on a chunk is compared with its checksum, where there is one, before any of its
    /// data is returned: a damaged one is `ChecksumMismatch`, and not whatever it decodes to.
    ///
    /// A chunk is compared whenever it is read whole. The first read of a part of it, and the first
    /// after a change of the frame, reads all of it for that; those that follow read only what they
    /// need.
    ///
    /// # Errors
    /// `ChecksumMismatch` if the checksums themselves are damaged, `Corrupt` if there are not as
    /// many as chunks; `Conflict` if somebody has committed to where they were since the frame was
    /// opened or refreshed: refresh it then.
    pub fn check_on_read(&mut self) -> Result<()> {
        self.store().fetch_hashes()?;
        self.start_checking();
        Ok(())
    }

    /// Whether chunks are compared with their checksums.
    pub(crate) fn checks_on_read(&self) -> bool {
        self.compared.is_some()
    }

    /// The same, with chunks compared with their checksums; without those nothing is returned.
    pub(crate) fn checked(&self) -> Result<Self> {
        let mut checked = self.snapshot()?;
        checked.start_checking();
        checked.forget_checked();
        Ok(checked)
    }

    /// From now on a chunk is compared with its hash before any of its data is returned, as far as
    /// hashes have been fetched. Returns which chunks were compared before.
    pub(crate) fn start_checking(&mut self) -> Option<CheckedChunks> {
        self.compared.replace(CheckedChunks::default())
    }

    /// Goes on as before [`start_checking`](Self::start_checking).
    pub(crate) fn restore_checking(&mut self, compared: Option<CheckedChunks>) {
        self.compared = compared;
    }

    /// Forgets which chunks have been compared: they may have changed. Without hashes to compare
    /// with, nothing is returned.
    pub(in crate::schunk) fn forget_checked(&mut self) {
        if self.compared.is_some() {
            self.compared = Some(CheckedChunks::none(self.store().fetch_hashes()));
        }
    }

    /// Compares a chunk that has been read whole with its hash, if that is wanted and known.
    pub(in crate::schunk) fn check_hash(&self, index: usize, bytes: &[u8]) -> Result<()> {
        let Some(compared) = &self.compared else { return Ok(()) };
        compared.check()?;
        compare(self.store(), index, bytes)?;
        compared.mark(index, self.nchunks());
        Ok(())
    }

    /// Whether a stored chunk must be compared with its hash before any of it is returned.
    pub(in crate::schunk) fn must_check(&self, index: usize) -> bool {
        let is_new = |compared: &CheckedChunks| !compared.has(index) && self.store().hash(index).is_some();
        self.compared.as_ref().is_some_and(|compared| compared.check().is_err() || is_new(compared))
    }
}
