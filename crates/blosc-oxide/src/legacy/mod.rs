//! Formats that no release writes any more: the packed super-chunk of the alphas, and the frames of
//! the betas.

mod early_writer;
mod packed;

pub use crate::frame::EarlyFrame;
pub(crate) use packed::is_packed;
pub use packed::{
    PackedChunks, PackedFilters, PackedHeader, PackedOptions, PackedRelease, PackedSpecial, PackedSuperChunk,
    PackedWriter,
};
