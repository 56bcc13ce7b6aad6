//! A Bloscpack file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::files::bloscpack(bytes));
