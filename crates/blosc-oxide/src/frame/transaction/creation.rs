//! A frame that is being made: nothing is at its path before the first commit.

use crate::chunk::Compressor;
use crate::error::{Result, bail};
use crate::frame::lock::{Hold, LockFile};
use crate::frame::options::{FrameLayout, FrameOptions};
use crate::frame::snapshot::connection::Connection;
use crate::frame::store::contiguous::Contiguous;
use crate::frame::store::sparse::Sparse;
use crate::schunk::{MemoryStore, PublishChunks, State, Store, SuperChunk};
use crate::storage::{Durability, Location, Pending};
use std::path::Path;
use std::sync::Arc;

/// What remains to be done when a new frame has been filled. Dropped unfinished, it removes what
/// has been made.
pub(super) struct Creation {
    /// What is going to be at a path; `None` in a storage or a directory of the caller.
    pending: Option<Pending>,
    durability: Durability,
}

/// What is being made: what remains to be done, the lock that is held, and what is to be filled.
pub(super) type Begun = (Creation, Option<LockFile>, SuperChunk);

impl Creation {
    /// Begins a frame where there must be nothing yet.
    pub(super) fn begin(connection: &Connection, options: FrameOptions) -> Result<Begun> {
        let (options, state) = initial(options)?;
        let opening = options.opening();
        let location = connection.location();
        if opening.locking() && !matches!(location, Location::Path(_)) {
            bail!(InvalidArgument, "a frame is locked by a file beside it, for which it must have a path");
        }
        let (mut lock, mut pending) = (None, None);
        let store: Box<dyn PublishChunks> = match location {
            Location::Path(path) => {
                let made = connection.named(Self::at_path(path, connection, &options, &state))?;
                (lock, pending) = (made.lock, Some(made.pending));
                made.store
            }
            Location::Storage(storage) => {
                let settings = options.settings();
                Box::new(Contiguous::begin_new(Arc::clone(storage), &state, settings, connection.overwrites())?)
            }
            Location::Directory(directory) => Box::new(Sparse::begin_new(Arc::clone(directory), options.settings())?),
            Location::Memory => Box::new(MemoryStore::default()),
            Location::Source { .. } => bail!(InvalidArgument, "nothing can be made in what is only read"),
        };
        let creation = Self { pending, durability: options.durability() };
        let sc = SuperChunk::with_store(state, Store::Own(store), options.chunks, opening.limits());
        Ok((creation, lock, sc))
    }

    fn at_path(path: &Path, connection: &Connection, options: &FrameOptions, state: &State) -> Result<Made> {
        let settings = options.settings();
        Ok(match options.layout {
            FrameLayout::Contiguous => {
                let lock = locked(path, options)?;
                let (pending, storage) = Pending::file(path)?;
                connection.set_created(storage.identity()?);
                let overwrites = connection.overwrites();
                let store = Box::new(Contiguous::begin_new(Arc::new(storage), state, settings, overwrites)?);
                Made { store, lock, pending }
            }
            FrameLayout::Sparse => {
                let (pending, directory) = Pending::directory(path)?;
                // The file that is locked is inside.
                let lock = locked(pending.current(), options)?;
                let store = Box::new(Sparse::begin_new(Arc::new(directory), settings)?);
                Made { store, lock, pending }
            }
        })
    }

    /// Publishes the frame: from now on it is there.
    pub(super) fn finish(&mut self, sc: &mut SuperChunk) -> Result<()> {
        sc.publish()?;
        if let Err(error) = self.place() {
            // Whoever is told that it failed finds nothing, and can try again.
            sc.mark_changed();
            return Err(error);
        }
        if let Some(pending) = self.pending.take() {
            pending.finish();
        }
        Ok(())
    }

    /// Gives the frame its name, which survives a loss of power if the content does.
    fn place(&mut self) -> Result<()> {
        let Some(pending) = &mut self.pending else { return Ok(()) };
        pending.place()?;
        match self.durability {
            Durability::Fsync => pending.sync_name(),
            Durability::None => Ok(()),
        }
    }
}

/// What is made for a path.
struct Made {
    store: Box<dyn PublishChunks>,
    lock: Option<LockFile>,
    pending: Pending,
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
            let connection = Connection::new(Location::from(&path), options.opening());
            let (mut creation, _, mut sc) = Creation::begin(&connection, options).unwrap();
            sc.append(&[7; 100]).unwrap();
            creation.pending.as_mut().unwrap().lose_parent();
            let error = creation.finish(&mut sc).unwrap_err();
            drop(creation);
            assert_eq!(error.kind(), ErrorKind::Io, "{layout:?}: {error}");
            assert!(!path.exists(), "{layout:?}");
        }
    }
}
