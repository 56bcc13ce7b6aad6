//! What functions return when they do not return a length: the numbers of blosc2.h, and their
//! texts.

use blosc_oxide::{Error, ErrorKind};
use std::ffi::{CStr, c_int};

/// A result, or one of the codes below.
pub(crate) type Outcome<T> = Result<T, c_int>;

macro_rules! codes {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        $(#[allow(dead_code, reason = "all have a text, not all are returned")]
        pub(crate) const $name: c_int = $code;)*

        /// The text of a code.
        pub(crate) fn text(code: c_int) -> &'static CStr {
            match code {
                $($code => $text,)*
                _ => c"Unknown error",
            }
        }
    };
}

codes! {
    FAILURE = -1, c"Generic failure";
    STREAM = -2, c"Bad stream";
    DATA = -3, c"Invalid data";
    MEMORY_ALLOC = -4, c"Memory alloc/realloc failure";
    READ_BUFFER = -5, c"Not enough space to read";
    WRITE_BUFFER = -6, c"Not enough space to write";
    CODEC_SUPPORT = -7, c"Codec not supported";
    CODEC_PARAM = -8, c"Invalid parameter supplied to codec";
    CODEC_DICT = -9, c"Codec dictionary error";
    VERSION_SUPPORT = -10, c"Version not supported";
    INVALID_HEADER = -11, c"Invalid value in header";
    INVALID_PARAM = -12, c"Invalid parameter supplied to function";
    FILE_READ = -13, c"File read failure";
    FILE_WRITE = -14, c"File write failure";
    FILE_OPEN = -15, c"File open failure";
    NOT_FOUND = -16, c"Not found";
    RUN_LENGTH = -17, c"Bad run length encoding";
    FILTER_PIPELINE = -18, c"Filter pipeline error";
    CHUNK_INSERT = -19, c"Chunk insert failure";
    CHUNK_APPEND = -20, c"Chunk append failure";
    CHUNK_UPDATE = -21, c"Chunk update failure";
    TWO_GB_LIMIT = -22, c"Sizes larger than 2gb not supported";
    SCHUNK_COPY = -23, c"Super-chunk copy failure";
    FRAME_TYPE = -24, c"Wrong type for frame";
    FILE_TRUNCATE = -25, c"File truncate failure";
    THREAD_CREATE = -26, c"Thread or thread context creation failure";
    POSTFILTER = -27, c"Postfilter failure";
    FRAME_SPECIAL = -28, c"Special frame failure";
    SCHUNK_SPECIAL = -29, c"Special super-chunk failure";
    PLUGIN_IO = -30, c"IO plugin error";
    FILE_REMOVE = -31, c"Remove file failure";
    NULL_POINTER = -32, c"Pointer is null";
    INVALID_INDEX = -33, c"Invalid index";
    METALAYER_NOT_FOUND = -34, c"Metalayer has not been found";
    MAX_BUFSIZE_EXCEEDED = -35, c"Maximum buffersize exceeded";
    TUNER = -36, c"Tuner failure";
    LOCK = -37, c"Frame lock failure";
}

/// The code for an error of the library.
pub(crate) fn of(error: &Error) -> c_int {
    match error.kind() {
        ErrorKind::InvalidArgument => INVALID_PARAM,
        ErrorKind::Corrupt | ErrorKind::ChecksumMismatch => DATA,
        ErrorKind::Truncated => READ_BUFFER,
        ErrorKind::Unsupported => CODEC_SUPPORT,
        ErrorKind::LimitExceeded => MEMORY_ALLOC,
        ErrorKind::OutputTooSmall => WRITE_BUFFER,
        ErrorKind::Locked | ErrorKind::Conflict => LOCK,
        ErrorKind::Poisoned => FILE_WRITE,
        ErrorKind::Io => FILE_READ,
        _ => FAILURE,
    }
}

/// A length that fits into an `int`.
pub(crate) fn of_len(len: usize) -> c_int {
    c_int::try_from(len).unwrap_or(MAX_BUFSIZE_EXCEEDED)
}

/// The number that C gets: the result or the code.
pub(crate) fn flat<T: From<c_int>>(outcome: Outcome<T>) -> T {
    outcome.unwrap_or_else(T::from)
}
