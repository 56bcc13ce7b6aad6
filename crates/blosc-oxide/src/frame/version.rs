//! Which kind of frame it is.

use super::early::is_early;
use super::header::{self, MAGIC};
use super::{EarlyFrame, Frame, FrameLayout, early};

/// Which format a frame has.
///
/// ```
/// use blosc_oxide::{Frame, FrameVersion, Options, storage::MemoryStorage};
/// let frame = Frame::create(MemoryStorage::default(), Options::new(1))?.commit()?;
/// assert_eq!(frame.version(), FrameVersion::Current(2));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameVersion {
    /// One of the betas, of which only we read and write both.
    Early(EarlyFrame),
    /// That of today, with the version in its header: 2, or 3 with chunks or blocks of different
    /// lengths.
    Current(u8),
}

impl Frame {
    /// Which format the frame has, as it was committed last.
    #[must_use]
    pub fn version(&self) -> FrameVersion {
        let header = self.store().facts().header;
        match early::generation(header) {
            Some(early) => FrameVersion::Early(early),
            None => FrameVersion::Current(header::version(header)),
        }
    }

    /// Whether the frame is one file or many.
    #[must_use]
    pub fn layout(&self) -> FrameLayout {
        let facts = self.store().facts();
        let is_sparse = facts.source.is_none() && facts.memory.is_none();
        if is_sparse { FrameLayout::Sparse } else { FrameLayout::Contiguous }
    }

    /// Whether the frame has checksums of its chunks.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        self.store().facts().has_hashes
    }
}

/// Whether bytes start as a frame does, of today or of the betas.
pub(crate) fn is_frame(bytes: &[u8]) -> bool {
    let is_known = bytes.first() == Some(&header::ARRAY_14) || is_early(bytes);
    is_known && bytes.get(2..2 + MAGIC.len()) == Some(MAGIC)
}
