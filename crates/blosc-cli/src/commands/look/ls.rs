//! `blosc ls`

use crate::arguments::cli::Global;
use crate::arguments::inputs::below;
use crate::arguments::size;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format::{self, FileFormat};
use crate::inputs::input;
use crate::inputs::source::{Opening, is_single};
use crate::outputs::output;
use crate::show::facts::Facts;
use crate::show::json;
use crate::show::rows::{self, Order, Row};
use crate::store::{self, Store};
use crate::zarr::{self, Description};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// List Blosc files, stores and .npy files: format, type and shape, size of the data, size as
/// stored, ratio, codec and filters.
///
/// Of a directory, the files in it that are one of these; of a store, its members.
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Files and directories [default: the current directory]
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Go into the directories below, too
    #[arg(long, short)]
    recursive: bool,
    /// What to sort by
    #[arg(long, value_enum, default_value = "name")]
    sort: Order,
    /// Print an object with documented keys
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let current = [PathBuf::from(".")];
        let inputs = if self.inputs.is_empty() { &current[..] } else { &self.inputs };
        let opening = Opening::new(global).unchecked();
        let (mut found, mut worst) = (Vec::new(), Ok(()));
        let mut add = |path: &Path| match rows_of(path, &opening) {
            Ok(rows) => found.extend(rows),
            Err(failure) => failure.report_among(&mut worst),
        };
        for path in inputs {
            if input::is_stream(path) {
                return Err(Failure::usage("standard input has no name to list; `blosc info -` looks into it"));
            }
            if format::is_directory(path)? && !is_single(path)? && !zarr::is_array(path) {
                let files = below(path, self.recursive, &is_listed)?;
                files.iter().for_each(|file| add(file.strip_prefix("./").unwrap_or(file)));
            } else {
                add(path);
            }
        }
        rows::sort(&mut found, self.sort);
        let mut out = output::stdout()?;
        if self.json {
            writeln!(out, "{}", json::lines(&rows::to_json(&found)))?;
        } else if !found.is_empty() {
            out.write_all(rows::table(&found).as_bytes())?;
        } else if worst.is_ok() && !global.quiet {
            crate::failure::tell("no Blosc file, store or .npy file here; -r looks into directories, too");
        }
        worst
    }
}

/// Whether a file of a directory is listed.
fn is_listed(path: &Path) -> Outcome<bool> {
    if path.is_dir() {
        return Ok(is_single(path)? || zarr::is_array(path));
    }
    Ok(FileFormat::of_path(path).is_some() || is_single(path)? || input::is_npy_name(path) && input::is_npy(path)?)
}

/// The row of a file, or those of the members of a store.
fn rows_of(path: &Path, opening: &Opening) -> Outcome<Vec<Row>> {
    let name = path.display().to_string();
    if path.is_file() && input::is_npy(path)? {
        let (header, _) = input::open_npy(path)?;
        return Ok(vec![Row::of_npy(name, &header, size::of_path(path))]);
    }
    if path.is_dir() && zarr::is_array(path) {
        let description = Description::open(path)?;
        let stored = below(path, true, &|file| Ok(!file.is_dir()))?.iter().map(|file| size::of_path(file)).sum();
        return Ok(vec![Row::of_zarr(name, &description, stored)]);
    }
    if path.exists() && store::is_store(path)? {
        return Store::open(path, opening)?.rows(&name, opening);
    }
    let source = opening.open(path)?;
    let facts = Facts::of(source).in_data(&name)?.0;
    let stored = if path.exists() { size::of_path(path) } else { facts.cbytes };
    Ok(vec![Row::of_facts(name, &facts, stored)])
}
