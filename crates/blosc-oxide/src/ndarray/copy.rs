//! Copying the part of a block that a selection takes, one way or the other.

use super::pick::Hits;

/// Which items of a block go where in a buffer.
pub(super) struct Transfer<'a> {
    /// For each axis, what is taken of the block.
    pub(super) hits: &'a [Hits],
    /// Bytes from one item to the next along each axis, in the block and in the buffer.
    pub(super) block_strides: &'a [usize],
    pub(super) buffer_strides: &'a [usize],
    pub(super) typesize: usize,
}

impl Transfer<'_> {
    /// Copies from the block to the buffer.
    pub(super) fn read(&self, block: &[u8], buffer: &mut [u8]) {
        self.each_run(&mut |in_block, in_buffer, len| {
            buffer[in_buffer..in_buffer + len].copy_from_slice(&block[in_block..in_block + len]);
        });
    }

    /// Copies from the buffer to the block.
    pub(super) fn write(&self, buffer: &[u8], block: &mut [u8]) {
        self.each_run(&mut |in_block, in_buffer, len| {
            block[in_block..in_block + len].copy_from_slice(&buffer[in_buffer..in_buffer + len]);
        });
    }

    /// Calls `copy` with the offsets and the length of each contiguous run.
    fn each_run(&self, copy: &mut impl FnMut(usize, usize, usize)) {
        let Some((last, outer)) = self.hits.split_last() else {
            copy(0, 0, self.typesize);
            return;
        };
        if self.hits.iter().any(|hits| hits.pairs.is_empty()) {
            return;
        }
        let axis = outer.len();
        let is_run =
            last.is_run && self.block_strides[axis] == self.typesize && self.buffer_strides[axis] == self.typesize;
        let mut place = vec![0; outer.len()];
        loop {
            let (block_at, buffer_at) = self.offsets(&place);
            if is_run {
                let (from, to) = last.pairs[0];
                let len = last.pairs.len() * self.typesize;
                copy(block_at + from * self.typesize, buffer_at + to * self.typesize, len);
            } else {
                for &(from, to) in &last.pairs {
                    let in_block = block_at + from * self.block_strides[axis];
                    copy(in_block, buffer_at + to * self.buffer_strides[axis], self.typesize);
                }
            }
            if !advance(&mut place, outer) {
                return;
            }
        }
    }

    /// The offsets of the first item along the last axis.
    fn offsets(&self, place: &[usize]) -> (usize, usize) {
        let mut offsets = (0, 0);
        for (axis, (&at, hits)) in place.iter().zip(self.hits).enumerate() {
            let (from, to) = hits.pairs[at];
            offsets.0 += from * self.block_strides[axis];
            offsets.1 += to * self.buffer_strides[axis];
        }
        offsets
    }
}

/// Goes to the next place, the last axis first; `false` after the last one.
fn advance(place: &mut [usize], hits: &[Hits]) -> bool {
    for (at, hits) in place.iter_mut().zip(hits).rev() {
        *at += 1;
        if *at < hits.pairs.len() {
            return true;
        }
        *at = 0;
    }
    false
}

/// Bytes from one item to the next along each axis of a C-ordered array.
pub(super) fn c_strides(shape: impl DoubleEndedIterator<Item = usize>, typesize: usize) -> Vec<usize> {
    let mut strides: Vec<usize> = shape
        .rev()
        .scan(typesize, |stride, length| {
            let this = *stride;
            *stride = stride.saturating_mul(length);
            Some(this)
        })
        .collect();
    strides.reverse();
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_in_c_order() {
        assert_eq!(c_strides([2, 3, 4].into_iter(), 8), [96, 32, 8]);
        assert!(c_strides(std::iter::empty(), 8).is_empty());
    }
}
