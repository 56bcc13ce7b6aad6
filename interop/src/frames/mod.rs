//! Frames that both sides change in turn. Beside each is a file that says what it holds, which
//! whoever changes the frame changes as well: a list of chunks, each given by a formula, and the
//! metalayers.

mod case;
mod create;
mod formula;
mod turn;

pub(crate) use case::packed;
pub(crate) use create::create;
pub(crate) use formula::from_hex;
pub(crate) use turn::{Via, append_with_lock, turn};

use std::fs;
use std::path::PathBuf;

/// The files that say what the frames in a directory hold.
fn notes(directory: &str) -> Vec<PathBuf> {
    let listing = fs::read_dir(directory).expect("a directory can be listed");
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}
