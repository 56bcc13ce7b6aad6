//! No folder has an import cycle: whoever reads one file of it needs to know those below only.
//!
//! The files and folders of a folder are told apart, and what its `mod.rs` defines itself; a use of
//! a module deep inside of one by a module deep inside of another is one of the two.

use crate::imports::{Crate, ModulePath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The name of what the file of a folder defines itself.
const OWN: &str = "mod.rs";

/// For each folder, who uses whom in it, with a pair of modules that shows it.
type Folders = BTreeMap<ModulePath, BTreeMap<(String, String), (ModulePath, ModulePath)>>;

fn folders(uses: BTreeSet<(ModulePath, ModulePath)>) -> Folders {
    let mut folders = Folders::new();
    for (from, to) in uses {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let name = |path: &ModulePath| path.get(shared).cloned().unwrap_or_else(|| OWN.to_owned());
        let edge = (name(&from), name(&to));
        folders.entry(from[..shared].to_vec()).or_default().entry(edge).or_insert((from, to));
    }
    // What the crate root holds is for `lib.rs` alone, which the layers are about.
    if let Some(root) = folders.get_mut(&Vec::new()) {
        root.retain(|(from, to), _| from != OWN && to != OWN);
    }
    folders
}

/// The members of a folder that reach themselves, as sets that reach each other.
fn cycles(edges: &BTreeMap<(String, String), (ModulePath, ModulePath)>) -> Vec<BTreeSet<String>> {
    let names: BTreeSet<&String> = edges.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached = |start: &String| -> BTreeSet<String> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start.clone()]);
        while let Some(at) = open.pop() {
            for (_, to) in edges.keys().filter(|(from, _)| *from == at) {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    let all: BTreeMap<&String, BTreeSet<String>> = names.iter().map(|name| (*name, reached(name))).collect();
    let sets: BTreeSet<BTreeSet<String>> = names
        .iter()
        .filter(|name| all[**name].contains(**name))
        .map(|name| all[*name].iter().filter(|other| all[*other].contains(*name)).cloned().collect())
        .collect();
    sets.into_iter().collect()
}

/// A sentence for each cycle, with the uses that make it.
fn report(parsed: &Crate) -> Vec<String> {
    let mut lines = Vec::new();
    for (folder, edges) in folders(parsed.uses()) {
        for cycle in cycles(&edges) {
            let uses: Vec<String> = edges
                .iter()
                .filter(|((from, to), _)| cycle.contains(from) && cycle.contains(to))
                .map(|((from, to), (a, b))| format!("    {from} -> {to} ({} uses {})", a.join("::"), b.join("::")))
                .collect();
            let names: Vec<&str> = cycle.iter().map(String::as_str).collect();
            lines.push(format!("{}/: {}\n{}", folder.join("/"), names.join(", "), uses.join("\n")));
        }
    }
    lines
}

#[test]
fn no_folder_has_an_import_cycle() {
    let parsed = Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let problems = report(&parsed);
    assert!(problems.is_empty(), "import cycles:\n{}", problems.join("\n"));
}

mod the_check {
    use super::{Crate, report};

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let mut parsed = Crate::default();
        for (path, source) in files {
            parsed.add(path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect(), source);
        }
        report(&parsed)
    }

    #[test]
    fn finds_two_files_that_use_each_other() {
        let found = problems(&[("a", ""), ("a/x", "use super::y::Y;"), ("a/y", "fn f(x: crate::a::x::X) {}")]);
        assert_eq!(found, ["a/: x, y\n    x -> y (a::x uses a::y)\n    y -> x (a::y uses a::x)"]);
    }

    #[test]
    fn finds_a_cycle_of_three_through_folders_and_re_exports() {
        let files = [
            ("a", "mod x;\nmod y;\nmod z;\npub use z::Z as Name;"),
            ("a/x", ""),
            ("a/x/deep", "use crate::a::y::{self, Other};"),
            ("a/y", "use super::{\n    Name,\n};"),
            ("a/z", "pub(super) use super::x::deep::D;\nuse super::x;"),
        ];
        assert_eq!(problems(&files).len(), 1);
        assert!(problems(&files)[0].starts_with("a/: x, y, z\n"), "{:?}", problems(&files));
    }

    #[test]
    fn finds_a_file_that_uses_what_its_folder_defines_of_it() {
        let found = problems(&[("a", "mod x;\nuse x::X;\npub struct A(X);"), ("a/x", "use super::A;")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/: mod.rs, x\n"), "{found:?}");
    }

    #[test]
    fn allows_re_exports_tests_and_use_of_what_is_below() {
        let files = [
            ("a", "mod x;\nmod y;\npub use x::X;\npub(crate) use y::Y;\npub struct A;"),
            ("a/x", "use super::{A, Y};"),
            ("a/y", "use super::A;\n#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}"),
        ];
        assert_eq!(problems(&files), [""; 0]);
    }
}
