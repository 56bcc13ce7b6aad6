//! Where a new array is kept.

use crate::storage::{Directory, Storage};
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a new array is kept. Paths become one by themselves: `"cube.b2nd".into()`.
pub enum Location {
    /// In memory, as chunks.
    Memory,
    /// At a path: a file or a directory, as the options of the frame say. There must be nothing yet.
    Path(PathBuf),
    /// On an empty storage, as a contiguous frame.
    Storage(Box<dyn Storage>),
    /// In an empty directory, as a sparse frame.
    Directory(Box<dyn Directory>),
}

impl Location {
    /// On an empty storage, as a contiguous frame.
    pub fn storage(storage: impl Storage + 'static) -> Self {
        Self::Storage(Box::new(storage))
    }

    /// In an empty directory, as a sparse frame.
    pub fn directory(directory: impl Directory + 'static) -> Self {
        Self::Directory(Box::new(directory))
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("Memory"),
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Storage(_) => f.write_str("Storage"),
            Self::Directory(_) => f.write_str("Directory"),
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

impl From<String> for Location {
    fn from(path: String) -> Self {
        Self::Path(path.into())
    }
}
