//! Names of members: what may become the path of a file, and which files would be in each other's
//! way.

use std::collections::BTreeMap;

/// The longest name of a file that common file systems take.
const MAX_PART: usize = 255;

/// Refuses the name of a member that could lead out of the directory that it is unpacked into, or
/// cannot be a file.
pub(super) fn check(name: &str) -> Result<(), String> {
    let fault = if name.is_empty() {
        "is empty"
    } else if name.starts_with('/') || name.as_bytes().get(1) == Some(&b':') {
        "is absolute"
    } else if name.contains('\\') || name.contains(char::is_control) {
        "has characters that no name of a file may have"
    } else if name.split('/').any(|part| part == "..") {
        "leads out of the store"
    } else if name.split('/').any(|part| part.is_empty() || part == ".") {
        "has a part without a name"
    } else if name.split('/').any(|part| part.len() > MAX_PART) {
        "is too long"
    } else {
        return Ok(());
    };
    Err(format!("the name of member {name:?} {fault}"))
}

/// Refuses names of which two are the same, or one is a file where another needs a directory.
pub(super) fn check_apart<'a>(names: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), String> {
    let mut all = BTreeMap::new();
    for (name, member) in names {
        if let Some(other) = all.insert(name, member) {
            return Err(format!("members {other:?} and {member:?} would both become {name:?}"));
        }
    }
    for (name, member) in &all {
        let directories = name.match_indices('/').filter_map(|(end, _)| name.get(..end));
        for directory in directories {
            if let Some(other) = all.get(directory) {
                return Err(format!("member {other:?} would be a file where {member:?} needs a directory"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for name in ["a", "dir/b.b2nd", ".hidden", "a..b", "gr\u{f6}\u{df}e", "a/b/c/d"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        let long = "x".repeat(256);
        for name in [
            "",
            "/a",
            "//a",
            "..",
            "../a",
            "a/../../b",
            "a/..",
            "a//b",
            "a/",
            "./a",
            "a/.",
            "C:a",
            "a\\..\\b",
            "a\0",
            "a\nb",
            &long,
        ] {
            assert!(check(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn names_stay_apart() {
        let apart = |names: &[&str]| check_apart(names.iter().map(|&name| (name, name)));
        assert_eq!(apart(&["a", "b/c", "b/d", "a.b"]), Ok(()));
        assert!(apart(&["a", "a"]).unwrap_err().contains("both become"));
        assert!(apart(&["a/b/c", "a/b"]).unwrap_err().contains("needs a directory"));
        assert!(apart(&["a", "a/b", "a!"]).is_err());
    }
}
