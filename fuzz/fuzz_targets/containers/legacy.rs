//! Packed super-chunks and early frames.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::files::legacy(bytes));
