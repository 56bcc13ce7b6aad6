//! Frames: a super-chunk in a file, in memory or in a directory, that survives crashes.
//!
//! | folder | what it holds |
//! |---|---|
//! | `format` | the bytes: header, index, trailer, footer; early frames |
//! | `space` | where they are in a contiguous frame: free list, map, append buffer |
//! | `read` | a stored frame read and checked |
//! | `store` | the chunks of contiguous and of sparse frames: read, staged, committed |
//! | `snapshot` | [`Frame`], and what all snapshots and edits of one opening share |
//! | `transaction` | begin, commit, create |
//! | `repair` | what can be saved of a damaged frame |

pub(crate) mod format;
mod lock;
mod open_options;
mod options;
mod read;
mod repair;
mod snapshot;
mod space;
mod store;
mod transaction;

pub use format::early::EarlyFrame;
pub use format::version::FrameVersion;
pub(crate) use format::version::is_frame;
pub use open_options::OpenOptions;
pub use options::{FrameLayout, FrameOptions};
pub use read::verify::{Damage, Verification};
pub use repair::{LooseChunk, Repair, RepairReport, RepairUnknown, RepairedBy};
pub use snapshot::frame::Frame;
pub(crate) use store::sparse::INDEX_NAME;
pub(crate) use transaction::begin::Transaction;
pub use transaction::edit::FrameEdit;
