//! A disk in memory that crashes and fails on demand.
//!
//! A [`Disk`] takes the calls that a file system takes, and keeps a [`Log`] of those that change
//! something. From the log come the [`Image`]s that a crash could have left: what is there after a
//! cut of power, when every write since the last sync may be lost, kept or torn, or after a kill,
//! when the last call may have been cut short. A [`Fault`] makes one call fail.
//!
//! It knows nothing of the library: tests wrap it in the library's traits.

mod crash;
mod disk;
mod image;

pub use crash::Log;
pub use disk::{Call, Disk, DiskFile, Fault, FaultKind};
pub use image::{Change, FileId, Image};

/// What a disk writes wholly or not at all.
pub const SECTOR: u64 = 512;
