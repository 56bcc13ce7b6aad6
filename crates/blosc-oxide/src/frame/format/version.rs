//! Which kind of frame it is.

use super::early::{self, EarlyFrame, is_early};
use super::header::{self, MAGIC};

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

/// Whether bytes start as a frame does, of today or of the betas.
pub(crate) fn is_frame(bytes: &[u8]) -> bool {
    let is_known = bytes.first() == Some(&header::ARRAY_14) || is_early(bytes);
    is_known && bytes.get(2..2 + MAGIC.len()) == Some(MAGIC)
}

impl FrameVersion {
    /// That of a frame with this header.
    pub(in crate::frame) fn of(header: &[u8]) -> Self {
        match early::generation(header) {
            Some(early) => Self::Early(early),
            None => Self::Current(header::version(header)),
        }
    }
}
