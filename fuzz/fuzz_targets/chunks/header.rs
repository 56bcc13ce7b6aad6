//! The header of a chunk, and lazy chunks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::chunks::header(bytes));
