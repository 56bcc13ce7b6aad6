//! Pickles of NumPy arrays.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::stores::pickle(bytes));
