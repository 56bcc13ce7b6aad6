//! The inputs of commands that only look: files, or all files below a directory.

use super::names::standard_input;
use crate::failure::{Failure, Outcome};
use crate::inputs::foreign;
use crate::inputs::format::{self, FileFormat};
use crate::inputs::input;
use crate::inputs::source::is_single;
use crate::outputs::tree::{Fate, Tree};
use clap::Args;
use std::path::{Path, PathBuf};

/// The names of files to look at.
#[derive(Debug, Clone, Args)]
pub(crate) struct Inputs {
    /// The files; `-` is standard input, which is also read if nothing is named and it is no
    /// terminal
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Take every Blosc file below a directory
    #[arg(long, short)]
    recursive: bool,
}

impl Inputs {
    /// The files, those of directories included.
    pub(crate) fn files(&self) -> Outcome<Vec<PathBuf>> {
        if self.inputs.is_empty() {
            return Ok(vec![standard_input()?]);
        }
        let mut files = Vec::new();
        for path in &self.inputs {
            if input::is_stream(path) || !format::is_directory(path)? || is_single(path)? {
                files.push(path.clone());
            } else if self.recursive {
                files.extend(below(path, true, &|path| Ok(FileFormat::of_path(path).is_some() || is_single(path)?))?);
            } else {
                let shown = path.display();
                if let Some(known) = foreign::name_of_directory(path) {
                    return Err(Failure::data(format!("{shown}: {known}")));
                }
                return Err(Failure::usage(format!(
                    "{shown}: this is a directory; -r takes every file in it, and `blosc ls` lists them"
                )));
            }
        }
        Ok(files)
    }
}

/// The files in a directory of which `is_wanted` is true, sorted; those in directories below it
/// only if `is_recursive`. Hidden ones are left out, and so are links.
pub(crate) fn below(
    root: &Path,
    is_recursive: bool,
    is_wanted: &dyn Fn(&Path) -> Outcome<bool>,
) -> Outcome<Vec<PathBuf>> {
    const OTHER: Fate = Fate::Keep("another kind");
    let judge = |path: &Path| {
        if path.is_dir() && !is_wanted(path)? {
            return Ok(if is_recursive { Fate::Enter } else { OTHER });
        }
        Ok(if path.is_dir() || is_wanted(path)? { Fate::Work } else { OTHER })
    };
    Ok(Tree::of(root, None, &judge)?.files)
}
