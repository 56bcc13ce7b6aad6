//! Chunks compared with their checksums when they are read.

use crate::error::Result;
use crate::schunk::SuperChunk;
use crate::schunk::compared::Compared;
use crate::schunk::store::compare;

impl SuperChunk {
    /// From now on no data is given out of a chunk that has not been compared with its checksum,
    /// where there is one: a damaged one is `ChecksumMismatch` then, and not whatever it decodes
    /// to.
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
        self.compare_when_read();
        Ok(())
    }

    /// Whether chunks are compared with their checksums.
    pub(crate) fn checks_on_read(&self) -> bool {
        self.compared.is_some()
    }

    /// The same, with chunks compared with their checksums; without those nothing is given out.
    pub(crate) fn checked(&self) -> Result<Self> {
        let mut checked = self.snapshot()?;
        checked.compare_when_read();
        checked.compare_anew();
        Ok(checked)
    }

    /// From now on no data of a chunk is given out before all of the chunk was compared with its
    /// hash, as far as hashes have been fetched. Returns which were compared before.
    pub(crate) fn compare_when_read(&mut self) -> Option<Compared> {
        self.compared.replace(Compared::default())
    }

    /// Goes on as before [`compare_when_read`](Self::compare_when_read).
    pub(crate) fn compare_as_before(&mut self, compared: Option<Compared>) {
        self.compared = compared;
    }

    /// Compares all chunks once more if they are compared when they are read: they may no longer be
    /// what they were. Without hashes to compare them with, nothing is given out.
    pub(in crate::schunk) fn compare_anew(&mut self) {
        if self.compared.is_some() {
            self.compared = Some(Compared::none(self.store().fetch_hashes()));
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

    /// Whether nothing of a stored chunk may be given out before all of it was compared with its
    /// hash.
    pub(in crate::schunk) fn is_to_be_compared(&self, index: usize) -> bool {
        let is_new = |compared: &Compared| !compared.has(index) && self.store().hash(index).is_some();
        self.compared.as_ref().is_some_and(|compared| compared.check().is_err() || is_new(compared))
    }
}
