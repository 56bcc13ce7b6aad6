//! Edits of a frame against a model, on a storage that fails.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::edits::frame(bytes));
