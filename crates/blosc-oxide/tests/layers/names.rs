//! The public names: the crate root is small, each type shows how it is used, and enums can grow.

use std::fs;
use std::path::Path;

/// How many names the crate root may have.
const MOST: usize = 60;

/// Enums that are complete: matching all of their variants may be relied upon.
const COMPLETE: [&str; 2] = ["BitshuffleRule", "ItemOrder"];

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

/// A public type with the comments and attributes in front of it.
struct PublicType<'a> {
    keyword: &'a str,
    name: String,
    documentation: Vec<&'a str>,
    attributes: Vec<&'a str>,
}

fn public_types(source: &str) -> Vec<PublicType<'_>> {
    let (mut types, mut documentation, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("///") {
            documentation.push(text.trim());
        } else if line.starts_with("#[") {
            attributes.push(line);
        } else {
            let declared = line.strip_prefix("pub ").and_then(|rest| rest.split_once(' '));
            if let Some((keyword @ ("struct" | "enum" | "trait" | "union"), rest)) = declared {
                let name = crate::first_name(rest);
                types.push(PublicType { keyword, name, documentation, attributes });
            }
            (documentation, attributes) = (Vec::new(), Vec::new());
        }
    }
    types
}

impl PublicType<'_> {
    /// Whether a block of code in its documentation is compiled and run.
    fn has_example(&self) -> bool {
        let mut fences = self.documentation.iter().filter(|line| line.starts_with("```"));
        std::iter::from_fn(|| fences.next().zip(fences.next())).any(|(open, _)| matches!(*open, "```" | "```rust"))
    }

    fn can_grow(&self) -> bool {
        self.attributes.contains(&"#[non_exhaustive]")
    }
}

/// The names of the public types that `is_wrong` is true for.
fn public_types_that(is_wrong: impl Fn(&PublicType<'_>) -> bool) -> Vec<String> {
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in crate::rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let source = fs::read_to_string(&file).unwrap();
        let types = public_types(&source);
        seen += types.len();
        wrong.extend(types.iter().filter(|found| is_wrong(found)).map(|found| found.name.clone()));
    }
    assert!(seen > 80, "only {seen} types were found");
    wrong
}

#[test]
fn every_public_type_has_an_example_that_runs() {
    let without = public_types_that(|found| !found.has_example());
    assert!(without.is_empty(), "types without an example: {}", without.join(", "));
}

#[test]
fn every_public_enum_can_grow_or_is_complete() {
    let is_closed = |found: &PublicType<'_>| found.keyword == "enum" && !found.can_grow();
    let mut closed = public_types_that(is_closed);
    closed.sort();
    assert_eq!(closed, COMPLETE, "these lack #[non_exhaustive]");
}

#[test]
fn types_are_found_with_what_is_in_front_of_them() {
    let source = "/// A.\n///\n/// ```\n/// f();\n/// ```\n#[derive(Debug)]\n#[non_exhaustive]\npub enum A {\n}\n\n\
                  /// ```text\n/// no\n/// ```\npub struct B<T>(T);\npub(crate) struct C;\npub trait D {}\n";
    let types = public_types(source);
    let found: Vec<_> = types.iter().map(|t| (t.keyword, t.name.as_str(), t.has_example(), t.can_grow())).collect();
    let expected = [("enum", "A", true, true), ("struct", "B", false, false), ("trait", "D", false, false)];
    assert_eq!(found, expected);
}

/// Options that are read back under another name, or set others.
const READ_BACK_BY: [(&str, &str); 3] =
    [("filters", "pipeline"), ("metalayer", "metalayers"), ("automatic_chunks", "chunks")];

/// The options of a file that can be set, but not be read back.
fn write_only_options(source: &str) -> Vec<String> {
    let names = |start: &str, receiver: &str| -> Vec<String> {
        let lines = source.lines().map(|line| line.trim().replace("const fn", "fn"));
        let methods = lines.filter(|line| line.contains(receiver));
        methods.filter_map(|line| line.strip_prefix(start).map(crate::first_name)).collect()
    };
    let (by_reference, by_value) = (names("pub fn ", "(&self"), names("pub fn ", "(self)"));
    let mut set = names("pub fn with_", "(mut self");
    set.retain(|option| {
        let other = READ_BACK_BY.iter().find(|(set, _)| set == option).map(|(_, by)| *by);
        !by_reference.iter().chain(&by_value).any(|name| name == option || Some(name.as_str()) == other)
    });
    set
}

#[test]
fn every_option_can_be_read_back() {
    let mut seen = 0;
    for file in crate::rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        if file.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("options") || name == "limits") {
            let options = write_only_options(&fs::read_to_string(&file).unwrap());
            assert!(options.is_empty(), "{}: {} cannot be read back", file.display(), options.join(", "));
            seen += 1;
        }
    }
    assert!(seen >= 5, "only {seen} files of options were found");
}

#[test]
fn an_option_without_a_getter_is_found() {
    let source = "    pub fn with_a(mut self, a: u8) -> Self {\n    pub const fn with_b(mut self, b: u8) -> Self {\n    \
                  pub const fn b(self) -> u8 {\n    pub fn aa(&self) -> u8 {";
    assert_eq!(write_only_options(source), ["a"]);
}
