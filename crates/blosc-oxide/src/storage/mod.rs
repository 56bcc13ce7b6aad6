//! Storages: a few methods that files, memory and tests can all offer.
//!
//! Everything above this layer does its input and output through these traits, so that a crash or a
//! full disk can be simulated at every call.

mod directory;
mod durability;
mod file;
mod location;
mod memory;
#[cfg(feature = "frame")]
mod pending;
mod plain;
mod rights;

pub use directory::{Directory, FileDirectory, MemoryDirectory};
pub use durability::Durability;
pub use file::FileStorage;
pub use location::Location;
pub use memory::MemoryStorage;
#[cfg(feature = "frame")]
pub(crate) use pending::Pending;
#[cfg(feature = "frame")]
pub(crate) use plain::FileIdentity;
pub(crate) use plain::open_sidecar;
pub use rights::{DirectoryReader, SharedLock, WriteRight};

use crate::error::{Result, error};
use std::io;
use std::sync::Arc;

/// Bytes that can be read at any position, from many threads at once.
///
/// ```
/// use blosc_oxide::storage::ReadAt;
/// use blosc_oxide::{Frame, Location, Options, storage::MemoryStorage};
/// use std::io;
///
/// /// Counts in reads what a remote store would count in requests.
/// struct Traced(MemoryStorage);
/// impl ReadAt for Traced {
///     fn len(&self) -> io::Result<u64> {
///         self.0.len()
///     }
///     fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
///         println!("{} bytes at {position}", buffer.len());
///         self.0.read_at(position, buffer)
///     }
/// }
///
/// let storage = MemoryStorage::default();
/// Frame::create(storage.clone(), Options::new(1))?.commit()?;
/// assert_eq!(Frame::open(Location::source(Traced(storage)))?.nbytes(), 0);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    ///
    /// # Errors
    /// What the operating system reports.
    fn len(&self) -> io::Result<u64>;

    /// Fills `buffer` with the bytes from `position` on.
    ///
    /// # Errors
    /// `UnexpectedEof` if there are not as many; else what the operating system reports.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Whether there are no bytes at all.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// Bytes that can be written as well, through a shared reference: those who read and the one who
/// writes share a storage.
///
/// A crash may lose any write that was not followed by a [`sync`](Self::sync), or keep a part of
/// it.
///
/// ```
/// use blosc_oxide::storage::{MemoryStorage, ReadAt, Storage};
/// let storage = MemoryStorage::default();
/// storage.write_at(0, b"some data")?;
/// storage.set_len(4)?;
/// storage.sync()?;
/// assert_eq!((storage.len()?, storage.to_bytes()), (4, b"some".to_vec()));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait Storage: ReadAt {
    /// Writes `bytes` from `position` on, beyond the end if need be.
    ///
    /// # Errors
    /// What the operating system reports. Some of the bytes may have been written then.
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the bytes to `len`, or adds zeros up to it.
    ///
    /// # Errors
    /// What the operating system reports.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes everything written so far survive a loss of power.
    ///
    /// # Errors
    /// What the operating system reports.
    fn sync(&self) -> io::Result<()>;

    /// Acquires the right to write, which is exclusive until it is dropped; `None` if another
    /// handle has it. Where nothing can be locked, everybody gets it.
    ///
    /// # Errors
    /// What the operating system reports.
    fn own(&self) -> io::Result<Option<WriteRight>> {
        Ok(Some(WriteRight::unguarded()))
    }
}

/// Forwards to what a pointer leads to.
macro_rules! forward {
    ($pointer:ty) => {
        impl<T: ReadAt + ?Sized> ReadAt for $pointer {
            fn len(&self) -> io::Result<u64> {
                (**self).len()
            }

            fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
                (**self).read_at(position, buffer)
            }
        }

        impl<T: Storage + ?Sized> Storage for $pointer {
            fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
                (**self).write_at(position, bytes)
            }

            fn set_len(&self, len: u64) -> io::Result<()> {
                (**self).set_len(len)
            }

            fn sync(&self) -> io::Result<()> {
                (**self).sync()
            }

            fn own(&self) -> io::Result<Option<WriteRight>> {
                (**self).own()
            }
        }
    };
}

forward!(&T);
forward!(Box<T>);
forward!(Arc<T>);

/// Fills `buffer` from `position` on; an early end is `Truncated`, and the message names `what`.
pub(crate) fn read_exact(from: &dyn ReadAt, position: u64, buffer: &mut [u8], what: &str) -> Result<()> {
    from.read_at(position, buffer).map_err(|cause| {
        let len = buffer.len();
        if cause.kind() == io::ErrorKind::UnexpectedEof {
            error!(Truncated, "{what}: {len} bytes at {position} are not all there")
        } else {
            error!(Io, "{what}: reading {len} bytes at {position}: {cause}").with_source(cause)
        }
    })
}

fn unexpected_end() -> io::Error {
    io::Error::from(io::ErrorKind::UnexpectedEof)
}
