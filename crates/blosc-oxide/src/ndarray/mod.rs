//! Arrays of several dimensions, in the chunks of a super-chunk.

mod array;
mod cells;
mod chunks;
mod copy;
mod derive;
mod encode;
mod geometry;
#[cfg(feature = "ndarray")]
mod interop;
mod items;
mod meta;
mod npy;
mod options;
mod parts;
mod pick;
mod place;
mod points;
mod read;
mod regions;
mod resize;
mod selection;
mod verify;
mod write;

pub use array::NdArray;
pub use chunks::ArrayChunk;
pub use geometry::{Geometry, MAX_DIMS};
pub use options::{ArrayOptions, Fill};
pub use parts::Ordered;
pub use pick::Pick;
pub use place::Place;
