//! After every simulated crash a file is what it was before the call or after it, and goes on.

#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod bloscpack;
mod frames;
mod healing;
mod packed;
