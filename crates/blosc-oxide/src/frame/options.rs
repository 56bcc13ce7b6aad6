//! Options for new frames.

use super::open_options::OpenOptions;
use crate::chunk::Options;
use crate::filter::BitshuffleRule;
use crate::limits::Limits;
use crate::storage::Durability;
use std::time::Duration;

/// Whether a frame is one file or many.
///
/// ```
/// use blosc_oxide::{Frame, FrameLayout, FrameOptions, Options};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-layout-{}.sframe", std::process::id()));
/// let options = FrameOptions::new(Options::new(1)).with_layout(FrameLayout::Sparse);
/// let frame = Frame::create(&path, options)?.commit()?;
/// assert_eq!(frame.layout(), FrameLayout::Sparse);
/// assert!(path.is_dir());
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FrameLayout {
    /// One file.
    #[default]
    Contiguous,
    /// A directory with a file for each chunk.
    Sparse,
}

/// Options for a new frame.
///
/// | option | default |
/// |---|---|
/// | layout | one file |
/// | durability | `Fsync` |
/// | checksums | on |
/// | metalayers | none |
/// | limits | see [`Limits`] |
/// | bitshuffle | `Current`, see [`BitshuffleRule`] |
/// | locking | off |
/// | lock timeout | 10 seconds |
///
/// ```
/// use blosc_oxide::{FrameOptions, Options, storage::Durability};
/// let options = FrameOptions::new(Options::new(8)).with_durability(Durability::None).with_metalayer("unit", "kelvin");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameOptions {
    pub(in crate::frame) chunks: Options,
    pub(in crate::frame) layout: FrameLayout,
    pub(in crate::frame) checksums: bool,
    pub(in crate::frame) metalayers: Vec<(String, Vec<u8>)>,
    /// The options that opening has, too.
    opening: OpenOptions,
}

impl FrameOptions {
    /// The defaults, with chunks made by `chunks`.
    #[must_use]
    pub fn new(chunks: Options) -> Self {
        Self {
            chunks,
            layout: FrameLayout::default(),
            checksums: true,
            metalayers: Vec::new(),
            opening: OpenOptions::new(),
        }
    }

    /// The same with chunks made otherwise.
    #[must_use]
    pub fn with_chunks(mut self, chunks: Options) -> Self {
        self.chunks = chunks;
        self
    }

    /// Sets whether it is one file or many.
    #[must_use]
    pub fn with_layout(mut self, layout: FrameLayout) -> Self {
        self.layout = layout;
        self
    }

    /// Sets what a commit survives.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.opening = self.opening.with_durability(durability);
        self
    }

    /// Sets whether a new frame gets checksums.
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = checksums;
        self
    }

    /// Adds a metalayer that a new frame has from the start.
    #[must_use]
    pub fn with_metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }

    /// Sets what a declared size may make it allocate.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.opening = self.opening.with_limits(limits);
        self
    }

    /// Sets the rule of bitshuffle for reading chunks where neither they nor the frame name it:
    /// those of a frame of v2.0.0-beta.3 to v2.0.0.beta.5. See
    /// [`SuperChunk::is_bitshuffle_ambiguous`](crate::SuperChunk::is_bitshuffle_ambiguous).
    #[must_use]
    pub fn with_bitshuffle(mut self, rule: BitshuffleRule) -> Self {
        self.opening = self.opening.with_bitshuffle(rule);
        self
    }

    /// Sets whether processes that change the frame wait for each other, as the reference does with
    /// its locking: by a lock on a file beside the frame, which all of them must use.
    #[must_use]
    pub fn with_locking(mut self, locking: bool) -> Self {
        self.opening = self.opening.with_locking(locking);
        self
    }

    /// Sets how long to wait for the lock before giving up with `Locked`; `None` waits as long as
    /// it takes.
    #[must_use]
    pub fn with_lock_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.opening = self.opening.with_lock_timeout(timeout);
        self
    }

    /// How chunks are made.
    #[must_use]
    pub fn chunks(&self) -> &Options {
        &self.chunks
    }

    /// Whether it is one file or many.
    #[must_use]
    pub fn layout(&self) -> FrameLayout {
        self.layout
    }

    /// What a commit survives.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.opening.durability()
    }

    /// Whether a new frame gets checksums.
    #[must_use]
    pub fn checksums(&self) -> bool {
        self.checksums
    }

    /// Limits for what a declared size may allocate.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.opening.limits()
    }

    /// The rule of bitshuffle for chunks that do not name it.
    #[must_use]
    pub fn bitshuffle(&self) -> BitshuffleRule {
        self.opening.bitshuffle()
    }

    /// Whether processes that change the frame wait for each other.
    #[must_use]
    pub fn locking(&self) -> bool {
        self.opening.locking()
    }

    /// How long to wait for the lock; `None` waits as long as it takes.
    #[must_use]
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.opening.lock_timeout()
    }

    /// The metalayers that a new frame has from the start.
    pub fn metalayers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.metalayers.iter().map(|(name, content)| (name.as_str(), content.as_slice()))
    }

    /// Options that open what is made with these in the same way: with the same threads, plug-ins,
    /// limits, durability and locking.
    #[must_use]
    pub fn opening(&self) -> OpenOptions {
        self.opening.clone().with_threads(self.chunks.threads.clone()).with_plugins(self.chunks.plugins.clone())
    }

    pub(in crate::frame) fn settings(&self) -> Settings {
        Settings { checksums: self.checksums, ..Settings::of(&self.opening) }
    }
}

impl Default for FrameOptions {
    /// For chunks of bytes.
    fn default() -> Self {
        Self::new(Options::new(1))
    }
}

impl From<Options> for FrameOptions {
    fn from(options: Options) -> Self {
        Self::new(options)
    }
}

impl From<&Options> for FrameOptions {
    fn from(options: &Options) -> Self {
        Self::new(options.clone())
    }
}

impl From<&Self> for FrameOptions {
    fn from(options: &Self) -> Self {
        options.clone()
    }
}

/// The options that the stores of frames need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) durability: Durability,
    pub(crate) checksums: bool,
    pub(crate) limits: Limits,
}

impl Settings {
    pub(in crate::frame) fn of(options: &OpenOptions) -> Self {
        Self { durability: options.durability(), checksums: true, limits: options.limits() }
    }
}
