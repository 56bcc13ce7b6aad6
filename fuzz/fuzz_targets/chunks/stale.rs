//! Nothing of what was in the output shows through.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::chunks::no_stale_output(bytes));
