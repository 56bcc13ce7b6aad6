//! Whether somebody else has committed to a frame.

use crate::error::{ErrorKind, Result};
use crate::frame::format::trailer::Trailer;
use crate::storage::{ReadAt, read_exact};

/// The error of a commit to a frame that others have changed, too.
pub(in crate::frame) const CHANGED_MEANWHILE: &str =
    "somebody else has changed the frame since this edit began: abort it, and make the changes again";
/// The error of reading a state whose chunks have been moved.
pub(in crate::frame) const COMPACTED_MEANWHILE: &str =
    "its chunks have been moved since this state was opened, by a compaction or longer metalayers: refresh it";
/// The error of reading a frame that is no longer in its place.
pub(in crate::frame) const REMOVED_MEANWHILE: &str =
    "the frame was removed, or replaced by another one, since it was opened: open it again";
/// The error of changing a frame that somebody else is changing.
pub(in crate::frame) const OWNED_BY_ANOTHER: &str =
    "another process or handle is changing the frame; try again when that has ended";

/// The last known commit: all that it wrote but chunks.
pub(in crate::frame) struct CommittedState<'a> {
    pub(in crate::frame) header: &'a [u8],
    /// The index, if it is not only known by the fingerprint in the trailer.
    pub(in crate::frame) index: Option<&'a [u8]>,
    /// Where the index is, counted from the start of the frame.
    pub(in crate::frame) index_at: u64,
    pub(in crate::frame) trailer: &'a Trailer,
    /// Where the trailer ends.
    pub(in crate::frame) end: u64,
}

impl CommittedState<'_> {
    /// Whether the frame that starts at `base` still has this header, this index and this trailer.
    /// All of them, because lengths can be what they were after several commits. What the
    /// fingerprint in the trailer covers is not read but for the header: if the end of the trailer
    /// is the same, so is all else.
    pub(in crate::frame) fn is_stored_in(&self, source: &dyn ReadAt, base: u64) -> Result<bool> {
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
