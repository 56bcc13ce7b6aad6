//! Functions beside compression: clocks, and positions in arrays.

mod positions;
mod time;
