//! What others wrote is read, what is written comes back, and conversions keep what both formats
//! have.

#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod conversions;
mod golden;
mod info;
mod lizard;
mod old_writers;
mod python_arrays;
mod stores;
mod zarr;
