//! The decoder of zfp.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::decoders::zfp::decode(bytes));
