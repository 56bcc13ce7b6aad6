//! Edits of an array against a model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::arrays::edits(bytes));
