//! The msgpack of headers, trailers and the metalayer of arrays.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::files::msgpack(bytes));
