//! What the C libraries of blosc-oxide share: pointers that become slices ([`memory`]), panics that
//! become error codes ([`guarded`]), environment variables ([`variables`]), settings of the process
//! ([`Setting`]), and what is kept between two calls ([`Idle`]).

mod guard;
mod idle;
pub mod memory;
mod setting;
pub mod variables;

pub use guard::guarded;
pub use idle::Idle;
pub use setting::{Setting, split};
