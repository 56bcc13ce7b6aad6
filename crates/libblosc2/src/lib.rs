//! The functions of `libblosc2.so.9`, with the semantics of C-Blosc2 3.3, on blosc-oxide.
//!
//! `exports` is what C sees. Each function there turns pointers into slices and references
//! (`c_boundary::memory`), and calls safe code inside `guarded`, which turns a panic into an error
//! code. `structs` are those of blosc2.h and b2nd.h: C programs read and write their fields, so
//! they are read anew in every call. Everything that the C library keeps for a process is here, and
//! not in blosc-oxide: `settings` and `registry` (atomics, so that no call and no fork can leave
//! one locked), and `environment`.

mod b2nd;
mod code;
mod codecs;
mod context;
mod decompress;
mod defaults;
mod exports;
mod frame;
mod io;
mod plugins;
mod prefilter;
mod process;
mod schunk;
mod structs;
mod tuner;
