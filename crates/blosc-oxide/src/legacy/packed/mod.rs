//! The packed super-chunk: the container of the first alphas of C-Blosc2, 2015 to 2017, before
//! there were frames.
//!
//! A header of 96 bytes, some special chunks, the data chunks, and a table of where those are.
//! `doc/format/packed.md` has the bytes and what real writers made of them.

mod assembly;
mod chunks;
mod delta;
mod encoder;
mod filters;
mod header;
mod options;
mod reader;
mod table;
mod writer;

pub use chunks::PackedChunks;
pub use filters::PackedFilters;
pub(crate) use header::is_packed;
pub use header::{PackedHeader, PackedSpecial};
pub use options::{PackedOptions, PackedRelease};
pub use reader::PackedSuperChunk;
pub use writer::PackedWriter;
