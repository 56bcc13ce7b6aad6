//! The lists of zip archives, as stores of python-blosc2 are.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::stores::archive(bytes));
