//! The 25 functions of `libblosc.so.1`, with the semantics of C-Blosc 1.21, on blosc-oxide.
//!
//! `exports` is what C sees. Each function there turns pointers into slices and numbers
//! (`c_boundary::memory`), and calls safe code inside `guarded`, which turns a panic into an error
//! code. Everything that the C library keeps for a process is here, and not in blosc-oxide:
//! `settings` (atomics, so that no call and no fork can leave one locked), `environment`, and the
//! compressors and decompressors that wait for the next call (`Idle`).

mod code;
mod codecs;
mod compress;
mod decompress;
mod environment;
mod exports;
mod header;
mod settings;
