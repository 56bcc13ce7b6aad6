//! The super-chunk: any number of chunks that are one sequence of bytes, with metadata.
//!
//! A [`SuperChunk`] does the same whether its chunks are in memory, in a file or in a directory: it
//! asks a store for their bytes ([`ReadChunks`]), tells it what to change ([`StageChunks`]), and
//! whoever owns it when to publish that ([`PublishChunks`]).

mod adapters;
mod checked_chunks;
mod meta;
mod starts;
mod state;
mod store;
mod super_chunk;
mod undo;

pub use adapters::{DataReader, DataWriter};
pub(crate) use meta::RESERVED_NAME;
pub use meta::{Metalayers, VlMetalayers};
pub(crate) use state::{ChunkSize, State};
pub(crate) use store::{
    Facts, Foreign, MemoryStore, PublishChunks, ReadChunks, Slot, Source, StageChunks, Staged, hash_of_chunk,
};
pub use super_chunk::{ChunkRun, SuperChunk};
pub(crate) use super_chunk::{Parts, Store, room_for};
