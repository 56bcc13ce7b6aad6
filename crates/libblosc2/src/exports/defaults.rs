//! Structs as they are before anything was chosen, returned by value.

use crate::defaults;
use crate::structs::{Cparams, Dparams, Io, StdioMmap, Storage};

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_cparams_defaults() -> Cparams {
    defaults::CPARAMS
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_dparams_defaults() -> Dparams {
    defaults::DPARAMS
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_storage_defaults() -> Storage {
    defaults::STORAGE
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_io_defaults() -> Io {
    defaults::IO
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_stdio_mmap_defaults() -> StdioMmap {
    defaults::STDIO_MMAP
}
