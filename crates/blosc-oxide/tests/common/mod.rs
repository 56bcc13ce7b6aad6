//! What the tests of crashes and faults share: the simulated disk behind the library's traits, the
//! content of a frame as a value, and the edits that are interrupted.
#![allow(dead_code, unreachable_pub, reason = "each test has it as a module of its own, and uses a part of it")]

pub mod child;
pub mod content;
pub mod disk;
pub mod edits;
pub mod packed;
pub mod recording;
pub mod reference;
pub mod sample;
pub mod specimen;
