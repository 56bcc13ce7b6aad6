//! The index finds every file, and every formula makes the bytes that its manifest promises.

use testkit::golden::{Compat, Entry, Golden};
use testkit::sha256_hex;

const REPOSITORY_SETS: [&str; 5] = ["blosc1", "blosc2", "extra", "early", "hostile"];
const SHARED_SETS: [&str; 5] = ["blosc1", "blosc2", "bloscpack", "containers", "hostile"];

fn repository_entries() -> Vec<Entry> {
    REPOSITORY_SETS.iter().flat_map(|set| Golden::repository().entries(set)).collect()
}

fn shared_entries() -> Option<Vec<Entry>> {
    let golden = Golden::shared()?;
    Some(SHARED_SETS.iter().flat_map(|set| golden.entries(set)).collect())
}

/// `None` when the entry has no formula, or one whose bytes no hash is given for.
fn formula_holds(entry: &Entry) -> Option<bool> {
    // The formula of an edited frame is what it held before the edits.
    let original = entry.original().filter(|_| !entry.file.contains("/edited-"))?;
    let promised = if entry.lossy { &entry.original_sha256 } else { &entry.plain_sha256 };
    Some(sha256_hex(&original) == *promised.as_ref()?)
}

fn check_formulas(entries: &[Entry]) -> usize {
    let mut checked = 0;
    for entry in entries {
        if let Some(holds) = formula_holds(entry) {
            assert!(holds, "{}/{}: the formula {} makes other bytes", entry.set, entry.file, entry.data);
            checked += 1;
        }
    }
    checked
}

fn check_files(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| check_file(entry)).count()
}

/// Whether there is a hash to check; a sparse frame is a directory and has one for each file in it.
fn check_file(entry: &Entry) -> bool {
    let name = format!("{}/{}", entry.set, entry.file);
    let Some(path) = &entry.path else { return entry.file_sha256.is_some() };
    if let Some(files) = entry.manifest["dir_files"].as_object() {
        for (file, promised) in files {
            let bytes = std::fs::read(path.join(file)).unwrap_or_else(|error| panic!("{name}/{file}: {error}"));
            assert_eq!(sha256_hex(&bytes), *promised, "{name}/{file}");
        }
        return true;
    }
    if let Some(promised) = &entry.file_sha256 {
        assert_eq!(&sha256_hex(&entry.read()), promised, "{name}");
    }
    entry.file_sha256.is_some()
}

#[test]
fn formulas_of_the_repository_make_the_promised_bytes() {
    let checked = check_formulas(&repository_entries());
    assert!(checked >= 300, "only {checked} formulas were checked");
}

#[test]
fn formulas_of_the_whole_set_make_the_promised_bytes() {
    let Some(entries) = shared_entries() else { return };
    let checked = check_formulas(&entries);
    assert!(checked >= 1072, "only {checked} formulas were checked");
}

#[test]
fn every_file_of_the_repository_is_there_and_undamaged() {
    let entries = repository_entries();
    assert_eq!(check_files(&entries), entries.len());
    assert!(entries.iter().all(|entry| entry.path.is_some()), "a file of the repository is kept elsewhere");
}

#[test]
fn every_file_of_the_whole_set_is_undamaged() {
    let Some(entries) = shared_entries() else { return };
    let checked = check_files(&entries);
    assert!(checked >= 1000, "only {checked} files were checked");
}

#[test]
fn every_compatibility_chunk_is_indexed() {
    let Some(compat) = Compat::shared() else { return };
    let chunks = compat.chunks();
    assert_eq!(chunks.len(), 40, "{:?}", chunks.iter().map(|chunk| &chunk.name).collect::<Vec<_>>());
    assert_eq!(chunks.iter().filter(|chunk| chunk.raw_filter).count(), 2);
    assert!(chunks.iter().all(|chunk| chunk.plain().len() == chunk.plain_nbytes));
}
