//! Frames: a super-chunk in a file, in memory or in a directory, that survives crashes.

mod checksums;
mod contiguous;
mod early;
mod early_writer;
mod footer;
mod header;
mod index;
mod layers;
mod open;
mod options;
mod sparse;
mod tail;
mod trailer;
mod verify;

pub use early_writer::EarlyFrame;
pub(crate) use options::Settings;
pub use options::{FrameLayout, FrameOptions};
pub use verify::{Damage, Verification};

use crate::chunk::Options;
use crate::error::{Result, bail};
use crate::limits::Limits;
use crate::schunk::{State, SuperChunk};
use crate::storage::{Directory, FileDirectory, FileStorage, MemoryStorage, ReadAt, Storage};
use contiguous::{Access, Contiguous};
use sparse::Sparse;
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// A super-chunk on a storage. It is a [`SuperChunk`] in all other ways.
///
/// Nothing that is written counts before a [`commit`](SuperChunk::commit), and nothing that counts is ever overwritten:
/// whenever a program is killed, the frame is what the last commit made it. Dropping a frame commits.
///
/// ```
/// use blosc_oxide::{Codec, Frame, Options};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-doc-{}.b2frame", std::process::id()));
/// let mut frame = Frame::create(&path, Options::new(4).codec(Codec::Lz4))?;
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
        let options = options.into();
        match options.layout {
            FrameLayout::Contiguous => Self::create_in(FileStorage::create_new(path)?, options),
            FrameLayout::Sparse => Self::create_in_directory(FileDirectory::create_new(path)?, options),
        }
    }

    /// Makes a new contiguous frame on an empty storage.
    ///
    /// # Errors
    /// As [`create`](Self::create); `InvalidArgument` if the storage is not empty.
    pub fn create_in(storage: impl Storage + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        let (options, state) = initial(options.into())?;
        let store = Contiguous::create(Box::new(storage), &state, options.settings())?;
        Ok(Self(SuperChunk::with_store(state, Box::new(store), options.chunks, options.limits)))
    }

    /// Makes a new sparse frame in an empty directory.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in_directory(directory: impl Directory + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        let (options, state) = initial(options.into())?;
        let store = Sparse::create(Box::new(directory), &state, options.settings())?;
        Ok(Self(SuperChunk::with_store(state, Box::new(store), options.chunks, options.limits)))
    }

    /// Opens the frame at `path`, a file or a directory, for reading.
    ///
    /// # Errors
    /// `Io` if it cannot be read, `Corrupt` or `Truncated` if it is damaged, `Unsupported` if it is of the future.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        if path.as_ref().is_dir() {
            return Self::open_directory(FileDirectory::new(path), FrameOptions::default());
        }
        Self::open_at(FileStorage::open(path)?, 0, FrameOptions::default())
    }

    /// Opens the frame at `path`, a file or a directory, for reading and writing.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Unsupported` for early frames, which can only be read.
    pub fn open_writable(path: impl AsRef<Path>) -> Result<Self> {
        if path.as_ref().is_dir() {
            return Self::open_directory_writable(FileDirectory::new(path), FrameOptions::default());
        }
        Self::open_in(FileStorage::open_writable(path)?, FrameOptions::default())
    }

    /// Opens a contiguous frame that starts at `offset` of something larger, for reading. Of the options, threads,
    /// plug-ins and limits count.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_at(source: impl ReadAt + 'static, offset: u64, options: impl Into<FrameOptions>) -> Result<Self> {
        Self::open_access(Access::Read(Box::new(source)), offset, &options.into())
    }

    /// Opens a contiguous frame for reading and writing. Of the options, threads, plug-ins, limits and durability count.
    ///
    /// # Errors
    /// As [`open_writable`](Self::open_writable).
    pub fn open_in(storage: impl Storage + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        Self::open_access(Access::Write(Box::new(storage)), 0, &options.into())
    }

    fn open_access(access: Access, offset: u64, options: &FrameOptions) -> Result<Self> {
        let source: &dyn ReadAt = match &access {
            Access::Read(source) => &**source,
            Access::Write(storage) => &**storage,
        };
        let opened = open::open(source, offset, options.limits)?;
        if opened.extent.is_sparse {
            bail!(InvalidArgument, "this is the index of a sparse frame: open the directory that it is in");
        }
        let (store, state) = Contiguous::open(access, offset, opened, options.settings())?;
        let chunks = state.options(&options.chunks);
        Ok(Self(SuperChunk::with_store(state, Box::new(store), chunks, options.limits)))
    }

    /// Opens a sparse frame for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_directory(directory: impl Directory + 'static, options: impl Into<FrameOptions>) -> Result<Self> {
        Self::open_sparse(Box::new(directory), false, &options.into())
    }

    /// Opens a sparse frame for reading and writing.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_directory_writable(
        directory: impl Directory + 'static,
        options: impl Into<FrameOptions>,
    ) -> Result<Self> {
        Self::open_sparse(Box::new(directory), true, &options.into())
    }

    fn open_sparse(directory: Box<dyn Directory>, can_write: bool, options: &FrameOptions) -> Result<Self> {
        let (store, state) = Sparse::open(directory, can_write, options.settings())?;
        let chunks = state.options(&options.chunks);
        Ok(Self(SuperChunk::with_store(state, Box::new(store), chunks, options.limits)))
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
        self.0.commit()?;
        let Some(source) = self.0.store.source() else {
            bail!(InvalidArgument, "a sparse frame is many files, it has no bytes of its own");
        };
        let extent = open::open(source, 0, Limits::new())?.extent;
        let mut bytes = vec![0; usize::try_from(extent.frame_len).unwrap_or(usize::MAX)];
        source.read_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Commits, and gives back the room of everything that no longer counts.
    ///
    /// # Errors
    /// As [`commit`](SuperChunk::commit).
    pub fn compact(&mut self) -> Result<()> {
        self.0.commit()?;
        let sc = &mut self.0;
        sc.store.compact(&sc.state)
    }

    /// How many bytes no longer count: replaced chunks, old indexes and trailers.
    ///
    /// # Errors
    /// As reading the headers of all chunks.
    pub fn dead_bytes(&self) -> Result<u64> {
        self.0.store.dead_bytes()
    }

    /// Takes notice of what another process has committed since; whether it has. Only a frame that is open for reading
    /// changes under its user in this way.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool> {
        match self.0.store.reload()? {
            Some(state) => {
                self.0.replace_state(state);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The super-chunk by itself.
    #[must_use]
    pub fn into_inner(self) -> SuperChunk {
        self.0
    }
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
