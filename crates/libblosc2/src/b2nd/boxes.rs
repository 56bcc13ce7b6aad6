//! Copies of boxes of items from one C-ordered array in memory to another.

use super::shape::{each_position, strides};
use crate::code::{INVALID_PARAM, Outcome};

/// A box in an array: where the array is, its shape, and where the box begins.
pub(crate) struct Side<'a> {
    pub(crate) shape: &'a [i64],
    pub(crate) start: &'a [i64],
}

impl Side<'_> {
    /// Whether a box of these lengths is inside.
    pub(crate) fn has(&self, lens: &[i64]) -> bool {
        let is_inside = |((&len, &start), &all): ((&i64, &i64), &i64)| {
            start >= 0 && len >= 0 && start.checked_add(len).is_some_and(|stop| stop <= all)
        };
        lens.iter().zip(self.start).zip(self.shape).all(is_inside)
    }

    /// The item that the box begins with.
    fn first(&self) -> i64 {
        strides(self.shape).iter().zip(self.start).map(|(stride, at)| stride * at).sum()
    }
}

/// Copies a box of the shape `lens`, of items of `item` bytes.
pub(crate) fn copy_box(
    item: usize,
    lens: &[i64],
    (src, from): (&[u8], &Side<'_>),
    (dst, to): (&mut [u8], &Side<'_>),
) -> Outcome<()> {
    let size = |items: i64| usize::try_from(items).ok().and_then(|items| items.checked_mul(item)).ok_or(INVALID_PARAM);
    if lens.iter().any(|&len| len <= 0) {
        return Ok(());
    }
    let (outer, run) = lens.split_at(lens.len().saturating_sub(1));
    let run = size(run.first().copied().unwrap_or(1))?;
    let (src_strides, dst_strides) = (strides(from.shape), strides(to.shape));
    let (src_first, dst_first) = (from.first(), to.first());
    let zero = vec![0; outer.len()];
    each_position(&zero, outer, |position| {
        let offset = |strides: &[i64]| position.iter().zip(strides).map(|(at, stride)| at * stride).sum::<i64>();
        let src_at = size(src_first + offset(&src_strides))?;
        let dst_at = size(dst_first + offset(&dst_strides))?;
        let piece = src.get(src_at..src_at + run).ok_or(INVALID_PARAM)?;
        dst.get_mut(dst_at..dst_at + run).ok_or(INVALID_PARAM)?.copy_from_slice(piece);
        Ok(())
    })
}
