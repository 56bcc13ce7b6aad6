//! From a chunk to its data, or to a part of it.

use crate::code::{self, FAILED};
use crate::compress::threads;
use crate::header::Header;
use blosc_oxide::{Chunk, Decompressor};
use c_boundary::Idle;

/// A decompressor, and how many threads it was last set up for.
struct Reader {
    threads: i32,
    decompressor: Decompressor,
}

static READERS: Idle<Reader> = Idle::new();

/// Decompresses a chunk to `dest`, which has the length of its data; returns that length or a code.
pub(crate) fn decompress(header: &Header, chunk: &[u8], dest: &mut [u8], threads: i32) -> i32 {
    with_reader(header, threads, |reader| match reader.decompress_into(chunk, dest) {
        Ok(len) => code::of_len(len),
        Err(_) => FAILED,
    })
}

/// Puts the data from byte `start` on into `dest`; returns how many bytes these are, or a code.
pub(crate) fn part(header: &Header, chunk: &[u8], start: usize, dest: &mut [u8]) -> i32 {
    let Ok(chunk) = Chunk::parse(chunk) else { return FAILED };
    with_reader(header, 1, |reader| match reader.bytes_into(&chunk, start, dest) {
        Ok(()) => code::of_len(dest.len()),
        Err(_) => FAILED,
    })
}

/// Drops all that is kept for the next calls.
pub(crate) fn free_resources() {
    READERS.clear();
}

fn with_reader(header: &Header, threads: i32, read: impl FnOnce(&mut Decompressor) -> i32) -> i32 {
    let mut reader = Reader::with_threads(threads);
    let code = read(&mut reader.decompressor);
    if header.has_common_blocks() {
        READERS.leave(reader);
    }
    code
}

impl Reader {
    /// A reader that uses so many threads, with the memory of an earlier one if there is any.
    fn with_threads(count: i32) -> Box<Self> {
        let Some(mut reader) = READERS.take() else {
            return Box::new(Self { threads: count, decompressor: Decompressor::new().with_threads(threads(count)) });
        };
        if reader.threads != count {
            reader.decompressor.set_threads(threads(count));
            reader.threads = count;
        }
        reader
    }
}
