//! All of a store in a directory, or nothing.

use super::{EMBED_NAME, Kind, Member, Place, Store, names};
use crate::failure::{At, Failure, Outcome};
use crate::inputs::source::{Opening, Source};
use crate::outputs::output::{Output, Writing};
use std::fs::{self, File};
use std::path::Path;

/// What becomes of the members of a store.
pub(crate) struct Unpacked<'a> {
    /// The name of the file that a member which is a Blosc file becomes, by its key.
    pub(crate) name: &'a dyn Fn(&str) -> String,
    /// Writes that file.
    pub(crate) write: &'a dyn Fn(Source, &Path) -> Outcome,
}

/// Makes a directory at `target` with a file for each member: as `unpacked` says, or as they are
/// stored.
pub(crate) fn unpack(
    store: &Store,
    target: &Path,
    writing: Writing,
    unpacked: Option<&Unpacked<'_>>,
    opening: &Opening,
) -> Outcome {
    let named = named(store, unpacked)?;
    let output = Output::to(target, writing)?.like(&store.model());
    fs::create_dir(output.path()).at_path(target)?;
    for (member, name, is_blosc) in &named {
        let path = output.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).at_path(target)?;
        }
        match unpacked {
            Some(unpacked) if *is_blosc => (unpacked.write)(store.open_member(member, opening, true)?, &path),
            _ => copy(store, member, &path),
        }
        .at(store.shown(member))?;
    }
    output.finish()
}

/// The members with the names that they get. Names that would be in each other's way are refused
/// before anything is made.
fn named(store: &Store, unpacked: Option<&Unpacked<'_>>) -> Outcome<Vec<(Member, String, bool)>> {
    let mut members = store.members().to_vec();
    if unpacked.is_none() {
        members.retain(|member| member.file.is_some());
        if store.kind() != Kind::Embedded {
            members.push(store.find(EMBED_NAME)?);
        }
    }
    let mut named = Vec::new();
    for member in members {
        let shown = store.shown(&member);
        if let Some(url) = member.remote() {
            return Err(Failure::data(format!(
                "{shown}: a reference to a remote array ({url}), which has no data of its own; take the other members one by one"
            )));
        }
        let is_blosc = store.is_blosc(&member)?;
        let name = match unpacked {
            Some(unpacked) if is_blosc => (unpacked.name)(&member.key),
            _ => member.name().to_owned(),
        };
        named.push((member, name, is_blosc));
    }
    let all = named.iter().map(|(member, name, _)| (name.as_str(), member.name()));
    names::check_apart(all).map_err(|fault| Failure::data(format!("{}: {fault}", store.path.display())))?;
    Ok(named)
}

fn copy(store: &Store, member: &Member, path: &Path) -> Outcome {
    if let Place::File(from) = &member.place
        && from.is_dir()
    {
        return copy_directory(from, path);
    }
    let mut file = File::create_new(path)?;
    store.copy_member(member, &mut file).in_data("it cannot be copied")
}

/// Copies a sparse frame.
fn copy_directory(from: &Path, to: &Path) -> Outcome {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from).at_path(from)? {
        let entry = entry.at_path(from)?;
        if !entry.file_type().at_path(from)?.is_file() {
            return Err(Failure::data(format!("{}: no plain file", entry.path().display())));
        }
        fs::copy(entry.path(), to.join(entry.file_name())).at_path(&entry.path())?;
    }
    Ok(())
}
