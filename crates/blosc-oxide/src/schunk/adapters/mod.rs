//! The data of a super-chunk as numbers, and through the traits of `std::io`.

mod items;
mod reader;
mod writer;

pub use reader::DataReader;
pub use writer::DataWriter;
