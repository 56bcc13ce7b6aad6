//! Reading: chunks, ranges of the data, and what of a stored chunk is needed for that.

mod checks;
mod chunk;
mod data;
mod load;
mod runs;
mod sizes;
mod window;

pub(super) use chunk::at_chunk;
pub(crate) use load::Parts;
pub use runs::ChunkRun;
