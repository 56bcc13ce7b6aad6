//! Each instruction set against portable code.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| blosc_fuzz::kernels::isa(bytes));
