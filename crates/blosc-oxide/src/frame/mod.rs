//! Frames: a super-chunk in a file, in memory or in a directory, that survives crashes.

mod checksums;
mod contiguous;
mod creation;
pub(crate) mod early;
mod edit;
mod entries;
mod footer;
pub(crate) mod header;
pub(crate) mod index;
mod known;
pub(crate) mod layers;
mod lock;
mod open;
mod open_options;
mod options;
mod origin;
mod places;
mod repair;
mod room;
mod slots;
mod sparse;
mod staged;
mod tail;
pub(crate) mod trailer;
mod transaction;
mod vacancies;
mod verify;
mod version;
mod words;

pub use early::EarlyFrame;
pub use edit::FrameEdit;
pub use open_options::OpenOptions;
pub(crate) use options::Settings;
pub use options::{FrameLayout, FrameOptions};
pub use repair::{LooseChunk, Repair, RepairReport, RepairUnknown, RepairedBy};
pub(crate) use sparse::INDEX_NAME;
pub(crate) use transaction::Transaction;
pub use verify::{Damage, Verification};
pub use version::FrameVersion;
pub(crate) use version::is_frame;

use crate::error::{Result, bail};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::storage::{Location, SharedLock};
use lock::wait_for_shared;
use origin::Origin;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// One committed state of a frame, to read: a [`SuperChunk`] on a storage. Clones are cheap and
/// share it.
///
/// It stays what it is, whatever is committed later, until the frame is
/// [compacted](FrameEdit::compact); then reading it is a `Conflict`. [`refresh`](Self::refresh)
/// goes on to the newest state. Changes are made by an [edit](Self::edit), which starts from the
/// newest state, and all of which is committed together or not at all: whenever a program is
/// killed, the frame is what the last commit made it.
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
    origin: Arc<Origin>,
}

impl Frame {
    fn new(sc: Arc<SuperChunk>, origin: Arc<Origin>) -> Self {
        Self { sc, origin }
    }

    /// Begins a new frame, where there must be nothing yet: on a path it is a file or a directory,
    /// as the options say, in a storage it is contiguous, in a directory sparse. Nothing is there
    /// before the first commit.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
    /// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
    /// edit.append(b"all at once")?;
    /// let frame = edit.commit()?;
    /// assert_eq!((frame.nbytes(), frame.dead_bytes()?), (11, 0));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if it cannot be made; `InvalidArgument` if there is something already, or if the
    /// options ask for locking and it has no path; as [`Compressor::new`](crate::Compressor::new).
    pub fn create(location: impl Into<Location>, options: impl Into<FrameOptions>) -> Result<FrameEdit> {
        FrameEdit::create(location.into(), options.into())
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
    /// As [`open`](Self::open); `Locked` if another process does not give way, `InvalidArgument` if
    /// the options ask for locking and the frame has no path.
    pub fn open_with(location: impl Into<Location>, options: &OpenOptions) -> Result<Self> {
        let origin = Origin::new(location.into(), options.clone());
        let sc = Self::read(&origin)?;
        Ok(Self::new(sc, origin))
    }

    /// The newest state of what has been opened, read while nobody who locks changes it.
    fn read(origin: &Origin) -> Result<Arc<SuperChunk>> {
        let _lock = if origin.options().locking() { Some(Self::shared_lock(origin)?) } else { None };
        let sc = Arc::new(origin.named(origin.open_reader())?);
        origin.set_newest(Arc::clone(&sc));
        Ok(sc)
    }

    pub(crate) fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// The super-chunk that is read, to be read in another way, too.
    pub(crate) fn super_chunk(&self) -> &Arc<SuperChunk> {
        &self.sc
    }

    /// Begins an edit of the newest state. It waits until nobody else edits the frame, at most as
    /// long as [`OpenOptions::with_lock_timeout`] says.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
    /// let frame = Frame::create(MemoryStorage::default(), Options::new(1))?.commit()?;
    /// let mut edit = frame.edit()?;
    /// edit.append(b"more")?;
    /// assert_eq!(edit.commit()?.nbytes(), 4);
    /// assert_eq!(frame.nbytes(), 0);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Locked` if somebody else goes on editing it; `InvalidArgument` if it is in something that
    /// can only be read; `Unsupported` for early frames; as [`open`](Self::open) and writing.
    pub fn edit(&self) -> Result<FrameEdit> {
        FrameEdit::begin(self)
    }

    /// Goes on to the newest state; returns whether it is another one. Clones stay what they are.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool> {
        let newest = match self.origin.newest() {
            Some(newest) if newest.store().is_current()? => newest,
            _ if self.sc.store().is_current()? => return Ok(false),
            _ => Self::read(&self.origin)?,
        };
        if Arc::ptr_eq(&newest, &self.sc) || self.sc.shares_store(&newest) {
            return Ok(false);
        }
        let checks = self.sc.checks_on_read() && !newest.checks_on_read();
        self.sc = if checks { Arc::new(newest.checked()?) } else { newest };
        Ok(true)
    }

    /// From now on no data is given out of a chunk that has not been compared with its checksum, as
    /// if it had been opened [in this way](OpenOptions::with_check_on_read). That holds when it is
    /// [refreshed](Self::refresh), too: if the new checksums cannot be read, every read of a stored
    /// chunk tells so. Clones stay what they are.
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
        let extent = open::open(source, base, Limits::new())?.extent;
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
    /// `InvalidArgument` if it is without locking; `Locked` if somebody does not give way in time.
    pub fn lock_shared(&self) -> Result<SharedLock> {
        if !self.origin.options().locking() {
            bail!(InvalidArgument, "the frame was opened without locking");
        }
        Self::shared_lock(&self.origin)
    }

    fn shared_lock(origin: &Origin) -> Result<SharedLock> {
        match origin.path() {
            Some(path) => wait_for_shared(path, origin.options().lock_timeout()),
            None => bail!(InvalidArgument, "a frame is locked by a file beside it, for which it must have a path"),
        }
    }
}

impl From<SuperChunk> for Frame {
    /// In memory, as chunks.
    fn from(sc: SuperChunk) -> Self {
        let origin = Origin::new(Location::Memory, OpenOptions::new().with_limits(sc.limits()));
        let sc = Arc::new(sc);
        origin.set_newest(Arc::clone(&sc));
        Self::new(sc, origin)
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
