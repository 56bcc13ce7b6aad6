//! The environment variables, which win over arguments and settings. They are read at each call, in
//! the order of C-Blosc.

use crate::code::FAILED;
use crate::codecs;
use crate::settings::{BLOCKSIZE, COMPRESSOR, SPLIT_MODE, THREADS};
use c_boundary::split;
use c_boundary::variables::{number, positive, text as variable};
use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

/// What variables change about one call. All others change settings, and stay in force.
pub(crate) struct Arguments {
    pub(crate) level: i32,
    pub(crate) shuffle: i32,
    pub(crate) typesize: usize,
}

/// Reads what concerns compression.
pub(crate) fn before_compressing(mut arguments: Arguments) -> Result<Arguments, i32> {
    if let Some(level) = number("BLOSC_CLEVEL").filter(|&level| level >= 0) {
        arguments.level = level;
    }
    arguments.shuffle = match variable("BLOSC_SHUFFLE").as_deref() {
        Some(b"NOSHUFFLE") => 0,
        Some(b"SHUFFLE") => 1,
        Some(b"BITSHUFFLE") => 2,
        _ => arguments.shuffle,
    };
    if let Some(typesize) = positive("BLOSC_TYPESIZE") {
        arguments.typesize = typesize.unsigned_abs() as usize;
    }
    read_compressor()?;
    if let Some(blocksize) = positive("BLOSC_BLOCKSIZE") {
        BLOCKSIZE.set(blocksize);
    }
    before_decompressing();
    read_split_mode()?;
    Ok(arguments)
}

/// Reads what concerns decompression. Whether `BLOSC_NOLOCK` is set makes no difference: no call
/// waits for another.
pub(crate) fn before_decompressing() {
    if let Some(threads) = positive("BLOSC_NTHREADS") {
        THREADS.set(threads);
    }
}

/// Says on the standard error stream what is wrong with an argument, if `BLOSC_WARN` asks for it.
///
/// Without the lock of `std::io::Stderr`: a fork may have left it locked forever. What cannot be
/// written is left out.
pub(crate) fn warn(problem: &str, given: i32) {
    if positive("BLOSC_WARN").is_some()
        && let Ok(stream) = std::io::stderr().as_fd().try_clone_to_owned()
    {
        let _ = File::from(stream).write_all(format!("blosc: {problem}, it is {given}\n").as_bytes());
    }
}

fn read_compressor() -> Result<(), i32> {
    let Some(name) = variable("BLOSC_COMPRESSOR") else { return Ok(()) };
    let number = CString::new(name).ok().and_then(|name| codecs::number_of(&name));
    COMPRESSOR.set(number.unwrap_or(FAILED));
    number.map(drop).ok_or(FAILED)
}

fn read_split_mode() -> Result<(), i32> {
    let Some(name) = variable("BLOSC_SPLITMODE") else { return Ok(()) };
    let mode = split::by_name(&name).ok_or(FAILED)?;
    SPLIT_MODE.set(mode);
    Ok(())
}
