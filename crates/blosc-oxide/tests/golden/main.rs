//! Every file that others wrote gives the data that it was made of.

#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod bitshuffle_rules;
mod bloscpack;
mod chunks;
mod early_frames;
mod frames;
mod lizard;
mod old_writers;
