//! What is on a disk at one moment.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A file, whatever its name is.
pub type FileId = usize;

/// Files and their names.
#[derive(Debug, Clone, Default)]
pub struct Image {
    pub(super) files: BTreeMap<FileId, Vec<u8>>,
    pub(super) names: BTreeMap<String, FileId>,
}

/// One change of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Bytes of a file.
    Write {
        /// The file.
        file: FileId,
        /// Where the bytes go.
        position: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The length of a file.
    SetLen {
        /// The file.
        file: FileId,
        /// Its length from now on.
        len: u64,
    },
    /// The length of a file that a write made longer: it can be kept without the bytes.
    Grow {
        /// The file.
        file: FileId,
        /// The length that it has at least.
        len: u64,
    },
    /// A name for a file.
    Create {
        /// The name.
        name: String,
        /// The new file.
        file: FileId,
    },
    /// A name that goes away.
    Remove {
        /// The name.
        name: String,
    },
    /// Another name for a file.
    Rename {
        /// The name that it had.
        from: String,
        /// The name that it has from now on.
        to: String,
        /// The file.
        file: FileId,
    },
    /// Two names that change places, in one step.
    Exchange {
        /// One name, and the file that has it from now on.
        one: (String, FileId),
        /// The other name, and the file that has it from now on.
        other: (String, FileId),
    },
}

impl Change {
    /// The file whose content it changes; `None` if it changes names.
    pub(super) fn file(&self) -> Option<FileId> {
        match self {
            Self::Write { file, .. } | Self::SetLen { file, .. } | Self::Grow { file, .. } => Some(*file),
            Self::Create { .. } | Self::Remove { .. } | Self::Rename { .. } | Self::Exchange { .. } => None,
        }
    }
}

impl Image {
    /// One file.
    #[must_use]
    pub fn of_file(name: &str, bytes: Vec<u8>) -> Self {
        Self { files: BTreeMap::from([(0, bytes)]), names: BTreeMap::from([(name.to_owned(), 0)]) }
    }

    /// The content of the file with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.names.get(name).map(|file| self.bytes(*file))
    }

    /// Names and contents.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.names.iter().map(|(name, file)| (name.as_str(), self.bytes(*file)))
    }

    /// A number that tells images apart.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for part in self.iter() {
            part.hash(&mut hasher);
        }
        hasher.finish()
    }

    pub(super) fn bytes(&self, file: FileId) -> &[u8] {
        self.files.get(&file).map_or(&[], Vec::as_slice)
    }

    /// A number that no file has.
    pub(super) fn free_id(&self) -> FileId {
        self.files.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// Makes one change.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Write { file, position, bytes } => {
                let content = self.files.entry(*file).or_default();
                let start = usize::try_from(*position).expect("files in memory are short");
                let end = start + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[start..end].copy_from_slice(bytes);
            }
            Change::SetLen { file, len } => {
                let len = usize::try_from(*len).expect("files in memory are short");
                self.files.entry(*file).or_default().resize(len, 0);
            }
            Change::Grow { file, len } => {
                let len = usize::try_from(*len).expect("files in memory are short");
                let content = self.files.entry(*file).or_default();
                content.resize(content.len().max(len), 0);
            }
            Change::Create { name, file } => {
                self.files.entry(*file).or_default();
                self.names.insert(name.clone(), *file);
            }
            Change::Remove { name } => {
                self.names.remove(name);
            }
            Change::Rename { from, to, file } => {
                if self.names.get(from) == Some(file) {
                    self.names.remove(from);
                }
                self.names.insert(to.clone(), *file);
            }
            Change::Exchange { one, other } => {
                self.names.extend([one.clone(), other.clone()]);
            }
        }
    }
}
