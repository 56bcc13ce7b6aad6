//! Reading errors among damage.

use crate::error::{Result, error};
use crate::exec::lock;
use crate::storage::ReadAt;
use std::io;
use std::sync::Mutex;

/// A source that remembers why it could not be read: the search takes what it cannot read for
/// damaged, and would save less than there is.
pub(super) struct Watched<'a> {
    source: &'a dyn ReadAt,
    failed: Mutex<Option<io::Error>>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(source: &'a dyn ReadAt) -> Self {
        Self { source, failed: Mutex::default() }
    }

    /// Whether all that is there could be read.
    pub(super) fn check(&self) -> Result<()> {
        match lock(&self.failed).take() {
            Some(cause) => Err(error!(Io, "{cause}").with_source(cause)),
            None => Ok(()),
        }
    }

    fn watch<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|cause| {
            // A read behind the end, or of what no file can have, is what a damaged file asks for.
            if matches!(cause.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput) {
                return cause;
            }
            let copy = io::Error::new(cause.kind(), cause.to_string());
            lock(&self.failed).get_or_insert(cause);
            copy
        })
    }
}

impl ReadAt for Watched<'_> {
    fn len(&self) -> io::Result<u64> {
        self.watch(self.source.len())
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.watch(self.source.read_at(position, buffer))
    }
}
