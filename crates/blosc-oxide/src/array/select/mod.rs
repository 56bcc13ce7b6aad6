//! What is taken of an array, axis by axis, and which blocks that touches.

pub(in crate::array) mod axis;
pub(in crate::array) mod plan;
