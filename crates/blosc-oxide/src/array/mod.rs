//! Arrays of several dimensions, in the chunks of a super-chunk.

mod chunks;
mod geometry;
#[cfg(feature = "ndarray")]
mod interop;
mod items;
mod meta;
mod nd_array;
mod npy;
mod options;
mod place;
mod points;
mod read;
mod select;
mod verify;
mod write;

pub use chunks::ArrayChunk;
pub use geometry::{Geometry, MAX_DIMS};
pub use nd_array::NdArray;
pub use options::{ArrayOptions, Fill};
pub use place::Place;
pub use read::parts::Ordered;
pub use select::axis::Pick;
