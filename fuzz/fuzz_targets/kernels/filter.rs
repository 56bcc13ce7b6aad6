//! What a filter does can be undone.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::kernels::filters(bytes));
