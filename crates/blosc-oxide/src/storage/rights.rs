//! The right to write, shared locks, and readers of a directory.

use std::fmt;

/// The right to change something that is stored. It is given back when it is dropped.
///
/// ```
/// use blosc_oxide::storage::WriteRight;
/// use std::sync::{Arc, Mutex};
/// /// Whoever drops the right drops the guard, and so lets others write.
/// fn right(writers: &Arc<Mutex<u32>>) -> WriteRight {
///     WriteRight::new(Arc::clone(writers))
/// }
/// let writers = Arc::new(Mutex::new(0));
/// let held = right(&writers);
/// assert_eq!(Arc::strong_count(&writers), 2);
/// drop(held);
/// assert_eq!(Arc::strong_count(&writers), 1);
/// ```
pub struct WriteRight(Option<Box<dyn Send + Sync>>);

impl WriteRight {
    /// The right that `guard` holds, and releases when it is dropped.
    #[must_use]
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }

    /// The right to write where nothing can be locked, or where nobody else has access.
    #[must_use]
    pub fn unguarded() -> Self {
        Self(None)
    }
}

impl fmt::Debug for WriteRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteRight").field("is_guarded", &self.0.is_some()).finish()
    }
}

/// A lock that keeps others from changing something, who lock it too. It is given back when it is
/// dropped.
///
/// ```
/// use blosc_oxide::{Frame, FrameOptions, Options};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-shared-{}.b2frame", std::process::id()));
/// let frame = Frame::create(&path, FrameOptions::new(Options::new(1)).with_locking(true))?.commit()?;
/// let lock = frame.lock_shared()?;
/// // Nobody who locks changes the frame here.
/// drop(lock);
/// # drop(frame);
/// # std::fs::remove_file(&path)?;
/// # let _ = std::fs::remove_file(path.with_extension("b2frame.b2lock"));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct SharedLock {
    _guard: Box<dyn Send + Sync>,
}

impl SharedLock {
    /// The lock that `guard` holds, and releases when it is dropped.
    #[must_use]
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

impl fmt::Debug for SharedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLock").finish_non_exhaustive()
    }
}

/// Somebody who reads a directory: as long as it lives, nothing that a committed state needs is
/// removed, unless by `compact`.
///
/// ```
/// use blosc_oxide::storage::{Directory, MemoryDirectory};
/// let directory = MemoryDirectory::new();
/// let reader = directory.reader()?;
/// assert!(reader.is_only());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait DirectoryReader: Send + Sync {
    /// Whether this is certainly the only reader at this moment.
    fn is_only(&self) -> bool;
}

/// A reader that others cannot see, in a directory without locks.
pub(super) struct UnseenReader;

impl DirectoryReader for UnseenReader {
    fn is_only(&self) -> bool {
        false
    }
}
