//! libblosc as C programs see it: any library with its 25 functions, loaded by path.

mod built;
mod child;
mod data;
mod functions;
mod program;

pub use built::{build, ours, theirs};
pub use child::in_a_child;
pub use data::data_sets;
pub use functions::{Blosc, CODECS, Description, Sizes};
pub use program::Program;
