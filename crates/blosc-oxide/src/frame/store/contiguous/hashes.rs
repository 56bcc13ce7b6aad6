//! The hashes of the chunks of a contiguous frame.

use super::Contiguous;
use super::chunk_hashes::ChunkHashes;
use crate::error::{ErrorKind, Result, bail};
use crate::frame::format::hashes::Hashes;
use crate::frame::format::trailer;

impl Contiguous {
    /// Reads the hashes, if they have not been. They may be gone: another process has committed
    /// since, perhaps to where they were.
    pub(super) fn read_hashes(&self) -> Result<()> {
        let Some(hashes) = &self.hashes else { return Ok(()) };
        match hashes.load(self.access.as_read(), self.base, self.index.len(), self.settings.limits) {
            Err(error) if error.kind() != ErrorKind::Io && !self.has_known_state()? => {
                bail!(Conflict, "somebody has committed since, to where the checksums were: refresh the frame");
            }
            loaded => loaded,
        }
    }

    /// The hashes, to be changed; nobody knows those that are gone.
    pub(super) fn load_hashes(&mut self) -> Result<&mut Hashes> {
        match self.read_hashes() {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.hashes = Some(ChunkHashes::loaded(Hashes::unknown(self.index.len())));
            }
            result => result?,
        }
        match self.hashes.as_mut().and_then(ChunkHashes::get_mut) {
            Some(hashes) => Ok(hashes),
            None => bail!(InvalidArgument, "the frame has no checksums"),
        }
    }

    /// The hashes of what is committed, for a snapshot: all of them if they are wanted at once,
    /// else where they are.
    pub(super) fn snapshot_of_hashes(&self, is_whole: bool) -> Result<Option<ChunkHashes>> {
        let Some(known) = &self.hashes else { return Ok(None) };
        if is_whole {
            self.read_hashes()?;
        }
        let trailer_at = self.space.index().end - self.trailer.len() as u64;
        let stored = trailer::find_hashes(self.trailer.parts().0, self.trailer.len());
        Ok(Some(match (known.get().filter(|_| is_whole), stored) {
            (Some(hashes), _) => ChunkHashes::loaded(hashes.copy()),
            (None, Some(stored)) => ChunkHashes::stored(stored.at(trailer_at + stored.range().start as u64)),
            (None, None) => ChunkHashes::loaded(Hashes::unknown(0)),
        }))
    }

    /// The hashes of the committed trailer, which those that are known may no longer be.
    pub(super) fn committed_hashes(&self) -> Result<Vec<u8>> {
        let gap = self.trailer.gap();
        let mut hashes = vec![0; gap.len()];
        let trailer_at = self.space.index().end - self.trailer.len() as u64;
        self.read_position(trailer_at + gap.start as u64, &mut hashes)?;
        Ok(hashes)
    }
}
