//! Arrays of Zarr: a directory with a description and a file for each chunk.

mod attributes;
mod chunks;
mod description;
mod fill;
mod plain;
mod read;
mod write;

pub(crate) use description::Description;
pub(crate) use read::Zarr;
pub(crate) use write::write;

use std::path::Path;

/// The metalayer of a b2nd array that keeps what only Zarr has: attributes, the fill value and
/// names of dimensions, as JSON.
pub(crate) const LAYER: &str = "zarr";

/// The versions of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V2,
    V3,
}

impl Version {
    /// The version of the array or group in a directory.
    pub(crate) fn of(directory: &Path) -> Option<Self> {
        if directory.join("zarr.json").is_file() {
            return Some(Self::V3);
        }
        [".zarray", ".zgroup"].iter().any(|name| directory.join(name).is_file()).then_some(Self::V2)
    }

    pub(crate) fn number(self) -> u64 {
        if self == Self::V2 { 2 } else { 3 }
    }
}

/// Whether a name says that it is one of a Zarr directory.
pub(crate) fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zarr"))
}

/// Whether there is an array in a directory, and not a group of them.
pub(crate) fn is_array(directory: &Path) -> bool {
    match Version::of(directory) {
        Some(Version::V2) => directory.join(".zarray").is_file(),
        Some(Version::V3) => !is_group(directory),
        None => false,
    }
}

fn is_group(directory: &Path) -> bool {
    description::json(directory, "zarr.json").is_ok_and(|(found, _)| found["node_type"] == "group")
}
