//! The crate root is small: what every program may need, and modules for the rest.

use std::fs;
use std::path::Path;

/// How many names the crate root may have.
const MOST: usize = 60;

/// The public names of `lib.rs`: modules, functions, and those that are re-exported from modules.
fn names(source: &str) -> Vec<String> {
    let code = crate::without_comments(source);
    let mut names = Vec::new();
    for line in code.lines() {
        for keyword in ["pub mod ", "pub fn ", "pub const ", "pub type "] {
            names.extend(line.strip_prefix(keyword).map(crate::first_name));
        }
    }
    for (at, keyword) in code.match_indices("\npub use ") {
        let (path, _) = code[at + keyword.len()..].split_once(';').unwrap();
        match path.split_once('{') {
            Some((_, group)) => names.extend(crate::branches(group).into_iter().map(crate::first_name)),
            None => names.extend(path.rsplit("::").next().map(crate::first_name)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn the_crate_root_has_few_names() {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let names = names(&source);
    assert!(names.contains(&"compress".to_owned()) && names.contains(&"Options".to_owned()), "{names:?}");
    assert!(names.len() <= MOST, "{} names, {MOST} are allowed: {names:?}", names.len());
}

#[test]
fn every_kind_of_name_is_counted() {
    let source = "pub mod a;\nmod b;\n/// pub fn no() {}\npub use c::D;\npub use c::{\n    E, F,\n};\npub fn g<T>() {}\npub mod h {\n    pub use x::Y;\n}";
    let mut names = names(source);
    names.sort();
    assert_eq!(names, ["D", "E", "F", "a", "g", "h"]);
}
