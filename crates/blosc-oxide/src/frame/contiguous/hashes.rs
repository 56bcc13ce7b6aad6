//! The hashes of the chunks of a contiguous frame.

use super::Contiguous;
use crate::error::{ErrorKind, Result, bail};
use crate::frame::checksums::{Hashes, StoredHashes};

/// The hashes of the chunks, read when they are first needed.
pub(super) enum KnownHashes {
    Stored(StoredHashes),
    Loaded(Hashes),
}

impl Contiguous {
    /// Reads the hashes, if they have not been. They may be gone: another process has committed since, perhaps to where
    /// they were.
    pub(super) fn read_hashes(&mut self) -> Result<()> {
        let Some(KnownHashes::Stored(stored)) = &self.hashes else { return Ok(()) };
        match stored.load(self.access.as_read(), self.base, self.index.len(), self.settings.limits) {
            Err(error) if error.kind() != ErrorKind::Io && !self.is_current()? => {
                bail!(Conflict, "another process has committed since, to where the checksums were: refresh the frame");
            }
            hashes => self.hashes = Some(KnownHashes::Loaded(hashes?)),
        }
        Ok(())
    }

    /// The hashes, to be changed; nobody knows those that are gone.
    pub(super) fn load_hashes(&mut self) -> Result<&mut Hashes> {
        match self.read_hashes() {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.hashes = Some(KnownHashes::Loaded(Hashes::unknown(self.index.len())));
            }
            result => result?,
        }
        match &mut self.hashes {
            Some(KnownHashes::Loaded(hashes)) => Ok(hashes),
            _ => bail!(InvalidArgument, "the frame has no checksums"),
        }
    }

    /// The hashes of the committed trailer, which those that are known may no longer be.
    pub(super) fn committed_hashes(&self) -> Result<Vec<u8>> {
        let gap = self.trailer.gap();
        let mut hashes = vec![0; gap.len()];
        let trailer_at = self.places.live.end - self.trailer.len() as u64;
        self.read_position(trailer_at + gap.start as u64, &mut hashes)?;
        Ok(hashes)
    }
}

/// The hashes to be written, and which version they are.
pub(super) fn known_hashes(hashes: &Option<KnownHashes>) -> (&[u8], Option<u64>) {
    match hashes {
        Some(KnownHashes::Loaded(hashes)) => (hashes.as_bytes(), Some(hashes.version())),
        _ => (&[], None),
    }
}
