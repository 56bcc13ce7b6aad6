//! The data of a chunk.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::chunks::decode(bytes));
