//! The decoder of Zstandard, compared with the C library.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::decoders::zstd::decode(bytes));
