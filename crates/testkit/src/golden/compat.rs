//! Chunks that releases of C-Blosc wrote over the years, and what they decode to.

use super::shared_directory;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the compatibility files beside the checkout.
#[derive(Debug, Clone)]
pub struct Compat {
    root: PathBuf,
}

impl Compat {
    /// The directory, when this machine has it.
    #[must_use]
    pub fn shared() -> Option<Self> {
        let root = shared_directory()?.join("compat");
        root.is_dir().then_some(Self { root })
    }

    /// The directory of one family: `chunks`, `frames`, `b2nd` or `legacy`.
    #[must_use]
    pub fn directory(&self, family: &str) -> PathBuf {
        self.root.join(family)
    }

    /// The files of `chunks`, sorted by name; `*.cdata` only.
    ///
    /// # Panics
    /// When the directory cannot be read.
    #[must_use]
    pub fn chunks(&self) -> Vec<CompatFile> {
        let directory = self.directory("chunks");
        let listing = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let mut paths: Vec<PathBuf> = listing.map(|file| file.expect("a directory can be listed").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "cdata"));
        paths.sort();
        paths.into_iter().map(CompatFile::new).collect()
    }
}

/// One file of `compat/chunks`. All of them are made from the 32-bit integers 0, 1, 2, ...,
/// little-endian.
#[derive(Debug, Clone)]
pub struct CompatFile {
    /// The name of the file.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it decodes to.
    pub plain_nbytes: usize,
    /// How many of those bytes can be compared: some old writers damaged the last few.
    pub compared: usize,
    /// Whether it is no chunk but the output of a filter on the integers (typesize 4, one block).
    pub raw_filter: bool,
}

/// What most files decode to: 1,000,000 integers.
const MOST_NBYTES: usize = 4_000_000;

impl CompatFile {
    fn new(path: PathBuf) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plain_nbytes = expected_nbytes(&name);
        let damaged_tail = name.starts_with("blosc-1.") && name.ends_with("memcpy.cdata");
        let compared = if damaged_tail { plain_nbytes / 8 * 8 } else { plain_nbytes };
        Self { raw_filter: !name.starts_with("blosc-"), name, path, plain_nbytes, compared }
    }

    /// The bytes that it decodes to, the last few of which only matter up to
    /// [`compared`](Self::compared).
    #[must_use]
    pub fn plain(&self) -> Vec<u8> {
        let mut plain: Vec<u8> = (0u32..1_000_000).flat_map(u32::to_le_bytes).collect();
        plain.truncate(self.plain_nbytes);
        plain
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn read(&self) -> Vec<u8> {
        read(&self.path)
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The bitshuffle fixtures have a length that is no multiple of eight elements; all others are
/// whole.
fn expected_nbytes(name: &str) -> usize {
    match name {
        _ if !name.ends_with("memcpy.cdata") => MOST_NBYTES,
        _ if name.starts_with("blosc-1.18.0") => 641_091,
        _ => 641_092,
    }
}

#[cfg(test)]
mod tests {
    use super::{CompatFile, PathBuf};

    fn file(name: &str) -> CompatFile {
        CompatFile::new(PathBuf::from(name))
    }

    #[test]
    fn the_damaged_tails_of_old_bitshuffle_chunks_are_not_compared() {
        let old = file("blosc-1.18.0-lz4-bitshuffle4-memcpy.cdata");
        assert_eq!((old.plain_nbytes, old.compared), (641_091, 641_088));
        let new = file("blosc-2.0.0-lz4-bitshuffle8-nomemcpy.cdata");
        assert_eq!((new.plain_nbytes, new.compared), (641_092, 641_092));
        assert_eq!(file("blosc-1.18.0-lz4-bitshuffle.cdata").compared, 4_000_000);
    }

    #[test]
    fn raw_filter_output_is_told_from_chunks() {
        assert!(file("shuffle-2.20.0.cdata").raw_filter);
        assert!(!file("blosc-zstd-3.0.0.cdata").raw_filter);
    }
}
