//! The decoder of each codec.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::codecs::decode(bytes));
