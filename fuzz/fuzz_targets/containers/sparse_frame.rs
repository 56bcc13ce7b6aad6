//! A sparse frame: opened, read, verified, repaired, written to.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::files::sparse_frame(bytes));
