//! The same data and options give the same bytes, on any number of threads.

mod bytes;
mod threads;
