//! Who may change what is stored, and who may be reading it.

use std::fmt;

/// The right to change something that is stored. It is given back when it is dropped.
pub struct WriteRight(Option<Box<dyn Send + Sync>>);

impl WriteRight {
    /// The right that `guard` stands for, and gives back when it is dropped.
    #[must_use]
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }

    /// The right to change what cannot be locked, or what nobody else knows of.
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
pub struct SharedLock {
    _guard: Box<dyn Send + Sync>,
}

impl SharedLock {
    /// The lock that `guard` stands for, and gives back when it is dropped.
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
pub trait DirectoryReader: Send + Sync {
    /// Whether there is certainly no other at this moment.
    fn is_only(&self) -> bool;
}

/// One that others cannot see, in a directory that has no means for it.
pub(super) struct UnseenReader;

impl DirectoryReader for UnseenReader {
    fn is_only(&self) -> bool {
        false
    }
}
