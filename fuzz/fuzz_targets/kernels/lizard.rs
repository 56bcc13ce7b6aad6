//! The decoder of Lizard.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::decoders::lizard::decode(bytes));
