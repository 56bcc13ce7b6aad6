//! Test support of blosc-oxide.
