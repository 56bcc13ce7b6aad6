//! Any data, any options: what was compressed comes back.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::chunks::roundtrip(bytes));
