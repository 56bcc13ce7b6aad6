//! Frames: a super-chunk in a file, in memory or in a directory, that survives crashes.

mod checksums;
mod contiguous;
mod creation;
pub(crate) mod early;
mod entries;
mod footer;
pub(crate) mod header;
pub(crate) mod index;
mod known;
pub(crate) mod layers;
mod lock;
mod open;
mod options;
mod places;
mod repair;
mod room;
mod slots;
mod sparse;
mod staged;
mod tail;
pub(crate) mod trailer;
mod vacancies;
mod verify;
mod version;
mod words;

pub(crate) use creation::Creation;
pub use early::EarlyFrame;
pub(crate) use options::Settings;
pub use options::{FrameLayout, FrameOptions};
pub use repair::{LooseChunk, Repair, RepairReport, RepairUnknown, RepairedBy};
pub(crate) use sparse::INDEX_NAME;
pub use verify::{Damage, Verification};
pub(crate) use verify::{verify, verify_when_read};
pub use version::FrameVersion;
pub(crate) use version::is_frame;

use crate::chunk::Options;
use crate::error::{Result, bail};
use crate::limits::Limits;
use crate::schunk::{ChunkStore, State, SuperChunk};
use crate::storage::{Directory, FileDirectory, FileStorage, MemoryStorage, ReadAt, Storage};
use contiguous::{Access, Contiguous};
use lock::{Hold, LockFile, LockedStore, check_unlocked};
use sparse::Sparse;
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// A super-chunk on a storage. It is a [`SuperChunk`] in all other ways.
///
/// Nothing that is written counts before a [`commit`](SuperChunk::commit), and nothing that counts is ever overwritten:
/// whenever a program is killed, the frame is what the last commit made it. Dropping a frame commits, unless a panic is the
/// reason; [`rollback`](SuperChunk::rollback) gives up what has been changed.
///
/// ```
/// use blosc_oxide::{Codec, Frame, Options};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-doc-{}.b2frame", std::process::id()));
/// let mut frame = Frame::create(&path, Options::new(4).with_codec(Codec::Lz4))?;
/// frame.append(&[7; 4000])?;
/// frame.vlmetalayers_mut().add("note", b"sevens")?;
/// frame.commit()?;
///
/// let frame = Frame::open(&path)?;
/// assert_eq!(frame.items(10..11)?, [7; 4]);
/// # drop(frame);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct Frame(SuperChunk);

impl Frame {
    /// Makes a new frame at `path`, a file or a directory as the options say; there must be nothing yet.
    ///
    /// # Errors
    /// `Io` if it cannot be made; as [`Compressor::new`](crate::Compressor::new).
    pub fn create(path: impl AsRef<Path>, options: impl Into<FrameOptions>) -> Result<Self> {
        let (creation, sc) = Creation::at_path(path.as_ref(), options.into())?;
        creation.finish(sc).map(Self)
    }

    /// Makes a new contiguous frame on an empty storage.
    ///
    /// # Errors
    /// As [`create`](Self::create); `InvalidArgument` if the storage is not empty, or if the options ask for locking.
    pub fn create_in(storage: impl Storage + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        let (creation, sc) = Creation::in_storage(Box::new(storage), options.into())?;
        creation.finish(sc).map(Self)
    }

    /// Makes a new sparse frame in an empty directory.
    ///
    /// # Errors
    /// As [`create`](Self::create); `InvalidArgument` if the options ask for locking.
    pub fn create_in_directory(directory: impl Directory + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        let (creation, sc) = Creation::in_directory(Box::new(directory), options.into())?;
        creation.finish(sc).map(Self)
    }

    /// Makes a new frame at `path` that is there with all that `fill` puts into it, or not at all. Unlike one that is made
    /// empty and filled afterwards, it has no dead bytes.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options};
    /// # let path = std::env::temp_dir().join(format!("blosc-oxide-build-{}.b2frame", std::process::id()));
    /// let frame = Frame::build(&path, Options::new(1), |sc| sc.append(b"all at once"))?;
    /// assert_eq!((frame.nbytes(), frame.dead_bytes()?), (11, 0));
    /// # drop(frame);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](Self::create), and what `fill` reports: there is nothing at `path` then.
    pub fn build(
        path: impl AsRef<Path>,
        options: impl Into<FrameOptions>,
        fill: impl FnOnce(&mut SuperChunk) -> Result<()>,
    ) -> Result<Self> {
        Self::fill_new(Creation::at_path(path.as_ref(), options.into())?, fill)
    }

    /// Makes a new contiguous frame on an empty storage that is there with all that `fill` puts into it, or not at all.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
    /// let mut frame = Frame::build_in(MemoryStorage::default(), Options::new(1), |sc| sc.append(b"all at once"))?;
    /// assert_eq!(Frame::from_bytes(frame.to_bytes()?)?.decompress(0)?, b"all at once");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create_in`](Self::create_in), and what `fill` reports.
    pub fn build_in(
        storage: impl Storage + 'static,
        options: impl Into<FrameOptions>,
        fill: impl FnOnce(&mut SuperChunk) -> Result<()>,
    ) -> Result<Self> {
        Self::fill_new(Creation::in_storage(Box::new(storage), options.into())?, fill)
    }

    fn fill_new(
        (creation, mut sc): (Creation, SuperChunk),
        fill: impl FnOnce(&mut SuperChunk) -> Result<()>,
    ) -> Result<Self> {
        match fill(&mut sc) {
            Ok(()) => creation.finish(sc).map(Self),
            Err(error) => {
                creation.abandon(sc);
                Err(error)
            }
        }
    }

    /// Opens the frame at `path`, a file or a directory, for reading.
    ///
    /// # Errors
    /// `Io` if it cannot be read, `Corrupt` or `Truncated` if it is damaged, `Unsupported` if it is of the future.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, FrameOptions::default())
    }

    /// Opens the frame at `path`, a file or a directory, for reading. Of the options, threads, plug-ins, limits and
    /// locking count.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Locked` if another process does not give way.
    pub fn open_with(path: impl AsRef<Path>, options: impl Into<FrameOptions>) -> Result<Self> {
        Self::open_path(path.as_ref(), false, &options.into())
    }

    /// Opens the frame at `path`, a file or a directory, for reading and writing.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Unsupported` for early frames, which can only be read.
    pub fn open_writable(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_writable_with(path, FrameOptions::default())
    }

    /// Opens the frame at `path`, a file or a directory, for reading and writing. Of the options, threads, plug-ins,
    /// limits, durability and locking count.
    ///
    /// # Errors
    /// As [`open_writable`](Self::open_writable); `Locked` if another process does not give way.
    pub fn open_writable_with(path: impl AsRef<Path>, options: impl Into<FrameOptions>) -> Result<Self> {
        Self::open_path(path.as_ref(), true, &options.into())
    }

    fn open_path(path: &Path, can_write: bool, options: &FrameOptions) -> Result<Self> {
        // Opening for writing puts right what a crash has left behind.
        let hold = if can_write { Hold::Exclusive } else { Hold::Shared };
        let lock = lock_of(path, hold, options)?;
        let opened = open_path(path, can_write, options)?;
        Ok(Self::new(with_lock(opened, lock, path, can_write, options), options))
    }

    /// Opens a contiguous frame that starts at `offset` of something larger, for reading. Of the options, threads,
    /// plug-ins and limits count.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_at(source: impl ReadAt + 'static, offset: u64, options: impl Into<FrameOptions>) -> Result<Self> {
        let options = options.into();
        check_unlocked(&options)?;
        Ok(Self::new(open_contiguous(Access::Read(Box::new(source)), offset, &options)?, &options))
    }

    /// Opens a contiguous frame for reading and writing. Of the options, threads, plug-ins, limits and durability count.
    ///
    /// # Errors
    /// As [`open_writable`](Self::open_writable).
    pub fn open_in(storage: impl Storage + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        let options = options.into();
        check_unlocked(&options)?;
        Ok(Self::new(open_contiguous(Access::Write(Box::new(storage)), 0, &options)?, &options))
    }

    /// Opens a sparse frame for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_directory(directory: impl Directory + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        let options = options.into();
        check_unlocked(&options)?;
        Ok(Self::new(open_sparse(Box::new(directory), false, &options)?, &options))
    }

    /// Opens a sparse frame for reading and writing.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_directory_writable(
        directory: impl Directory + 'static,
        options: impl Into<FrameOptions>,
    ) -> Result<Self> {
        let options = options.into();
        check_unlocked(&options)?;
        Ok(Self::new(open_sparse(Box::new(directory), true, &options)?, &options))
    }

    fn new((store, state): OpenStore, options: &FrameOptions) -> Self {
        let chunks = state.options(&options.chunks);
        let sc = SuperChunk::with_store(state, store, chunks, options.limits);
        Self(sc.with_untold_bitshuffle(options.bitshuffle))
    }

    /// Opens a contiguous frame in memory, for reading and writing; early ones for reading only.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let storage = MemoryStorage::new(bytes);
        if early::is_early(storage.as_bytes()) {
            return Self::open_at(storage, 0, FrameOptions::default());
        }
        Self::open_in(storage, FrameOptions::default())
    }

    /// Commits, and returns a contiguous frame as bytes.
    ///
    /// # Errors
    /// As [`commit`](SuperChunk::commit); `InvalidArgument` for a sparse frame, which is many files.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        Self::bytes_of(&mut self.0)
    }

    /// Commits, and returns the contiguous frame that a super-chunk is kept in as bytes.
    pub(crate) fn bytes_of(sc: &mut SuperChunk) -> Result<Vec<u8>> {
        sc.commit()?;
        let Some((source, base)) = sc.store.source() else {
            bail!(InvalidArgument, "only a contiguous frame has bytes of its own: a sparse one is many files");
        };
        let extent = open::open(source, base, Limits::new())?.extent;
        let mut bytes = vec![0; usize::try_from(extent.frame_len).unwrap_or(usize::MAX)];
        source.read_at(base, &mut bytes)?;
        Ok(bytes)
    }

    /// Commits, and gives back the room of everything that no longer counts.
    ///
    /// # Errors
    /// As [`commit`](SuperChunk::commit).
    pub fn compact(&mut self) -> Result<()> {
        let sc = &mut self.0;
        sc.begin()?;
        let result = sc.publish().and_then(|()| sc.store.compact(&sc.state));
        sc.store.release();
        result
    }

    /// How many bytes no longer count: replaced chunks, old indexes and trailers.
    ///
    /// # Errors
    /// As reading the headers of all chunks.
    pub fn dead_bytes(&self) -> Result<u64> {
        self.0.store.dead_bytes()
    }

    /// Reloads if another handle or process has committed since; returns whether it did. A frame with changes of its own
    /// does not.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool> {
        self.0.reload()
    }

    /// Gets the right to change the frame, and keeps it until the next [`commit`](SuperChunk::commit),
    /// [`rollback`](SuperChunk::rollback) or [`unlock`](Self::unlock). What others have committed is there then.
    ///
    /// Every change of chunks does this by itself, so that no two handles are ever changing one frame. This is for code that
    /// looks at the frame before it decides what to change, or that changes metalayers. With
    /// [locking](FrameOptions::locking) it also waits until no other process reads or changes the frame, and keeps it so.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options};
    /// # let path = std::env::temp_dir().join(format!("blosc-oxide-lock-{}.b2frame", std::process::id()));
    /// let mut frame = Frame::create(&path, Options::new(1))?;
    /// frame.lock()?;
    /// if frame.nchunks() == 0 {
    ///     frame.append(b"the first one")?;
    /// }
    /// frame.commit()?;
    /// # drop(frame);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Locked` if somebody else is changing the frame, with locking if they do not give way in time; `Conflict` if they
    /// have changed it since it was changed here; `InvalidArgument` if the frame is open for reading.
    pub fn lock(&mut self) -> Result<()> {
        self.0.begin().map(|_| ())
    }

    /// Waits until no other process changes the frame, and keeps it so until [`unlock`](Self::unlock), or until the next
    /// edit here ends, with a commit, a rollback, or because it has changed nothing. What others have committed is there
    /// then.
    ///
    /// Without this, reading takes no lock, but when the frame is opened or refreshed. The chunks that it finds are then
    /// there for as long as others only add to the frame.
    ///
    /// # Errors
    /// As [`lock`](Self::lock); `InvalidArgument` if the frame is without locking.
    pub fn lock_shared(&mut self) -> Result<()> {
        self.check_locking()?;
        if let Some(state) = self.0.store.share(self.0.is_changed())? {
            self.0.replace_state(state);
        }
        Ok(())
    }

    /// Lets other processes change the frame.
    ///
    /// # Errors
    /// `InvalidArgument` if there are changes: they must be committed first.
    pub fn unlock(&mut self) -> Result<()> {
        if self.0.is_changed() {
            bail!(InvalidArgument, "there are changes that others do not know of: commit them first");
        }
        self.0.store.release();
        Ok(())
    }

    fn check_locking(&self) -> Result<()> {
        if !self.0.store.is_locking() {
            bail!(InvalidArgument, "the frame was opened without locking");
        }
        Ok(())
    }

    /// The super-chunk by itself.
    #[must_use]
    pub fn into_inner(self) -> SuperChunk {
        self.0
    }
}

/// The chunks of an open frame, and the rest of it.
type OpenStore = (Box<dyn ChunkStore>, State);

fn open_contiguous(access: Access, offset: u64, options: &FrameOptions) -> Result<OpenStore> {
    let source: &dyn ReadAt = match &access {
        Access::Read(source) => &**source,
        Access::Write(storage) => &**storage,
    };
    let opened = open::open(source, offset, options.limits)?;
    if opened.extent.is_sparse {
        bail!(InvalidArgument, "this is the index of a sparse frame: open the directory that it is in");
    }
    let (store, state) = Contiguous::open(access, offset, opened, options.settings())?;
    Ok((Box::new(store), state))
}

fn open_sparse(directory: Box<dyn Directory>, can_write: bool, options: &FrameOptions) -> Result<OpenStore> {
    let (store, state) = Sparse::open(directory, can_write, options.settings())?;
    Ok((Box::new(store), state))
}

fn open_path(path: &Path, can_write: bool, options: &FrameOptions) -> Result<OpenStore> {
    if path.is_dir() {
        return open_sparse(Box::new(FileDirectory::new(path)), can_write, options);
    }
    let access = if can_write {
        Access::Write(Box::new(FileStorage::open_writable(path)?))
    } else {
        Access::Read(Box::new(FileStorage::open(path)?))
    };
    open_contiguous(access, 0, options)
}

/// The lock of the frame at `path`, held, if the options ask for it.
fn lock_of(path: &Path, hold: Hold, options: &FrameOptions) -> Result<Option<LockFile>> {
    if !options.locking {
        return Ok(None);
    }
    let mut lock = LockFile::open(path, options.lock_timeout)?;
    lock.acquire(hold)?;
    Ok(Some(lock))
}

/// Makes a store use the lock that is held, and lets that go.
fn with_lock(
    (store, state): OpenStore,
    lock: Option<LockFile>,
    path: &Path,
    can_write: bool,
    options: &FrameOptions,
) -> OpenStore {
    let Some(lock) = lock else { return (store, state) };
    let (path, options) = (path.to_owned(), options.clone());
    let reopen = Box::new(move || open_path(&path, can_write, &options));
    (Box::new(LockedStore::new(store, lock, can_write, reopen)), state)
}

fn initial(options: FrameOptions) -> Result<(FrameOptions, State)> {
    crate::chunk::Compressor::new(options.chunks.clone())?;
    let mut state = State::new(&options.chunks);
    if options.checksums {
        state.vlmetalayers.reserve();
    }
    for (name, content) in &options.metalayers {
        state.metalayers.add(name, content.as_slice())?;
    }
    Ok((options, state))
}

impl From<Options> for FrameOptions {
    fn from(options: Options) -> Self {
        Self::new(options)
    }
}

impl Deref for Frame {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        &self.0
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut SuperChunk {
        &mut self.0
    }
}
