//! A frame that is being made: nothing of it is there before its first commit.

use super::contiguous::Contiguous;
use super::lock::{Hold, LockFile, check_unlocked};
use super::options::{FrameLayout, FrameOptions};
use super::sparse::Sparse;
use super::{initial, lock_of, with_lock};
use crate::error::Result;
use crate::schunk::{ChunkStore, MemoryStore, State, SuperChunk};
use crate::storage::{Directory, Durability, FileDirectory, FileStorage, Storage};
use std::fs;
use std::path::{Path, PathBuf};

/// What remains to be done when a new frame has been filled. Dropping it unfinished takes away what has been made.
pub(crate) struct Creation {
    at: Option<At>,
    options: FrameOptions,
}

/// A path, and the lock of what is made there.
struct At {
    path: PathBuf,
    /// The directory that has its name.
    parent: FileDirectory,
    lock: Option<LockFile>,
}

impl Creation {
    /// Begins a frame at a path, where there must be nothing yet.
    pub(crate) fn at_path(path: &Path, options: FrameOptions) -> Result<(Self, SuperChunk)> {
        let (options, state) = initial(options)?;
        let (store, lock): (Box<dyn ChunkStore>, _) = match options.layout {
            FrameLayout::Contiguous => {
                let lock = lock_of(path, Hold::Exclusive, &options)?;
                let storage = Box::new(FileStorage::create_new(path)?);
                let store = Contiguous::begin_new(storage, &state, options.settings());
                // What is half made is removed; that this fails too is not the news.
                (Box::new(store.inspect_err(|_| drop(fs::remove_file(path)))?), lock)
            }
            FrameLayout::Sparse => {
                let directory = Box::new(FileDirectory::create_new(path)?);
                let lock = lock_of(path, Hold::Exclusive, &options)?;
                let store = Sparse::begin_new(directory, options.settings());
                (Box::new(store.inspect_err(|_| drop(fs::remove_dir_all(path)))?), lock)
            }
        };
        let at = Some(At { path: path.to_owned(), parent: parent_of(path), lock });
        Ok(Self { at, options }.with_store(store, state))
    }

    /// Begins a contiguous frame on an empty storage.
    pub(crate) fn in_storage(storage: Box<dyn Storage>, options: FrameOptions) -> Result<(Self, SuperChunk)> {
        let (options, state) = initial(options)?;
        check_unlocked(&options)?;
        let store = Contiguous::begin_new(storage, &state, options.settings())?;
        Ok(Self { at: None, options }.with_store(Box::new(store), state))
    }

    /// Begins a sparse frame in an empty directory.
    pub(crate) fn in_directory(directory: Box<dyn Directory>, options: FrameOptions) -> Result<(Self, SuperChunk)> {
        let (options, state) = initial(options)?;
        check_unlocked(&options)?;
        let store = Sparse::begin_new(directory, options.settings())?;
        Ok(Self { at: None, options }.with_store(Box::new(store), state))
    }

    fn with_store(self, store: Box<dyn ChunkStore>, state: State) -> (Self, SuperChunk) {
        let chunks = state.options(&self.options.chunks);
        let sc = SuperChunk::with_store(state, store, chunks, self.options.limits);
        (self, sc)
    }

    /// Commits the frame for the first time: from now on it is there.
    pub(crate) fn finish(mut self, mut sc: SuperChunk) -> Result<SuperChunk> {
        sc.mark_changed();
        if let Err(error) = sc.publish().and_then(|()| self.sync_name()) {
            self.abandon(sc);
            return Err(error);
        }
        if let Some(At { path, lock, .. }) = self.at.take() {
            let store = std::mem::replace(&mut sc.store, Box::new(MemoryStore::default()));
            let (store, _) = with_lock((store, sc.state.clone()), lock, &path, true, &self.options);
            sc.store = store;
        }
        Ok(sc)
    }

    /// Makes the name of the frame survive a loss of power, if its content does.
    fn sync_name(&mut self) -> Result<()> {
        match &mut self.at {
            Some(At { parent, .. }) if self.options.durability == Durability::Fsync => Ok(parent.sync()?),
            _ => Ok(()),
        }
    }

    /// Gives up what is half made.
    pub(crate) fn abandon(self, mut sc: SuperChunk) {
        // Dropping it must not commit.
        sc.store = Box::new(MemoryStore::default());
    }
}

impl Drop for Creation {
    /// Removes what is half made, also after a panic.
    fn drop(&mut self) {
        let Some(At { path, .. }) = &self.at else { return };
        // Why the frame is not made is what the caller is told, not that its remains cannot be removed.
        let _ = match self.options.layout {
            FrameLayout::Contiguous => fs::remove_file(path),
            FrameLayout::Sparse => fs::remove_dir_all(path),
        };
    }
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
            let (mut creation, mut sc) = Creation::at_path(&path, options).unwrap();
            sc.append(&[7; 100]).unwrap();
            assert!(path.exists());
            creation.at.as_mut().unwrap().parent = FileDirectory::new(path.join("no such directory"));
            let error = creation.finish(sc).map(drop).unwrap_err();
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
