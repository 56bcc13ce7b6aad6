//! Recognises containers by their first bytes.

#[cfg(feature = "bloscpack")]
use crate::bloscpack;
use crate::chunk::Header;
use crate::error::{AtPath, Result};
#[cfg(feature = "frame")]
use crate::frame;
#[cfg(feature = "legacy")]
use crate::legacy;
use crate::storage::{FileStorage, ReadAt};
use std::path::Path;

/// A container format, recognised by content. Formats whose feature is off are not
/// recognised.
///
/// ```
/// use blosc_oxide::{Container, Options, compress};
/// let chunk = compress(b"some data", &Options::new(1))?;
/// assert_eq!(Container::detect_bytes(&chunk, chunk.len() as u64), Some(Container::Chunk));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Container {
    /// A single chunk, of Blosc1 or Blosc2.
    Chunk,
    /// A contiguous frame, of today or of the betas; it may hold an array.
    Frame,
    /// A directory with a sparse frame; it may hold an array.
    SparseFrame,
    /// The packed super-chunk of the alphas.
    Packed,
    /// A Bloscpack file.
    Bloscpack,
}

/// How many bytes are looked at.
const HEAD_LEN: u64 = 128;

impl Container {
    /// Which container starts at `offset` of `source`; `None` if the format is not recognised.
    ///
    /// ```
    /// use blosc_oxide::{Container, Options, compress};
    /// let chunk = compress(b"some data", &Options::new(1))?;
    /// assert_eq!(Container::detect(&chunk[..], 0)?, Some(Container::Chunk));
    /// assert_eq!(Container::detect(&b"some data"[..], 0)?, None);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if it cannot be read.
    pub fn detect(source: &(impl ReadAt + ?Sized), offset: u64) -> Result<Option<Self>> {
        let len = source.len()?.saturating_sub(offset);
        let mut head = vec![0; usize::try_from(len.min(HEAD_LEN)).unwrap_or_default()];
        source.read_at(offset, &mut head)?;
        Ok(Self::detect_bytes(&head, len))
    }

    /// Which container the file or directory at `path` is; `None` if the format is not recognised.
    ///
    /// # Errors
    /// `Io` if it cannot be read.
    pub fn detect_path(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = path.as_ref();
        if std::fs::metadata(path).at_path(path)?.is_dir() {
            return Self::detect_directory(path).at_path(path);
        }
        Self::detect(&FileStorage::open(path).at_path(path)?, 0).at_path(path)
    }

    #[cfg(feature = "frame")]
    fn detect_directory(path: &Path) -> Result<Option<Self>> {
        match std::fs::metadata(path.join(frame::INDEX_NAME)) {
            Ok(index) => Ok(index.is_file().then_some(Self::SparseFrame)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(feature = "frame"))]
    fn detect_directory(_path: &Path) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Which container starts with the bytes `head` and is `len` bytes long in all. 128 bytes are
    /// enough; with fewer, a stream that has just begun may not yet be recognised.
    #[must_use]
    #[cfg_attr(not(feature = "legacy"), allow(unused_variables, reason = "only packed super-chunks need the length"))]
    pub fn detect_bytes(head: &[u8], len: u64) -> Option<Self> {
        #[cfg(feature = "frame")]
        if frame::is_frame(head) {
            return Some(Self::Frame);
        }
        #[cfg(feature = "bloscpack")]
        if bloscpack::is_bloscpack(head) {
            return Some(Self::Bloscpack);
        }
        #[cfg(feature = "legacy")]
        if legacy::is_packed(head, len) {
            return Some(Self::Packed);
        }
        Header::parse(head).is_ok().then_some(Self::Chunk)
    }
}
