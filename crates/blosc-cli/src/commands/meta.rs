//! `blosc meta`

use crate::arguments::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format;
use crate::inputs::input::{self, read_layer, read_whole};
use crate::inputs::source::{Opening, Source};
use crate::outputs::changing::{self, Alone};
use crate::outputs::output;
use crate::process::terminal::printable;
use crate::show::metadata::{BLP_NAME, Metadata};
use blosc_oxide::bloscpack::replace_metadata;
use blosc_oxide::{FrameEdit, storage::FileStorage};
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::{Path, PathBuf};

/// List, print, set and delete metalayers, and the metadata of Bloscpack files.
#[derive(Debug, Args)]
pub(crate) struct Meta {
    #[command(subcommand)]
    action: Action,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
enum Action {
    /// List names, kinds and sizes
    List {
        /// The file
        file: PathBuf,
    },
    /// Print the content of one
    Get {
        /// The file
        file: PathBuf,
        /// Its name; `metadata` for a Bloscpack file
        name: String,
    },
    /// Add one or give it another content
    Set {
        /// The file
        file: PathBuf,
        /// Its name; `metadata` for a Bloscpack file
        name: String,
        /// The content; @FILE takes that of a file, `-` standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Add a metalayer of fixed size, in the header, instead of a variable-length one
        #[arg(long)]
        fixed: bool,
    },
    /// Take one away
    Delete {
        /// The file
        file: PathBuf,
        /// Its name
        name: String,
    },
}

impl Meta {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        match &self.action {
            Action::List { file } => list(file, global),
            Action::Get { file, name } => get(file, name, global),
            Action::Set { file, name, value, fixed } => set(file, name, &content(value, global)?, *fixed, global),
            Action::Delete { file, name } => delete(file, name, global),
        }
    }
}

/// What a value on the command line stands for.
fn content(value: &str, global: &Global) -> Outcome<Vec<u8>> {
    if value == "-" {
        return read_whole(input::stdin()?, "the metalayer", global.limits()).at("standard input");
    }
    match value.strip_prefix('@') {
        Some(file) => read_layer(file, global.limits()),
        None => Ok(value.as_bytes().to_vec()),
    }
}

/// Kinds and names of all layers of a file, and how long they are, where that can be told.
fn sizes(source: &Source, path: &Path) -> Outcome<Vec<(&'static str, String, Option<usize>)>> {
    if let Source::Frame(frame) = source {
        let fixed = frame.metalayers().iter().map(|(name, content)| ("fixed", name.to_owned(), Some(content.len())));
        let layers = frame.vlmetalayers();
        let variable = layers.names().map(|name| ("variable", name.to_owned(), layers.nbytes(name).ok().flatten()));
        return Ok(fixed.chain(variable).collect());
    }
    let sized = |(kind, name, content): (_, _, Vec<u8>)| (kind, name, Some(content.len()));
    Ok(others(source, path)?.into_iter().map(sized).collect())
}

/// The layers of a file that is no frame, with their kinds.
fn others(source: &Source, path: &Path) -> Outcome<Vec<(&'static str, String, Vec<u8>)>> {
    let Metadata { layers, vllayers, json, .. } = Metadata::of(source).in_data(path.display())?;
    let json = json.map(|json| ("json", BLP_NAME.to_owned(), json.into_bytes()));
    let named = layers.into_iter().chain(vllayers).map(|(name, content)| ("variable", name, content));
    Ok(named.chain(json).collect())
}

fn list(path: &Path, global: &Global) -> Outcome {
    let source = Opening::new(global).open(path)?;
    let mut out = output::stdout()?;
    for (kind, name, nbytes) in sizes(&source, path)? {
        let nbytes = nbytes.map_or_else(|| "damaged".to_owned(), |nbytes| nbytes.to_string());
        writeln!(out, "{kind:<8} {nbytes:>10}  {}", printable(&name))?;
    }
    Ok(())
}

fn get(path: &Path, name: &str, global: &Global) -> Outcome {
    let source = Opening::new(global).open(path)?;
    let content = match &source {
        Source::Frame(frame) => match frame.metalayers().get(name) {
            Some(content) => Some(content.to_vec()),
            None => frame.vlmetalayers().get(name).in_data(path.display())?,
        },
        other => others(other, path)?.into_iter().find(|(_, found, _)| found == name).map(|(_, _, content)| content),
    };
    Ok(output::stdout()?.write_all(&content.ok_or_else(|| missing(path, name))?)?)
}

fn missing(path: &Path, name: &str) -> Failure {
    Failure::usage(format!(
        "{}: there is no metalayer {name:?}; `blosc meta list` names those that there are",
        path.display()
    ))
}

fn set(path: &Path, name: &str, content: &[u8], is_fixed: bool, global: &Global) -> Outcome {
    let place = path.display();
    match Opening::new(global).open(path)? {
        Source::Bloscpack(file) => {
            let has_place = file.metadata().is_some();
            drop(file);
            set_blp(path, name, content, has_place, global).at(place)
        }
        Source::Frame(_) => edit(path, name, global, |frame| {
            if frame.metalayers().get(name).is_some() {
                return Ok(frame.metalayers_mut().update(name, content)?);
            }
            if is_fixed {
                return Ok(frame.metalayers_mut().add(name, content)?);
            }
            match frame.vlmetalayers().contains(name) {
                true => Ok(frame.vlmetalayers_mut().update(name, content)?),
                false => Ok(frame.vlmetalayers_mut().add(name, content)?),
            }
        })
        .at(place),
        _ => Err(Failure::usage(format!(
            "{place}: it has no place for metadata that can be changed; convert it to b2frame"
        ))),
    }
}

fn set_blp(path: &Path, name: &str, content: &[u8], has_place: bool, global: &Global) -> Outcome {
    if name != BLP_NAME {
        return Err(Failure::usage(format!("a Bloscpack file has one piece of metadata, called {BLP_NAME} here")));
    }
    if !has_place {
        return Err(Failure::usage(format!(
            "there is no room for metadata in it; `blosc convert --meta {BLP_NAME}=FILE` makes a file that has"
        )));
    }
    let text = std::str::from_utf8(content).map_err(|_| Failure::usage("the metadata must be JSON"))?;
    let _alone = Alone::at(path)?;
    Ok(replace_metadata(&mut FileStorage::open_writable(path)?, text, global.limits())?)
}

fn delete(path: &Path, name: &str, global: &Global) -> Outcome {
    if !matches!(Opening::new(global).open(path)?, Source::Frame(_)) {
        return Err(Failure::usage(format!("{}: only frames and arrays have metalayers to delete", path.display())));
    }
    edit(path, name, global, |frame| {
        if frame.metalayers().get(name).is_some() {
            return Ok(frame.metalayers_mut().remove(name)?);
        }
        match frame.vlmetalayers().contains(name) {
            true => Ok(frame.vlmetalayers_mut().remove(name)?),
            false => Err(Failure::usage(format!("there is no metalayer {name:?}"))),
        }
    })
    .at(path.display())
}

/// Changes a frame in place.
fn edit(path: &Path, name: &str, global: &Global, action: impl FnOnce(&mut FrameEdit) -> Outcome) -> Outcome {
    changing::change(path, global, |frame| {
        if format::ARRAY_LAYERS.contains(&name) && format::is_array(frame) {
            return Err(Failure::usage(format!(
                "the metalayer {name:?} is what makes it an array, and stays as it is"
            )));
        }
        action(frame)
    })
}
