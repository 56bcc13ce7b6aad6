//! Selections of an array, axis by axis, and which blocks they touch.

pub(in crate::array) mod axis;
pub(in crate::array) mod plan;
