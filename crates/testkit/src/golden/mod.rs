//! A typed index of files that other implementations wrote, with what they decode to.
//!
//! The part in `tests/golden` is always there; the whole set is beside the checkout, in
//! `../shared`, on machines that have it.

mod compat;

pub use compat::{Compat, CompatFile};

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// One golden set: a directory with a sub-directory and a `manifest.json` for each family of files.
#[derive(Debug, Clone)]
pub struct Golden {
    root: PathBuf,
}

impl Golden {
    /// The part of the golden set that is kept with the source.
    #[must_use]
    pub fn repository() -> Self {
        Self { root: workspace_root().join("tests/golden") }
    }

    /// The whole golden set beside the checkout, when this machine has it.
    #[must_use]
    pub fn shared() -> Option<Self> {
        let root = shared_directory()?.join("golden");
        root.is_dir().then_some(Self { root })
    }

    /// [`repository`](Self::repository) and, when this machine has it, [`shared`](Self::shared).
    #[must_use]
    pub fn all() -> Vec<Self> {
        [Some(Self::repository()), Self::shared()].into_iter().flatten().collect()
    }

    /// The directory of this set.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The entries of one family (`blosc1`, `blosc2`, ...), in the order of its manifest.
    ///
    /// # Panics
    /// When there is no such manifest, or it is not one.
    #[must_use]
    pub fn entries(&self, set: &str) -> Vec<Entry> {
        let path = self.root.join(set).join("manifest.json");
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let manifest: Value =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // The files of the old libraries have a manifest that is the list itself.
        let files = manifest["files"]
            .as_array()
            .or(manifest.as_array())
            .unwrap_or_else(|| panic!("{}: no list of files", path.display()));
        files.iter().map(|entry| Entry::new(self, set, entry)).collect()
    }

    /// The entries of all sets of chunks that are chunks, lazy ones included.
    pub fn chunks(&self) -> Vec<Entry> {
        let entries = ["blosc1", "blosc2", "extra"].iter().flat_map(|set| self.entries(set));
        entries.filter(|entry| CHUNK_KINDS.contains(&entry.kind.as_str())).collect()
    }
}

/// The kinds of entries that are one chunk.
pub const CHUNK_KINDS: [&str; 5] = ["blosc1-chunk", "blosc1-pack_array", "chunk", "vlchunk", "lazychunk"];

/// One file of a golden set.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The family that it belongs to.
    pub set: String,
    /// Its name in the manifest.
    pub file: String,
    /// Where it is, or `None` if it is not stored on this machine.
    pub path: Option<PathBuf>,
    /// What it is: `chunk`, `vlchunk`, `blosc1-chunk`, ...
    pub kind: String,
    /// The SHA-256 of the file.
    pub file_sha256: Option<String>,
    /// How many plain bytes it decodes to.
    pub plain_nbytes: Option<usize>,
    /// The SHA-256 of the plain bytes; `None` when they are not specified.
    pub plain_sha256: Option<String>,
    /// The SHA-256 of the bytes before a lossy filter.
    pub original_sha256: Option<String>,
    /// Whether a lossy filter was used.
    pub lossy: bool,
    /// The formula of the plain bytes, for [`formula::generate`](crate::formula::generate).
    pub data: Value,
    /// How the file was written.
    pub how: Value,
    /// What a parser should find in it.
    pub facts: Value,
    /// A remark for the reader.
    pub note: Option<String>,
    /// The whole entry, for what only some kinds have.
    pub manifest: Value,
}

impl Entry {
    fn new(golden: &Golden, set: &str, entry: &Value) -> Self {
        let text = |name: &str| entry[name].as_str().map(str::to_owned);
        let number = |name: &str| entry[name].as_u64();
        let file = text("file").expect("an entry has a file");
        Self {
            set: set.to_owned(),
            path: locate(golden, set, &file),
            kind: text("kind").expect("an entry has a kind"),
            file_sha256: text("file_sha256"),
            plain_nbytes: number("plain_nbytes").or(number("nbytes")).and_then(|nbytes| usize::try_from(nbytes).ok()),
            plain_sha256: text("plain_sha256").or_else(|| text("sha256")),
            original_sha256: text("original_sha256"),
            lossy: entry["lossy"].as_bool().unwrap_or(false),
            data: entry["data"].clone(),
            how: entry["how"].clone(),
            facts: entry["facts"].clone(),
            note: text("note"),
            manifest: entry.clone(),
            file,
        }
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// When the file is not stored on this machine or cannot be read.
    #[must_use]
    pub fn read(&self) -> Vec<u8> {
        let path = self.path.as_ref().unwrap_or_else(|| panic!("{} is not stored here", self.file));
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The plain bytes made from the formula, before any lossy filter; `None` when there is no
    /// formula.
    #[must_use]
    pub fn original(&self) -> Option<Vec<u8>> {
        crate::formula::generate(&self.data)
    }
}

/// An `external:` entry is a file of the C-Blosc repository, of which the compat directory holds
/// copies.
fn locate(golden: &Golden, set: &str, file: &str) -> Option<PathBuf> {
    let Some(external) = file.strip_prefix("external:") else {
        return Some(golden.root.join(set).join(file));
    };
    let path = shared_directory()?.join("compat/chunks").join(Path::new(external).file_name()?);
    path.is_file().then_some(path)
}

fn workspace_root() -> PathBuf {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_root.ancestors().nth(2).expect("the crate is in crates/testkit of its workspace").to_owned()
}

fn shared_directory() -> Option<PathBuf> {
    let directory = workspace_root().parent()?.join("shared");
    directory.is_dir().then_some(directory)
}
