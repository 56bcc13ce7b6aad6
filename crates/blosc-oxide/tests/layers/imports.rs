//! The imports of a crate: which module uses an item of which other, re-exports followed to where
//! the item is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The names from the crate root down to a module; the root has none.
pub(crate) type ModulePath = Vec<String>;

/// What a file brings into scope: a name, the path it stands for, and whether others see it.
#[derive(Debug, Clone)]
struct Import {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

#[derive(Debug)]
struct Module {
    imports: Vec<Import>,
    /// Paths in the code that start with `crate`, `self` or `super`.
    inline: Vec<Vec<String>>,
}

/// All modules of a crate that have a file, without their unit tests.
#[derive(Debug, Default)]
pub(crate) struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

impl Crate {
    /// Reads the Rust files below `src`.
    pub(crate) fn read(src: &Path) -> Self {
        let mut all = Self::default();
        for file in crate::rust_files(src) {
            let mut path = crate::module_path(file.strip_prefix(src).unwrap());
            path.retain(|name| name != "lib");
            if path.last().is_none_or(|name| name != "tests") {
                all.add(path, &fs::read_to_string(&file).unwrap());
            }
        }
        all
    }

    pub(crate) fn add(&mut self, path: ModulePath, source: &str) {
        let code = without_tests(&crate::without_comments(source));
        let module = Module { imports: imports(&code), inline: inline_paths(&code) };
        self.modules.insert(path, module);
    }

    /// Who uses whom: pairs of modules, the first of which uses an item that is in the file of the
    /// second. A public re-export is no use.
    pub(crate) fn uses(&self) -> BTreeSet<(ModulePath, ModulePath)> {
        let mut uses = BTreeSet::new();
        for (from, module) in &self.modules {
            let imported = module.imports.iter().filter(|import| !import.is_public).map(|import| &import.path);
            for path in imported.chain(&module.inline) {
                if let Some(to) = self.resolve(from, path, 0).filter(|to| to != from) {
                    uses.insert((from.clone(), to));
                }
            }
        }
        uses
    }

    /// The module in whose file the item at `path`, as `from` writes it, is.
    fn resolve(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.clone(),
            "super" => from.split_last()?.1.to_vec(),
            name => self.child(from, name)?,
        };
        while let Some((name, behind)) = rest.split_first() {
            if name == "super" {
                at.pop();
            } else if let Some(child) = self.child(&at, name) {
                at = child;
            } else {
                let import = self.modules.get(&at)?.imports.iter().find(|import| import.name == *name);
                return match import {
                    Some(import) if depth < 8 => {
                        let further: Vec<String> = import.path.iter().chain(behind).cloned().collect();
                        self.resolve(&at, &further, depth + 1)
                    }
                    _ => Some(at),
                };
            }
            rest = behind;
        }
        Some(at)
    }

    fn child(&self, of: &ModulePath, name: &str) -> Option<ModulePath> {
        let child: ModulePath = of.iter().cloned().chain([name.to_owned()]).collect();
        self.modules.contains_key(&child).then_some(child)
    }
}

/// Unit tests are at the end of a file, in a module of their own.
fn without_tests(code: &str) -> String {
    let end =
        code.find("#[cfg(test)]\nmod ").filter(|&at| code[at..].lines().nth(1).is_some_and(|line| line.ends_with('{')));
    code[..end.unwrap_or(code.len())].to_owned()
}

/// The `use` declarations of a file, one for each name.
fn imports(code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for statement in code.split_inclusive(';') {
        let Some(at) = use_keyword(statement) else { continue };
        let line_start = statement[..at].rfind('\n').map_or(0, |line| line + 1);
        let is_public = statement[line_start..at].trim_start().starts_with("pub");
        let tree: String = statement[at + "use ".len()..].trim_end_matches(';').to_owned();
        expand(&[], &tree, &mut |name, path| imports.push(Import { name, path, is_public }));
    }
    imports
}

/// Where the keyword is in a statement that is a `use` declaration.
fn use_keyword(statement: &str) -> Option<usize> {
    statement.match_indices("use ").map(|(at, _)| at).find(|&at| {
        let before = statement[..at].rsplit('\n').next().unwrap_or_default().trim();
        before.is_empty() || (before.starts_with("pub") && !before.contains(char::is_whitespace))
    })
}

/// Every leaf of a tree such as `a::{b, c as d}`, as the name it binds and its whole path.
fn expand(prefix: &[String], tree: &str, leaf: &mut impl FnMut(String, Vec<String>)) {
    let tree = tree.trim();
    let (head, group) = tree.find('{').map_or((tree, None), |at| (&tree[..at], Some(&tree[at + 1..])));
    let (head, alias) = head.split_once(" as ").map_or((head, None), |(head, alias)| (head, Some(alias)));
    let mut path = prefix.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    if let Some(group) = group {
        for branch in crate::branches(group).into_iter().filter(|branch| !branch.trim().is_empty()) {
            expand(&path, branch, leaf);
        }
        return;
    }
    if path.len() > 1 && path.last().is_some_and(|name| name == "self" || name == "*") {
        path.pop();
    }
    let name = alias.map(str::trim).or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
    leaf(name, path);
}

/// Paths outside of `use` declarations that start at the crate or at a module around.
fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let is_longer = code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
            let statement = code[..at].rfind(';').map_or(code, |end| &code[end..]);
            let is_visibility = code[..at].trim_end().ends_with("(in");
            if is_longer
                || is_visibility
                || use_keyword(&statement[..statement.len().min(400)])
                    .is_some_and(|keyword| code.len() - statement.len() + keyword < at)
            {
                continue;
            }
            let text: String =
                code[at..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
            paths.push(text.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect());
        }
    }
    paths
}
