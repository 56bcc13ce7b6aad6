//! Boxes of items in several dimensions: copied between buffers, and split so that several threads
//! can fill one.

use core::marker::PhantomData;

/// The most dimensions a box can have.
pub const MAX_DIMS: usize = 16;

/// A box of items inside bytes that are read.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Where the first item starts.
    pub start: usize,
    /// Bytes from one item to the next along each dimension.
    pub strides: &'a [isize],
}

/// Copies a box of `shape` items of `typesize` bytes into `to`, where the first one goes to
/// `start`.
///
/// # Panics
/// If the numbers of dimensions differ or are more than [`MAX_DIMS`], or an item of either box is
/// not inside its bytes.
pub fn copy_box(typesize: usize, shape: &[usize], from: Source<'_>, to: &mut [u8], start: usize, to_strides: &[isize]) {
    assert!(shape.len() == from.strides.len() && shape.len() == to_strides.len(), "numbers of dimensions differ");
    if shape.contains(&0) {
        return;
    }
    assert!(lies_inside(typesize, shape, from.start, from.strides, from.bytes.len()), "source is outside");
    assert!(lies_inside(typesize, shape, start, to_strides, to.len()), "target is outside");
    let walk = Walk::new(typesize, shape, from.strides, to_strides);
    let (from, to) = (from.bytes.as_ptr().wrapping_add(from.start), to.as_mut_ptr().wrapping_add(start));
    // SAFETY: every item of both boxes is inside its buffer, as asserted above, and two borrows do
    // not overlap.
    unsafe { walk.run(from, to) };
}

/// Whether all items of a box that has some are inside `len` bytes.
fn lies_inside(typesize: usize, shape: &[usize], start: usize, strides: &[isize], len: usize) -> bool {
    let (Ok(start), Ok(typesize)) = (isize::try_from(start), isize::try_from(typesize)) else { return false };
    let (mut lowest, mut end) = (Some(start), start.checked_add(typesize));
    for (&count, &stride) in shape.iter().zip(strides) {
        let reach = isize::try_from(count - 1).ok().and_then(|last| last.checked_mul(stride));
        let Some(reach) = reach else { return false };
        if reach < 0 {
            lowest = lowest.and_then(|lowest| lowest.checked_add(reach));
        } else {
            end = end.and_then(|end| end.checked_add(reach));
        }
    }
    let is_below = |end: isize| usize::try_from(end).is_ok_and(|end| end <= len);
    lowest.is_some_and(|lowest| lowest >= 0) && end.is_some_and(is_below)
}

/// One dimension of a copy.
#[derive(Clone, Copy, Default)]
struct Dim {
    count: usize,
    from: isize,
    to: isize,
}

/// A copy as runs of bytes that are the same in both boxes, along as few dimensions as possible.
struct Walk {
    run: usize,
    dims: [Dim; MAX_DIMS],
    ndim: usize,
}

impl Walk {
    /// The dimensions are kept innermost first.
    fn new(typesize: usize, shape: &[usize], from: &[isize], to: &[isize]) -> Self {
        assert!(shape.len() <= MAX_DIMS, "too many dimensions");
        let mut walk = Self { run: typesize, dims: [Dim::default(); MAX_DIMS], ndim: 0 };
        for ((&count, &from), &to) in shape.iter().zip(from).zip(to).rev() {
            walk.add(Dim { count, from, to });
        }
        walk
    }

    fn add(&mut self, dim: Dim) {
        if dim.count == 1 {
            return;
        }
        let run = self.run.cast_signed();
        if self.ndim == 0 && dim.from == run && dim.to == run {
            self.run *= dim.count;
            return;
        }
        if let Some(inner) = self.ndim.checked_sub(1).map(|last| &mut self.dims[last]) {
            let count = inner.count.cast_signed();
            if inner.from.checked_mul(count) == Some(dim.from) && inner.to.checked_mul(count) == Some(dim.to) {
                inner.count *= dim.count;
                return;
            }
        }
        self.dims[self.ndim] = dim;
        self.ndim += 1;
    }

    /// Copies everything.
    ///
    /// # Safety
    /// Every item that the dimensions lead to must be readable from `from` and writable from `to`
    /// on, and the two must not overlap.
    unsafe fn run(&self, from: *const u8, to: *mut u8) {
        let mut place = [0; MAX_DIMS];
        let (mut from, mut to) = (from, to);
        let row = if self.ndim == 0 { Dim { count: 1, from: 0, to: 0 } } else { self.dims[0] };
        let copy_row = self.copy_row();
        loop {
            // SAFETY: these are the items of one row, which the caller has promised; their runs
            // have the length that the function was chosen for.
            unsafe { copy_row(row, self.run, from, to) };
            let mut axis = 1;
            loop {
                if axis >= self.ndim {
                    return;
                }
                let dim = self.dims[axis];
                place[axis] += 1;
                from = from.wrapping_offset(dim.from);
                to = to.wrapping_offset(dim.to);
                if place[axis] < dim.count {
                    break;
                }
                let back = dim.count.cast_signed();
                from = from.wrapping_offset(-(dim.from * back));
                to = to.wrapping_offset(-(dim.to * back));
                place[axis] = 0;
                axis += 1;
            }
        }
    }

    /// The copy of one row, for runs of this length.
    fn copy_row(&self) -> CopyRow {
        match self.run {
            1 => copy_row::<1>,
            2 => copy_row::<2>,
            4 => copy_row::<4>,
            8 => copy_row::<8>,
            16 => copy_row::<16>,
            32 => copy_row::<32>,
            _ => copy_row::<ANY>,
        }
    }
}

/// Copies a run of bytes for each item of a row.
type CopyRow = unsafe fn(Dim, usize, *const u8, *mut u8);

/// Runs of a length that is not known beforehand.
const ANY: usize = 0;

/// Copies `RUN` bytes, or `run` if that is [`ANY`], for each item of a row.
///
/// # Safety
/// They must be readable and writable, and not overlap.
unsafe fn copy_row<const RUN: usize>(dim: Dim, run: usize, mut from: *const u8, mut to: *mut u8) {
    let run = if RUN == ANY { run } else { RUN };
    for _ in 0..dim.count {
        // SAFETY: the caller's promise.
        unsafe { core::ptr::copy_nonoverlapping(from, to, run) };
        from = from.wrapping_offset(dim.from);
        to = to.wrapping_offset(dim.to);
    }
}

/// A box of items inside bytes that are written. It can be split into boxes without a common item,
/// which threads can then fill at the same time.
#[derive(Debug)]
pub struct BoxMut<'a> {
    first: *mut u8,
    typesize: usize,
    ndim: usize,
    shape: [usize; MAX_DIMS],
    strides: [usize; MAX_DIMS],
    /// It stands for the borrow of its items.
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: nothing else leads to the items of a box while it is there, as with the borrow that it
// stands for.
unsafe impl Send for BoxMut<'_> {}

impl<'a> BoxMut<'a> {
    /// A box whose first item starts at the start of `bytes`; `None` if two of its items overlap or
    /// one is outside, if the numbers of dimensions differ or are more than [`MAX_DIMS`], or if
    /// items have no bytes.
    #[must_use]
    pub fn new(bytes: &'a mut [u8], typesize: usize, shape: &[usize], strides: &[usize]) -> Option<Self> {
        let ndim = shape.len();
        if typesize == 0 || ndim > MAX_DIMS || strides.len() != ndim {
            return None;
        }
        let mut this = Self {
            first: bytes.as_mut_ptr(),
            typesize,
            ndim,
            shape: [0; MAX_DIMS],
            strides: [0; MAX_DIMS],
            borrow: PhantomData,
        };
        this.shape[..ndim].copy_from_slice(shape);
        this.strides[..ndim].copy_from_slice(strides);
        (this.is_empty() || this.disjoint_extent()? <= bytes.len()).then_some(this)
    }

    fn is_empty(&self) -> bool {
        self.shape[..self.ndim].contains(&0)
    }

    /// How many bytes all items reach over; `None` if two of them overlap.
    fn disjoint_extent(&self) -> Option<usize> {
        let mut order: [usize; MAX_DIMS] = core::array::from_fn(|axis| axis);
        let order = &mut order[..self.ndim];
        order.sort_unstable_by_key(|&axis| self.strides[axis]);
        let mut extent = self.typesize;
        for &axis in order.iter().filter(|&&axis| self.shape[axis] > 1) {
            if self.strides[axis] < extent {
                return None;
            }
            extent = (self.shape[axis] - 1).checked_mul(self.strides[axis])?.checked_add(extent)?;
        }
        Some(extent)
    }

    /// How many items there are along each dimension.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.ndim]
    }

    /// The items before `index` along `axis`, and those from it on.
    ///
    /// # Panics
    /// If there is no such dimension, or `index` is more than its length.
    #[must_use]
    pub fn split_at(self, axis: usize, index: usize) -> (Self, Self) {
        assert!(axis < self.ndim && index <= self.shape[axis], "the split is outside");
        let mut after = Self { borrow: PhantomData, ..self };
        let mut before = self;
        before.shape[axis] = index;
        after.shape[axis] -= index;
        // Where there is nothing behind, the address is not used.
        after.first = after.first.wrapping_add(index.wrapping_mul(after.strides[axis]));
        (before, after)
    }

    /// Where the item at `start` is, if a box of `shape` from there on is inside.
    fn address(&self, start: &[usize], shape: &[usize]) -> Option<*mut u8> {
        if start.len() != self.ndim || shape.len() != self.ndim {
            return None;
        }
        let mut offset = 0;
        for axis in 0..self.ndim {
            if start[axis].checked_add(shape[axis])? > self.shape[axis] {
                return None;
            }
            offset += start[axis] * self.strides[axis];
        }
        Some(self.first.wrapping_add(offset))
    }

    /// Copies the items of a box of `shape` to the place `start`.
    ///
    /// # Panics
    /// If either is outside.
    pub fn copy_from(&mut self, start: &[usize], shape: &[usize], from: Source<'_>) {
        if shape.contains(&0) {
            return;
        }
        let to = self.address(start, shape).expect("the target is outside");
        assert!(shape.len() == from.strides.len(), "numbers of dimensions differ");
        assert!(lies_inside(self.typesize, shape, from.start, from.strides, from.bytes.len()), "source is outside");
        let mut strides = [0; MAX_DIMS];
        for (signed, &stride) in strides.iter_mut().zip(&self.strides) {
            *signed = stride.cast_signed();
        }
        let walk = Walk::new(self.typesize, shape, from.strides, &strides[..self.ndim]);
        // SAFETY: `address` has checked that the items are inside this box, which has them to
        // itself, and the assertion above that those of the source are inside its bytes.
        unsafe { walk.run(from.bytes.as_ptr().wrapping_add(from.start), to) };
    }

    /// The bytes of the box of `shape` at `start`, if they follow each other in C order.
    #[must_use]
    pub fn contiguous_mut(&mut self, start: &[usize], shape: &[usize]) -> Option<&mut [u8]> {
        let mut len = self.typesize;
        for (axis, &count) in shape.iter().enumerate().rev() {
            if count > 1 && self.strides[axis] != len {
                return None;
            }
            len = len.checked_mul(count)?;
        }
        let first = self.address(start, shape)?;
        if len == 0 {
            return None;
        }
        // SAFETY: the items are inside this box, as `address` has checked, and have no gaps, as the
        // loop has checked.
        Some(unsafe { core::slice::from_raw_parts_mut(first, len) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn c_strides(shape: &[usize], typesize: usize) -> Vec<usize> {
        let mut strides = vec![typesize; shape.len()];
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            strides[axis] = strides[axis + 1] * shape[axis + 1];
        }
        strides
    }

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect()
    }

    #[test]
    fn boxes_are_copied_item_by_item() {
        for typesize in [1, 2, 3, 4, 8, 16, 20, 32] {
            let src = bytes(5 * 6 * 7 * typesize);
            let from = c_strides(&[5, 6, 7], typesize);
            let strides = [2 * from[0].cast_signed(), -from[1].cast_signed(), from[2].cast_signed()];
            let start = 4 * from[1] + 2 * from[2];
            let mut out = vec![0; 2 * 5 * 4 * typesize];
            let to: Vec<isize> = c_strides(&[2, 5, 4], typesize).into_iter().map(usize::cast_signed).collect();
            copy_box(typesize, &[2, 5, 4], Source { bytes: &src, start, strides: &strides }, &mut out, 0, &to);
            for (at, item) in out.chunks(typesize).enumerate() {
                let (i, j, k) = (at / 20, at / 4 % 5, at % 4);
                let place = 2 * i * from[0] + (4 - j) * from[1] + (k + 2) * from[2];
                assert_eq!(item, &src[place..place + typesize], "{typesize}: {i} {j} {k}");
            }
        }
    }

    #[test]
    fn parts_of_a_box_are_filled_apart() {
        let mut out = vec![0; 6 * 8 * 2];
        let whole = BoxMut::new(&mut out, 2, &[6, 8], &[16, 2]).unwrap();
        let (top, bottom) = whole.split_at(0, 4);
        let (left, right) = top.split_at(1, 3);
        for (value, mut part) in [left, right, bottom].into_iter().enumerate() {
            let shape: Vec<usize> = part.shape().to_vec();
            let fill = vec![u8::try_from(value).unwrap() + 1; 2];
            part.copy_from(&[0, 0], &shape, Source { bytes: &fill, start: 0, strides: &[0, 0] });
        }
        for (at, item) in out.chunks(2).enumerate() {
            let expected = if at / 8 >= 4 { 3 } else { 1 + u8::from(at % 8 >= 3) };
            assert_eq!(item, [expected; 2], "{at}");
        }
    }

    #[test]
    fn overlapping_and_outside_boxes_are_refused() {
        let mut bytes = vec![0; 100];
        assert!(BoxMut::new(&mut bytes, 4, &[5, 5], &[20, 4]).is_some());
        assert!(BoxMut::new(&mut bytes, 4, &[5, 5], &[4, 20]).is_some());
        assert!(BoxMut::new(&mut bytes, 4, &[5, 5], &[16, 4]).is_none());
        assert!(BoxMut::new(&mut bytes, 4, &[6, 5], &[20, 4]).is_none());
        assert!(BoxMut::new(&mut bytes, 4, &[2, 2], &[0, 4]).is_none());
        assert!(BoxMut::new(&mut bytes, 4, &[usize::MAX, 2], &[usize::MAX, 4]).is_none());
        assert!(BoxMut::new(&mut bytes, 0, &[1], &[1]).is_none());
        assert!(BoxMut::new(&mut bytes, 4, &[5, 0, usize::MAX], &[0, 0, 0]).is_some());
        assert!(BoxMut::new(&mut bytes, 4, &[1; 17], &[0; 17]).is_none());
    }

    #[test]
    fn only_what_has_no_gaps_is_lent_as_bytes() {
        let mut bytes = vec![0; 4 * 6 * 2];
        let mut whole = BoxMut::new(&mut bytes, 2, &[4, 6], &[12, 2]).unwrap();
        assert_eq!(whole.contiguous_mut(&[1, 0], &[2, 6]).map(|bytes| bytes.len()), Some(24));
        assert_eq!(whole.contiguous_mut(&[1, 2], &[1, 3]).map(|bytes| bytes.len()), Some(6));
        assert!(whole.contiguous_mut(&[1, 2], &[2, 3]).is_none());
        assert!(whole.contiguous_mut(&[3, 0], &[2, 6]).is_none());
    }

    #[test]
    #[should_panic(expected = "source is outside")]
    fn a_source_outside_its_bytes_is_refused() {
        copy_box(1, &[3], Source { bytes: &[0; 5], start: 1, strides: &[-1] }, &mut [0; 3], 0, &[1]);
    }

    #[test]
    #[should_panic(expected = "target is outside")]
    fn a_target_outside_its_bytes_is_refused() {
        copy_box(1, &[3], Source { bytes: &[0; 5], start: 0, strides: &[1] }, &mut [0; 3], 1, &[1]);
    }
}
