//! A module uses only lower layers: every `crate::` path in the source is read and an upward edge
//! fails.

mod cycles;
mod imports;
mod names;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate, lowest layer first. Only `lib.rs`, above them all, may use everything.
const LAYERS: [&[&str]; 8] = [
    &["error", "bytes", "isa", "item", "limits", "numpy"],
    &["filter", "codec", "exec", "storage"],
    &["chunk"],
    &["schunk"],
    &["frame", "bloscpack"],
    &["legacy"],
    &["array"],
    &["container"],
];

/// What every module may use, also one of the same layer.
const FOUNDATION: &str = "error";

/// One use of a module (or of an item of the crate root) by another.
#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: String,
    to: String,
    line: usize,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}` uses `crate::{}`", self.line, self.from, self.to)
    }
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// A name that is no module of the table is an item of `lib.rs`, which is above every module.
fn is_allowed(edge: &Edge) -> bool {
    let Some(to) = layer_of(&edge.to) else { return false };
    edge.from == edge.to || edge.to == FOUNDATION || layer_of(&edge.from).is_some_and(|from| to < from)
}

/// The forbidden edges of one file, which is `depth` modules below the crate root.
fn upward_edges(module: &str, depth: usize, source: &str) -> Vec<Edge> {
    let code = without_comments(source);
    let mut edges = named_from_root(module, &code);
    edges.extend(named_by_super(module, depth, &code));
    edges.retain(|edge| !is_allowed(edge));
    edges
}

/// Comments become spaces, so that line numbers stay; `crate::` in a documentation link is no edge.
fn without_comments(source: &str) -> String {
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Paths that start with `crate::`, each branch of a `crate::{...}` group by itself.
fn named_from_root(module: &str, code: &str) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (at, word) in code.match_indices("crate::") {
        let before = code[..at].trim_end();
        let is_longer_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_visibility = before.ends_with("(in");
        if !is_longer_word && !is_visibility {
            edges.extend(edges_at(module, code, at, &code[at + word.len()..]));
        }
    }
    edges
}

/// Paths that climb with `super::` to the crate root; one more step is needed inside the test
/// module of a file.
fn named_by_super(module: &str, depth: usize, code: &str) -> Vec<Edge> {
    let tests_start = code.find("#[cfg(test)]").unwrap_or(code.len());
    let mut edges = Vec::new();
    for (at, _) in code.match_indices("super::") {
        if code[..at].ends_with("super::") {
            continue;
        }
        let path = code[at..].trim_start_matches("super::");
        let steps = (code.len() - at - path.len()) / "super::".len();
        if steps >= depth + usize::from(at > tests_start) {
            edges.extend(edges_at(module, code, at, path));
        }
    }
    edges
}

fn edges_at(module: &str, code: &str, at: usize, path: &str) -> Vec<Edge> {
    let line = code[..at].matches('\n').count() + 1;
    first_names(path).into_iter().map(|to| Edge { from: module.to_owned(), to, line }).collect()
}

/// The first name of a path, or of every branch of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    match path.trim_start().strip_prefix('{') {
        Some(group) => branches(group).into_iter().map(first_name).filter(|name| !name.is_empty()).collect(),
        None => vec![first_name(path)],
    }
}

fn first_name(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '*')).collect()
}

/// The parts between the commas of a group, up to its closing brace; inner groups stay whole.
fn branches(group: &str) -> Vec<&str> {
    let (mut inner, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => inner += 1,
            '}' if inner > 0 => inner -= 1,
            ',' | '}' if inner == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

/// Every Rust file below `directory`.
fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The module names from the crate root down to a file: `chunk/header.rs` and `chunk/header/mod.rs`
/// are the same.
fn module_path(file: &Path) -> Vec<String> {
    let mut names: Vec<_> = file.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "mod");
    names
}

#[test]
fn no_module_uses_a_higher_layer() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut problems = Vec::new();
    for file in rust_files(&src) {
        let relative = file.strip_prefix(&src).unwrap();
        if relative == Path::new("lib.rs") {
            continue;
        }
        let names = module_path(relative);
        if layer_of(&names[0]).is_none() {
            problems.push(format!("{}: `{}` has no layer in the table", relative.display(), names[0]));
        }
        let source = fs::read_to_string(&file).unwrap();
        let edges = upward_edges(&names[0], names.len(), &source);
        problems.extend(edges.iter().map(|edge| format!("{}, {edge}", relative.display())));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

mod the_check {
    use super::{module_path, upward_edges};
    use std::path::Path;

    fn targets(module: &str, depth: usize, source: &str) -> Vec<String> {
        upward_edges(module, depth, source).into_iter().map(|edge| edge.to).collect()
    }

    #[test]
    fn finds_an_upward_edge() {
        assert_eq!(targets("codec", 1, "use crate::chunk::Header;"), ["chunk"]);
        assert_eq!(targets("error", 1, "fn f(x: crate::bytes::Cursor) {}"), ["bytes"]);
    }

    #[test]
    fn finds_an_edge_within_a_layer() {
        assert_eq!(targets("filter", 2, "use crate::codec::Codec;"), ["codec"]);
        assert_eq!(targets("bytes", 1, "use crate::limits::Limits;"), ["limits"]);
    }

    #[test]
    fn finds_every_branch_of_a_group() {
        let source = "use crate::{\n    error::{Error, Result},\n    frame::Frame,\n    array,\n};";
        assert_eq!(targets("chunk", 1, source), ["frame", "array"]);
    }

    #[test]
    fn finds_an_item_of_the_crate_root() {
        assert_eq!(targets("chunk", 1, "use crate::compress;"), ["compress"]);
        assert_eq!(targets("chunk", 1, "use crate::*;"), ["*"]);
    }

    #[test]
    fn finds_a_path_that_climbs_to_the_root() {
        assert_eq!(targets("filter", 2, "use super::super::chunk::Header;"), ["chunk"]);
        assert_eq!(targets("filter", 2, "use super::Pipeline;"), [""; 0]);
        assert_eq!(targets("filter", 1, "#[cfg(test)]\nmod tests {\n    use super::*;\n}"), [""; 0]);
    }

    #[test]
    fn names_the_line() {
        let edges = upward_edges("codec", 1, "// first\n\nuse crate::chunk::Header;");
        assert_eq!(edges[0].to_string(), "line 3: `codec` uses `crate::chunk`");
    }

    #[test]
    fn allows_lower_layers_itself_errors_and_visibility() {
        let source = "use crate::error::Result;\nuse crate::{bytes, codec::Codec};\nuse crate::chunk::header;\n\
                      pub(in crate::schunk) fn f() {}\n/// See [`crate::Frame`].\nuse mycrate::x;";
        assert_eq!(targets("chunk", 2, source), [""; 0]);
    }

    #[test]
    fn knows_the_module_of_a_file() {
        assert_eq!(module_path(Path::new("chunk/header.rs")), ["chunk", "header"]);
        assert_eq!(module_path(Path::new("chunk/mod.rs")), ["chunk"]);
        assert_eq!(module_path(Path::new("error.rs")), ["error"]);
    }
}
