//! Where a container is kept.

use super::{Directory, FileDirectory, MemoryDirectory, MemoryStorage, ReadAt, Storage};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a frame, an array or a file is, or is to be made. Paths, bytes and the storages of this
/// crate become one by themselves.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let storage = MemoryStorage::default();
/// let mut edit = Frame::create(storage.clone(), Options::new(1))?;
/// edit.append(b"in memory, as the bytes of a frame")?;
/// edit.commit()?;
/// assert_eq!(Frame::open(storage.to_bytes())?.nbytes(), 34);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Location {
    /// In memory, as chunks: for something new.
    Memory,
    /// At a path, in a file or a directory.
    Path(PathBuf),
    /// In a single storage.
    Storage(Arc<dyn Storage>),
    /// In a directory.
    Directory(Arc<dyn Directory>),
    /// In something that is only read, from `offset` on.
    Source {
        /// What is read.
        source: Arc<dyn ReadAt>,
        /// Where it starts.
        offset: u64,
    },
}

impl Location {
    /// In a storage.
    pub fn storage(storage: impl Storage + 'static) -> Self {
        Self::Storage(Arc::new(storage))
    }

    /// In a directory.
    pub fn directory(directory: impl Directory + 'static) -> Self {
        Self::Directory(Arc::new(directory))
    }

    /// In something that is only read.
    pub fn source(source: impl ReadAt + 'static) -> Self {
        Self::source_at(source, 0)
    }

    /// The same where it starts at `offset` of something larger.
    pub fn source_at(source: impl ReadAt + 'static, offset: u64) -> Self {
        Self::Source { source: Arc::new(source), offset }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("Memory"),
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Storage(_) => f.write_str("Storage"),
            Self::Directory(_) => f.write_str("Directory"),
            Self::Source { offset, .. } => f.debug_struct("Source").field("offset", offset).finish_non_exhaustive(),
        }
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Self::Path(path.clone())
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<&str> for Location {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}

impl From<&String> for Location {
    fn from(path: &String) -> Self {
        Self::Path(path.into())
    }
}

impl From<String> for Location {
    fn from(path: String) -> Self {
        Self::Path(path.into())
    }
}

impl From<Vec<u8>> for Location {
    fn from(bytes: Vec<u8>) -> Self {
        Self::storage(MemoryStorage::new(bytes))
    }
}

impl<S: Storage + 'static> From<S> for Location {
    fn from(storage: S) -> Self {
        Self::storage(storage)
    }
}

impl From<MemoryDirectory> for Location {
    fn from(directory: MemoryDirectory) -> Self {
        Self::directory(directory)
    }
}

impl From<FileDirectory> for Location {
    fn from(directory: FileDirectory) -> Self {
        Self::directory(directory)
    }
}
