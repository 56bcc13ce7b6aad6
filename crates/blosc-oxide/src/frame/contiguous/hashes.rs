//! The hashes of the chunks of a contiguous frame.

use super::Contiguous;
use crate::error::{ErrorKind, Result, bail};
use crate::frame::checksums::{Hashes, StoredHashes};
use crate::frame::trailer;
use std::sync::OnceLock;

/// The hashes of the chunks, read when they are first needed.
pub(super) struct KnownHashes {
    /// Where they are; `None` if they have never been stored, or are not known.
    stored: Option<StoredHashes>,
    loaded: OnceLock<Hashes>,
}

impl KnownHashes {
    /// Those that are in memory.
    pub(super) fn loaded(hashes: Hashes) -> Self {
        Self { stored: None, loaded: OnceLock::from(hashes) }
    }

    /// Those that are in the frame.
    pub(super) fn stored(stored: StoredHashes) -> Self {
        Self { stored: Some(stored), loaded: OnceLock::new() }
    }

    /// The hashes, if they have been read.
    pub(super) fn get(&self) -> Option<&Hashes> {
        self.loaded.get()
    }

    /// The hashes, if they have been read, to be changed.
    pub(super) fn get_mut(&mut self) -> Option<&mut Hashes> {
        self.loaded.get_mut()
    }
}

impl Contiguous {
    /// Reads the hashes, if they have not been. They may be gone: another process has committed
    /// since, perhaps to where they were.
    pub(super) fn read_hashes(&self) -> Result<()> {
        let Some(KnownHashes { stored: Some(stored), loaded }) = &self.hashes else { return Ok(()) };
        if loaded.get().is_some() {
            return Ok(());
        }
        match stored.load(self.access.as_read(), self.base, self.index.len(), self.settings.limits) {
            Err(error) if error.kind() != ErrorKind::Io && !self.has_known_state()? => {
                bail!(Conflict, "somebody has committed since, to where the checksums were: refresh the frame");
            }
            hashes => {
                let hashes = hashes?;
                loaded.get_or_init(|| hashes);
            }
        }
        Ok(())
    }

    /// The hashes, to be changed; nobody knows those that are gone.
    pub(super) fn load_hashes(&mut self) -> Result<&mut Hashes> {
        match self.read_hashes() {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.hashes = Some(KnownHashes::loaded(Hashes::unknown(self.index.len())));
            }
            result => result?,
        }
        match self.hashes.as_mut().and_then(KnownHashes::get_mut) {
            Some(hashes) => Ok(hashes),
            None => bail!(InvalidArgument, "the frame has no checksums"),
        }
    }

    /// The hashes of what is committed, for a snapshot: all of them if they are wanted at once,
    /// else where they are.
    pub(super) fn snapshot_of_hashes(&self, is_whole: bool) -> Result<Option<KnownHashes>> {
        let Some(known) = &self.hashes else { return Ok(None) };
        if is_whole {
            self.read_hashes()?;
        }
        let trailer_at = self.places.live.end - self.trailer.len() as u64;
        let stored = trailer::find_hashes(self.trailer.parts().0, self.trailer.len());
        Ok(Some(match (known.get().filter(|_| is_whole), stored) {
            (Some(hashes), _) => KnownHashes::loaded(hashes.copy()),
            (None, Some(stored)) => KnownHashes::stored(stored.at(trailer_at + stored.range().start as u64)),
            (None, None) => KnownHashes::loaded(Hashes::unknown(0)),
        }))
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
    match hashes.as_ref().and_then(KnownHashes::get) {
        Some(hashes) => (hashes.as_bytes(), Some(hashes.version())),
        None => (&[], None),
    }
}
