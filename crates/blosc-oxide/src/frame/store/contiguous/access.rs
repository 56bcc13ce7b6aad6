//! The storage of a frame, to read only or to write.

use crate::error::{Result, bail};
use crate::storage::{ReadAt, Storage};
use std::sync::Arc;

/// The storage of a frame.
pub(in crate::frame) enum Access {
    Read(Arc<dyn ReadAt>),
    Write(Arc<dyn Storage>),
}

impl Access {
    pub(in crate::frame) fn as_read(&self) -> &dyn ReadAt {
        match self {
            Self::Read(source) => &**source,
            Self::Write(storage) => &**storage,
        }
    }

    /// The same, read-only.
    pub(super) fn share(&self) -> Self {
        match self {
            Self::Read(source) => Self::Read(Arc::clone(source)),
            Self::Write(storage) => Self::Read(Arc::clone(storage) as Arc<dyn ReadAt>),
        }
    }

    pub(super) fn as_write(&self) -> Result<&dyn Storage> {
        match self {
            Self::Write(storage) => Ok(&**storage),
            Self::Read(_) => bail!(InvalidArgument, "the frame is open for reading only"),
        }
    }
}
