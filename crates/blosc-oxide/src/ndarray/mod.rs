//! Arrays of several dimensions, in the chunks of a super-chunk.

mod array;
mod cells;
mod copy;
mod geometry;
mod meta;
mod options;
mod pick;
mod selection;

pub use array::NdArray;
pub use geometry::{Geometry, MAX_DIMS};
pub use options::{ArrayOptions, Fill};
pub use pick::Pick;
