//! The msgpack of python-blosc2: descriptions of arrays, and of what a store holds.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::stores::value(bytes));
