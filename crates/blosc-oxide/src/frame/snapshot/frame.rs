//! A snapshot of a frame, to read.

use super::connection::Connection;
use crate::error::{Result, bail};
use crate::frame::format::version::FrameVersion;
use crate::frame::lock::wait_for_shared;
use crate::frame::open_options::OpenOptions;
use crate::frame::options::FrameLayout;
use crate::frame::read::load;
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::storage::{Location, SharedLock};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// One committed state of a frame, to read: a [`SuperChunk`] on a storage. Clones are cheap and
/// share it.
///
/// It does not change, whatever is committed later, until the frame is
/// [compacted](crate::FrameEdit::compact): then reading it is a `Conflict`.
/// [`refresh`](Self::refresh) loads the newest state. Changes are made by an [edit](Self::edit),
/// which starts from the newest state and is committed as a whole or not at all: whenever a program
/// is killed, the frame is in the state of the last commit.
///
/// ```
/// use blosc_oxide::{Codec, Frame, Options};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-doc-{}.b2frame", std::process::id()));
/// let mut edit = Frame::create(&path, Options::new(4).with_codec(Codec::Lz4))?;
/// edit.append(&[7; 4000])?;
/// edit.vlmetalayers_mut().add("note", b"sevens")?;
/// edit.commit()?;
///
/// let frame = Frame::open(&path)?;
/// assert_eq!(frame.items(10..11)?, [7; 4]);
/// # drop(frame);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Clone)]
pub struct Frame {
    sc: Arc<SuperChunk>,
    connection: Arc<Connection>,
}

impl Frame {
    pub(in crate::frame) fn new(sc: Arc<SuperChunk>, connection: Arc<Connection>) -> Self {
        Self { sc, connection }
    }

    /// Opens a frame.
    ///
    /// # Errors
    /// `Io` if it cannot be read, `Corrupt` or `Truncated` if it is damaged, `Unsupported` if it is
    /// of the future.
    pub fn open(location: impl Into<Location>) -> Result<Self> {
        Self::open_with(location, &OpenOptions::new())
    }

    /// Opens a frame in another way.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Locked` if another process does not release the lock in time,
    /// `InvalidArgument` if the options ask for locking and the frame has no path.
    pub fn open_with(location: impl Into<Location>, options: &OpenOptions) -> Result<Self> {
        let connection = Connection::new(location.into(), options.clone());
        let sc = Self::read(&connection)?;
        Ok(Self::new(sc, connection))
    }

    /// Reads the newest state, under a shared lock if locking is on.
    fn read(connection: &Connection) -> Result<Arc<SuperChunk>> {
        let _lock = if connection.options().locking() { Some(Self::shared_lock(connection)?) } else { None };
        let sc = Arc::new(connection.named(connection.open_reader())?);
        connection.set_newest(Arc::clone(&sc));
        Ok(sc)
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The super-chunk that is read, to be read in another way, too.
    pub(crate) fn super_chunk(&self) -> &Arc<SuperChunk> {
        &self.sc
    }

    /// Reloads if another process or edit has committed; returns whether it did. Clones do not
    /// change.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool> {
        let newest = match self.connection.newest() {
            Some(newest) if newest.store().is_current()? => newest,
            _ if self.sc.store().is_current()? => return Ok(false),
            _ => Self::read(&self.connection)?,
        };
        if Arc::ptr_eq(&newest, &self.sc) || self.sc.shares_store(&newest) {
            return Ok(false);
        }
        let checks = self.sc.checks_on_read() && !newest.checks_on_read();
        self.sc = if checks { Arc::new(newest.checked()?) } else { newest };
        Ok(true)
    }

    /// From now on a chunk is compared with its checksum before any of its data is returned, as if
    /// it had been opened [with that option](OpenOptions::with_check_on_read). That holds when it
    /// is [refreshed](Self::refresh), too: if the new checksums cannot be read, every read of a
    /// stored chunk fails. Clones do not change.
    ///
    /// # Errors
    /// As [`SuperChunk::check_on_read`].
    pub fn check_on_read(&mut self) -> Result<()> {
        let mut sc = self.sc.snapshot()?;
        sc.check_on_read()?;
        self.sc = Arc::new(sc);
        Ok(())
    }

    /// A contiguous frame as bytes.
    ///
    /// # Errors
    /// `InvalidArgument` if it is sparse, which is many files, or in memory as chunks; `Conflict`
    /// if somebody has committed since it was opened: [refresh](Self::refresh) it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let Some((source, base)) = self.store().facts().source else {
            bail!(InvalidArgument, "only a contiguous frame has bytes of its own: a sparse one is many files");
        };
        let extent = load::load(source, base, Limits::new())?.extent;
        let mut bytes = vec![0; usize::try_from(extent.frame_len).unwrap_or(usize::MAX)];
        source.read_at(base, &mut bytes)?;
        if !self.store().is_current()? {
            bail!(Conflict, "somebody has committed since this state was opened: refresh it");
        }
        Ok(bytes)
    }

    /// Waits until nobody changes the frame, and keeps it so until what comes back is dropped. Only
    /// for frames with [locking](OpenOptions::with_locking), which all who change it must use.
    ///
    /// # Errors
    /// `InvalidArgument` if it is without locking; `Locked` if an edit does not end in time.
    pub fn lock_shared(&self) -> Result<SharedLock> {
        if !self.connection.options().locking() {
            bail!(InvalidArgument, "the frame was opened without locking");
        }
        Self::shared_lock(&self.connection)
    }

    fn shared_lock(connection: &Connection) -> Result<SharedLock> {
        match connection.path() {
            Some(path) => wait_for_shared(path, connection.options().lock_timeout()),
            None => bail!(InvalidArgument, "a frame is locked by a file beside it, for which it must have a path"),
        }
    }
}

impl Frame {
    /// Which format the frame has, as it was committed last.
    #[must_use]
    pub fn version(&self) -> FrameVersion {
        FrameVersion::of(self.store().facts().header)
    }

    /// Whether the frame is one file or many.
    #[must_use]
    pub fn layout(&self) -> FrameLayout {
        let facts = self.store().facts();
        let is_sparse = facts.source.is_none() && facts.memory.is_none();
        if is_sparse { FrameLayout::Sparse } else { FrameLayout::Contiguous }
    }

    /// Whether the frame has checksums of its chunks.
    #[must_use]
    pub fn has_checksums(&self) -> bool {
        self.store().facts().has_hashes
    }
}

impl From<SuperChunk> for Frame {
    /// In memory, as chunks.
    fn from(sc: SuperChunk) -> Self {
        let connection = Connection::new(Location::Memory, OpenOptions::new().with_limits(sc.limits()));
        let sc = Arc::new(sc);
        connection.set_newest(Arc::clone(&sc));
        Self::new(sc, connection)
    }
}

impl Deref for Frame {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        &self.sc
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Frame").field(&self.sc).finish()
    }
}
