//! A frame that is being made: its file or directory is no frame before the first commit, and goes
//! with a drop.

use super::contiguous::Contiguous;
use super::lock::{Hold, LockFile};
use super::options::{FrameLayout, FrameOptions};
use super::sparse::Sparse;
use crate::chunk::Compressor;
use crate::error::{Result, bail};
use crate::schunk::{MemoryStore, PublishChunks, State, Store, SuperChunk};
use crate::storage::{Directory, Durability, FileDirectory, FileStorage, Location};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What remains to be done when a new frame has been filled. Dropping it unfinished takes away what
/// has been made.
pub(super) struct Creation {
    at: Option<At>,
    layout: FrameLayout,
    durability: Durability,
}

/// A path that something is made for.
struct At {
    path: PathBuf,
    /// The directory that has its name.
    parent: FileDirectory,
}

/// What is being made: what remains to be done, the lock that is held, and what is to be filled.
pub(super) type Begun = (Creation, Option<LockFile>, SuperChunk);

impl Creation {
    /// Begins a frame where there must be nothing yet.
    pub(super) fn begin(location: &Location, options: FrameOptions) -> Result<Begun> {
        let (options, state) = initial(options)?;
        let opening = options.opening();
        if opening.locking() && !matches!(location, Location::Path(_)) {
            bail!(InvalidArgument, "a frame is locked by a file beside it, for which it must have a path");
        }
        let mut lock = None;
        let store: Box<dyn PublishChunks> = match location {
            Location::Path(path) => {
                let (store, held) = Self::at_path(path, &options, &state)?;
                lock = held;
                store
            }
            Location::Storage(storage) => {
                Box::new(Contiguous::begin_new(Arc::clone(storage), &state, options.settings())?)
            }
            Location::Directory(directory) => Box::new(Sparse::begin_new(Arc::clone(directory), options.settings())?),
            Location::Memory => Box::new(MemoryStore::default()),
            Location::Source { .. } => bail!(InvalidArgument, "nothing can be made in what is only read"),
        };
        let at = match location {
            Location::Path(path) => Some(At { path: path.clone(), parent: parent_of(path) }),
            _ => None,
        };
        let creation = Self { at, layout: options.layout, durability: options.durability() };
        let sc = SuperChunk::with_store(state, Store::Own(store), options.chunks, opening.limits());
        Ok((creation, lock, sc))
    }

    fn at_path(
        path: &Path,
        options: &FrameOptions,
        state: &State,
    ) -> Result<(Box<dyn PublishChunks>, Option<LockFile>)> {
        Ok(match options.layout {
            FrameLayout::Contiguous => {
                let lock = locked(path, options)?;
                let storage = Arc::new(FileStorage::create_new(path)?);
                let store = Contiguous::begin_new(storage, state, options.settings());
                // What is half made is removed; that this fails too is not the news.
                (Box::new(store.inspect_err(|_| drop(fs::remove_file(path)))?), lock)
            }
            FrameLayout::Sparse => {
                let directory = Arc::new(FileDirectory::create_new(path)?);
                let lock = locked(path, options)?;
                let store = Sparse::begin_new(directory, options.settings());
                (Box::new(store.inspect_err(|_| drop(fs::remove_dir_all(path)))?), lock)
            }
        })
    }

    /// Publishes the frame: from now on it is there.
    pub(super) fn finish(&mut self, sc: &mut SuperChunk) -> Result<()> {
        sc.publish()?;
        if let Err(error) = self.sync_name() {
            // Whoever is told that it failed finds nothing.
            sc.mark_changed();
            return Err(error);
        }
        self.at = None;
        Ok(())
    }

    /// Makes the name of the frame survive a loss of power, if its content does.
    fn sync_name(&self) -> Result<()> {
        match &self.at {
            Some(At { parent, .. }) if self.durability == Durability::Fsync => Ok(parent.sync()?),
            _ => Ok(()),
        }
    }
}

impl Drop for Creation {
    /// Removes what is half made, also after a panic.
    fn drop(&mut self) {
        let Some(At { path, .. }) = &self.at else { return };
        // Why the frame is not made is what the caller is told, not that its remains cannot be
        // removed.
        let _ = match self.layout {
            FrameLayout::Contiguous => fs::remove_file(path),
            FrameLayout::Sparse => fs::remove_dir_all(path),
        };
    }
}

/// The state of a new frame.
fn initial(options: FrameOptions) -> Result<(FrameOptions, State)> {
    Compressor::new(options.chunks.clone())?;
    let mut state = State::new(&options.chunks);
    if options.checksums {
        state.vlmetalayers.reserve();
    }
    for (name, content) in &options.metalayers {
        state.metalayers.add(name, content.as_slice())?;
    }
    Ok((options, state))
}

/// The lock of the frame at `path`, held, if the options ask for it.
fn locked(path: &Path, options: &FrameOptions) -> Result<Option<LockFile>> {
    if !options.locking() {
        return Ok(None);
    }
    let mut lock = LockFile::open(path, options.lock_timeout())?;
    lock.acquire(Hold::Exclusive)?;
    lock.catch_up();
    Ok(Some(lock))
}

/// The directory that a path is in.
fn parent_of(path: &Path) -> FileDirectory {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    FileDirectory::new(parent.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Options;
    use crate::error::ErrorKind;

    // Elsewhere names last by themselves.
    #[cfg(unix)]
    #[test]
    fn a_frame_whose_name_cannot_be_made_to_last_is_not_there() {
        for layout in [FrameLayout::Contiguous, FrameLayout::Sparse] {
            let name = format!("blosc-oxide-name-{layout:?}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let options = FrameOptions::new(Options::new(4)).with_layout(layout);
            let (mut creation, _, mut sc) = Creation::begin(&Location::from(&path), options).unwrap();
            sc.append(&[7; 100]).unwrap();
            creation.at.as_mut().unwrap().parent = FileDirectory::new(path.join("no such directory"));
            let error = creation.finish(&mut sc).unwrap_err();
            drop(creation);
            assert_eq!(error.kind(), ErrorKind::Io, "{layout:?}: {error}");
            assert!(!path.exists(), "{layout:?}");
        }
    }

    #[test]
    fn the_name_of_a_frame_is_in_the_directory_before_it() {
        let directory = |path| format!("{:?}", parent_of(Path::new(path)));
        let expected = |path| format!("{:?}", FileDirectory::new(Path::new(path)));
        assert_eq!(directory("a/b.b2frame"), expected("a"));
        assert_eq!(directory("b.b2frame"), expected("."));
        assert_eq!(directory("/b.b2frame"), expected("/"));
    }
}
