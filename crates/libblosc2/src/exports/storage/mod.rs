//! What is stored: super-chunks and arrays in files and directories, and the files themselves.

mod arrays;
mod io;
mod paths;
mod stored;
