//! The environment variables, which win over what a program asks for.

use crate::code::{FAILURE, INVALID_PARAM, Outcome};
use crate::codecs;
use crate::process::settings::{BLOCKSIZE, COMPRESSOR, DELTA, SPLIT_MODE, THREADS};
use crate::structs::{Cparams, MAX_FILTERS};
use c_boundary::{split, variables};
use std::ffi::CString;

const SHUFFLES: [(&[u8], u8); 3] = [(b"NOSHUFFLE", 0), (b"SHUFFLE", 1), (b"BITSHUFFLE", 2)];
const DELTA_FILTER: u8 = 3;

/// Reads what concerns a context that compresses.
pub(crate) fn change_cparams(cparams: &mut Cparams) -> Outcome<()> {
    if let Some(level) = level() {
        cparams.clevel = level;
    }
    if let Some(shuffle) = shuffle() {
        cparams.filters[MAX_FILTERS - 1] = shuffle;
    }
    if let Some(is_on) = delta() {
        cparams.filters[MAX_FILTERS - 2] = if is_on { DELTA_FILTER } else { 0 };
    }
    if let Some(typesize) = variables::positive("BLOSC_TYPESIZE") {
        cparams.typesize = typesize;
    }
    if let Some(codec) = compressor() {
        cparams.compcode = u8::try_from(codec).map_err(|_| INVALID_PARAM)?;
    }
    if let Some(blocksize) = variables::positive("BLOSC_BLOCKSIZE") {
        cparams.blocksize = blocksize;
    }
    change_threads(&mut cparams.nthreads);
    if let Some(mode) = split_mode()? {
        cparams.splitmode = mode;
    }
    Ok(())
}

/// Reads what concerns a context that decompresses, and one that compresses as well.
pub(crate) fn change_threads(nthreads: &mut i16) {
    if let Some(threads) = variables::positive("BLOSC_NTHREADS").and_then(|threads| i16::try_from(threads).ok()) {
        *nthreads = threads;
    }
}

/// Level, shuffle and typesize of a call without a context. Everything else stays in force.
pub(crate) struct Arguments {
    pub(crate) level: i32,
    pub(crate) shuffle: i32,
    pub(crate) typesize: i32,
}

/// Reads what concerns compression without a context.
pub(crate) fn before_compressing(mut arguments: Arguments) -> Outcome<Arguments> {
    if let Some(level) = variables::number("BLOSC_CLEVEL").filter(|&level| level >= 0) {
        arguments.level = level;
    }
    if let Some(shuffle) = shuffle() {
        arguments.shuffle = shuffle.into();
    }
    if let Some(is_on) = delta() {
        DELTA.set(is_on.into());
    }
    if let Some(typesize) = variables::positive("BLOSC_TYPESIZE") {
        arguments.typesize = typesize;
    }
    if let Some(codec) = compressor() {
        COMPRESSOR.set(codec);
        if codec < 0 {
            return Err(FAILURE);
        }
    }
    if let Some(blocksize) = variables::positive("BLOSC_BLOCKSIZE") {
        BLOCKSIZE.set(blocksize);
    }
    before_decompressing();
    if let Some(mode) = split_mode()? {
        SPLIT_MODE.set(mode);
    }
    Ok(arguments)
}

/// Reads what concerns decompression without a context.
pub(crate) fn before_decompressing() {
    if let Some(threads) = variables::positive("BLOSC_NTHREADS") {
        THREADS.set(threads.min(i16::MAX.into()));
    }
}

/// Whether chunks without a context are to be those of Blosc1.
pub(crate) fn wants_blosc1() -> bool {
    variables::text("BLOSC_BLOSC1_COMPAT").is_some()
}

fn level() -> Option<u8> {
    variables::number("BLOSC_CLEVEL").and_then(|level| u8::try_from(level).ok())
}

fn shuffle() -> Option<u8> {
    let name = variables::text("BLOSC_SHUFFLE")?;
    SHUFFLES.iter().find(|(known, _)| *known == name).map(|&(_, shuffle)| shuffle)
}

fn delta() -> Option<bool> {
    variables::text("BLOSC_DELTA").map(|value| value == b"1")
}

/// The number of the codec, -1 if it is not there.
fn compressor() -> Option<i32> {
    let name = CString::new(variables::text("BLOSC_COMPRESSOR")?).ok()?;
    Some(codecs::number_of(&name))
}

fn split_mode() -> Outcome<Option<i32>> {
    variables::text("BLOSC_SPLITMODE").map(|name| split::by_name(&name).ok_or(FAILURE)).transpose()
}
