//! The traits of `std::io` over the data of a super-chunk.

mod reader;
mod writer;

pub use reader::DataReader;
pub use writer::DataWriter;
