//! What is refused before anything is done: results that would take the place of each other, or of
//! an input.

use crate::failure::{Failure, Outcome};
use crate::inputs::input;
use crate::inputs::source::is_single;
use crate::outputs::placement;
use crate::outputs::tree::Job;
use crate::store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Refuses two inputs with one target, and targets that are inputs.
pub(crate) fn check(jobs: &[Job]) -> Outcome {
    check_inputs(jobs)?;
    let mut targets = BTreeMap::new();
    for Job { file, target } in jobs.iter().filter(|job| !input::is_stream(&job.target)) {
        if let Some(other) = targets.insert(place_of_name(target), file) {
            return Err(both_become(other, file, target));
        }
    }
    Ok(())
}

/// What there is to say about two inputs with one target.
pub(crate) fn both_become(one: &Path, other: &Path, target: &Path) -> Failure {
    let (one, other, target) = (one.display(), other.display(), target.display());
    Failure::usage(format!("{one} and {other} would both become {target}; take one of them elsewhere"))
}

/// Refuses targets that are another input, or in one.
pub(crate) fn check_inputs(jobs: &[Job]) -> Outcome {
    let place = |file: &Path| store::split(file).map_or(file, |(store, _)| store).canonicalize().ok();
    let inputs: BTreeMap<PathBuf, &Path> =
        jobs.iter().filter_map(|job| Some((place(&job.file)?, job.file.as_path()))).collect();
    for Job { file, target } in jobs.iter().filter(|job| !input::is_stream(&job.target)) {
        let there = target.canonicalize().unwrap_or_else(|_| place_of_name(target));
        for part in there.ancestors() {
            let Some(other) = inputs.get(part) else { continue };
            let is_other = *other != file;
            let (file, target, other) = (file.display(), target.display(), other.display());
            if part == there && is_other {
                return Err(Failure::usage(format!(
                    "{file}: it would become {target}, in the place of the input {other}; take one of them elsewhere"
                )));
            }
            // Other directories can have their results in them, but nothing that they hold already.
            if part != there && (is_single(part)? || is_other && there.exists()) {
                return Err(Failure::usage(format!("{target}: this is in the input {other}; give another OUTPUT")));
            }
        }
    }
    Ok(())
}

/// The directory that a name is in, as it really is, and the name.
fn place_of_name(path: &Path) -> PathBuf {
    match (placement::parent(path).canonicalize(), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
