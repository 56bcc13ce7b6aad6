//! Whether a frame is still what is known of it.

use super::trailer::Trailer;
use crate::error::{ErrorKind, Result};
use crate::storage::{ReadAt, read_exact};

/// What is told who has changed a frame that others have changed, too.
pub(super) const CHANGED_MEANWHILE: &str =
    "somebody else has changed the frame since this edit began: abort it, and make the changes again";
/// What is told who reads a state whose chunks have been moved.
pub(super) const COMPACTED_MEANWHILE: &str =
    "its chunks have been moved since this state was opened, by a compaction or longer metalayers: refresh it";
/// What is told who reads a frame of which nothing is in its place any more.
pub(super) const REMOVED_MEANWHILE: &str =
    "the frame was removed, or replaced by another one, since it was opened: open it again";
/// What is told who wants to change a frame that somebody else is changing.
pub(super) const OWNED_BY_ANOTHER: &str =
    "another process or handle is changing the frame; try again when that has ended";

/// What is known of a frame: all that a commit writes but chunks.
pub(super) struct Known<'a> {
    pub(super) header: &'a [u8],
    /// The index, if it is not only known by the fingerprint in the trailer.
    pub(super) index: Option<&'a [u8]>,
    /// Where the index is, counted from the start of the frame.
    pub(super) index_at: u64,
    pub(super) trailer: &'a Trailer,
    /// Where the trailer ends.
    pub(super) end: u64,
}

impl Known<'_> {
    /// Whether the frame that starts at `base` still has this header, this index and this trailer.
    /// All of them, because lengths can be what they were after several commits. What the
    /// fingerprint in the trailer covers is not read but for the header: if the end of the trailer
    /// is the same, so is all else.
    pub(super) fn is_at(&self, source: &dyn ReadAt, base: u64) -> Result<bool> {
        // Other programs put layers behind the hashes, too.
        let (before, after) = self.trailer.parts();
        let fingerprint = self.trailer.layers_and_end().1;
        let behind = |len: usize| self.end.saturating_sub(len as u64);
        let covered = [(0, self.header), (behind(fingerprint.len()), fingerprint)];
        let parts = [
            (behind(self.trailer.len()), before),
            (behind(after.len()), after),
            (self.index_at, self.index.unwrap_or_default()),
        ];
        let parts = if self.trailer.has_fingerprint() { &[][..] } else { &parts };
        for &(position, known) in covered.iter().chain(parts) {
            if !has_at(source, base.saturating_add(position), known)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether these bytes are at a position.
fn has_at(source: &dyn ReadAt, position: u64, known: &[u8]) -> Result<bool> {
    if known.is_empty() {
        return Ok(true);
    }
    let mut found = vec![0; known.len()];
    match read_exact(source, position, &mut found, "frame") {
        Err(error) if error.kind() == ErrorKind::Truncated => Ok(false),
        result => result.map(|()| found == known),
    }
}
