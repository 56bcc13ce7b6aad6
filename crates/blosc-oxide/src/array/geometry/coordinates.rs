//! Counting through coordinates.

/// Goes to the next coordinates, the last axis first; `false` after the last one.
pub(in crate::array) fn advance(coordinates: &mut [usize], length: impl Fn(usize) -> usize) -> bool {
    for axis in (0..coordinates.len()).rev() {
        coordinates[axis] += 1;
        if coordinates[axis] < length(axis) {
            return true;
        }
        coordinates[axis] = 0;
    }
    false
}
