//! Our C libraries, called as C programs call them.

mod blosc1;
mod blosc2;

pub(crate) use blosc1::{Abi, run};
pub(crate) use blosc2::{Abi2, run as run_blosc2};
