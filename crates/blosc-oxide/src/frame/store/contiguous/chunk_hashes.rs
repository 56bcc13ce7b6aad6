//! The hashes of the chunks, read when they are first needed.

use crate::error::Result;
use crate::frame::format::hashes::{Hashes, StoredHashes};
use crate::limits::Limits;
use crate::storage::ReadAt;
use std::sync::OnceLock;

/// The hashes of the chunks, read when they are first needed.
pub(super) struct ChunkHashes {
    /// Where they are; `None` if they have never been stored, or are not known.
    stored: Option<StoredHashes>,
    loaded: OnceLock<Hashes>,
}

impl ChunkHashes {
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

    /// Reads them from the frame at `base` with `nchunks` chunks, if they have not been.
    pub(super) fn load(&self, source: &dyn ReadAt, base: u64, nchunks: usize, limits: Limits) -> Result<()> {
        if let Some(stored) = &self.stored
            && self.loaded.get().is_none()
        {
            let hashes = stored.load(source, base, nchunks, limits)?;
            self.loaded.get_or_init(|| hashes);
        }
        Ok(())
    }

    /// The hashes to be written, and which version they are.
    pub(super) fn to_write(known: Option<&Self>) -> (&[u8], Option<u64>) {
        match known.and_then(Self::get) {
            Some(hashes) => (hashes.as_bytes(), Some(hashes.version())),
            None => (&[], None),
        }
    }
}
