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
mod points;
mod read;
mod reader;
mod select;
mod write;

pub use chunks::ArrayChunk;
pub use geometry::Geometry;
pub use nd_array::NdArray;
pub use options::{ArrayOptions, Fill};
pub use read::parts::OrderedView;
pub use reader::ArrayReader;
pub use select::axis::AxisSelection;
pub use write::edit::ArrayEdit;
