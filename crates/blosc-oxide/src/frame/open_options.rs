//! Options for opening.

use crate::chunk::{Options, Plugins};
use crate::exec::Threads;
use crate::filter::BitshuffleRule;
use crate::limits::Limits;
use crate::storage::Durability;
use std::time::Duration;

/// The default time that an edit waits for its turn.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Options for opening a frame or an array, and for the edits of what has been opened.
///
/// | option | default |
/// |---|---|
/// | threads | those of the machine |
/// | plug-ins | none |
/// | limits | see [`Limits`] |
/// | bitshuffle | `Current`, see [`BitshuffleRule`] |
/// | durability | `Fsync` |
/// | locking | off |
/// | lock timeout | 10 seconds |
/// | check on read | off |
///
/// ```
/// use blosc_oxide::{Frame, OpenOptions, Options, Threads, storage::MemoryStorage};
/// let storage = MemoryStorage::default();
/// Frame::create(storage.clone(), Options::new(1))?.commit()?;
/// let options = OpenOptions::new().with_threads(Threads::serial()).with_check_on_read(true);
/// assert_eq!(Frame::open_with(storage, &options)?.nchunks(), 0);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenOptions {
    threads: Threads,
    plugins: Plugins,
    limits: Limits,
    bitshuffle: BitshuffleRule,
    durability: Durability,
    locking: bool,
    lock_timeout: Option<Duration>,
    check_on_read: bool,
}

impl OpenOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets where chunks are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the codecs and filters that are known besides the built-in ones.
    #[must_use]
    pub fn with_plugins(mut self, plugins: Plugins) -> Self {
        self.plugins = plugins;
        self
    }

    /// Sets what a declared size may make it allocate.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the rule of bitshuffle for reading chunks where neither they nor the frame name it:
    /// those of a frame of v2.0.0-beta.3 to v2.0.0.beta.5. See
    /// [`SuperChunk::is_bitshuffle_ambiguous`](crate::SuperChunk::is_bitshuffle_ambiguous).
    #[must_use]
    pub fn with_bitshuffle(mut self, rule: BitshuffleRule) -> Self {
        self.bitshuffle = rule;
        self
    }

    /// Sets what the commit of an edit survives.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets whether processes wait for each other as the reference does with its locking: by a lock
    /// on a file beside the frame, which all of them must use. The edits of this crate wait for
    /// each other without it.
    #[must_use]
    pub fn with_locking(mut self, locking: bool) -> Self {
        self.locking = locking;
        self
    }

    /// Sets how long to wait for others before giving up with `Locked`; `None` waits as long as it
    /// takes.
    #[must_use]
    pub fn with_lock_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.lock_timeout = timeout.into();
        self
    }

    /// Sets whether no data is given out of a chunk that has not been compared with its checksum,
    /// where there is one: a damaged one is `ChecksumMismatch` then, and not whatever it decodes
    /// to. All checksums are read when the frame is opened: opening fails with `ChecksumMismatch`
    /// if they themselves are damaged, `Corrupt` if there are not as many as chunks.
    ///
    /// A chunk is compared whenever it is read whole. The first read of a part of it reads all of
    /// it for that; those that follow read only what they need.
    #[must_use]
    pub fn with_check_on_read(mut self, check: bool) -> Self {
        self.check_on_read = check;
        self
    }

    /// The threads that chunks are worked on by.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The codecs and filters that are known besides the built-in ones.
    #[must_use]
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Limits for what a declared size may allocate.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The rule of bitshuffle for chunks that do not name it.
    #[must_use]
    pub fn bitshuffle(&self) -> BitshuffleRule {
        self.bitshuffle
    }

    /// What the commit of an edit survives.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Whether processes wait for each other as the reference does.
    #[must_use]
    pub fn locking(&self) -> bool {
        self.locking
    }

    /// How long to wait for others; `None` as long as it takes.
    #[must_use]
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.lock_timeout
    }

    /// Whether chunks are compared with their checksums before data of them is given out.
    #[must_use]
    pub fn check_on_read(&self) -> bool {
        self.check_on_read
    }

    /// The options for chunks that the frame does not store.
    pub(in crate::frame) fn chunks(&self) -> Options {
        Options::new(1).with_threads(self.threads.clone()).with_plugins(self.plugins.clone())
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            threads: Threads::default(),
            plugins: Plugins::default(),
            limits: Limits::new(),
            bitshuffle: BitshuffleRule::default(),
            durability: Durability::default(),
            locking: false,
            lock_timeout: Some(LOCK_TIMEOUT),
            check_on_read: false,
        }
    }
}
