//! Arrays joined along an axis.

use super::shape::each_position;
use super::{Array, Plan, drop_array};
use crate::code::{INVALID_PARAM, Outcome};
use crate::schunk::edit::Given;
use std::borrow::Cow;

impl Plan {
    /// A new array with the items of both.
    pub(crate) fn joined(&mut self, first: &Array, second: &Array, axis: usize) -> Outcome<Box<Array>> {
        first.check_join(second, axis)?;
        let mut joined = self.copied(first)?;
        match joined.join(second, axis) {
            Ok(()) => Ok(joined),
            Err(code) => {
                drop_array(joined);
                Err(code)
            }
        }
    }
}

impl Array {
    /// Refuses arrays that differ in more than their length along the axis.
    fn check_join(&self, other: &Self, axis: usize) -> Outcome<()> {
        let (own, others) = (self.shapes().shape, other.shapes().shape);
        let is_same = |(index, (own, other))| index == axis || own == other;
        let fits = own.len() == others.len() && own.iter().zip(&others).enumerate().all(is_same);
        if fits && self.item()? == other.item()? { Ok(()) } else { Err(INVALID_PARAM) }
    }

    /// Adds the items of another array along an axis. It may be this array, as it was before.
    pub(crate) fn join(&mut self, other: &Self, axis: usize) -> Outcome<()> {
        self.check_join(other, axis)?;
        self.schunk()?.together(|_| self.join_all(other, axis))
    }

    fn join_all(&mut self, other: &Self, axis: usize) -> Outcome<()> {
        let at = self.shape[axis];
        let mut shape = self.shapes().shape;
        shape[axis] += other.shape[axis];
        let chunks = if self.takes_chunks_of(other, axis) { Some(other.all_chunks()?) } else { None };
        let grid = other.grid();
        if std::ptr::eq(self.sc, other.sc) && chunks.is_none() {
            // The places of its chunks change before they are read.
            let lens = other.shapes().shape;
            let mut items = vec![0; other.buffer_len(&lens)?];
            other.get_box(&vec![0; lens.len()], &lens, &mut items, &lens)?;
            return self.insert_items(&items, axis, None);
        }
        self.resize(&shape, None)?;
        if other.nitems == 0 {
            return Ok(());
        }
        let zero = vec![0; grid.len()];
        let mut number = 0;
        each_position(&zero, &grid, |place| {
            let Some(chunks) = &chunks else { return self.join_items(other, place, axis, at) };
            let mut place = place.to_vec();
            place[axis] += at / i64::from(self.chunkshape[axis]);
            let chunk = chunks.get(number).ok_or(INVALID_PARAM)?;
            number += 1;
            let given = Given { chunk: chunk.as_ptr().cast_mut(), copy: true };
            // SAFETY: it is a chunk.
            unsafe { self.schunk()?.update(self.chunk_number(&place), given) }.map(drop)
        })
    }

    /// Whether chunks of the other array are those of this one as they are.
    fn takes_chunks_of(&self, other: &Self, axis: usize) -> bool {
        let (own, others) = (self.shapes(), other.shapes());
        let is_aligned = self.shape[axis].checked_rem(self.chunkshape[axis].into()) == Some(0);
        own.chunks == others.chunks && own.blocks == others.blocks && is_aligned
    }

    /// The chunks in order.
    fn all_chunks(&self) -> Outcome<Vec<Vec<u8>>> {
        let sc = self.schunk()?;
        (0..sc.count()).map(|index| sc.chunk(index).map(Cow::into_owned)).collect()
    }

    /// Writes the items of one chunk of the other array, which begins at `at` along the axis.
    fn join_items(&self, other: &Self, place: &[i64], axis: usize, at: i64) -> Outcome<()> {
        let (mut start, mut stop) = other.chunk_box(place);
        let lens = super::fill::lens(&start, &stop);
        let mut items = vec![0; other.buffer_len(&lens)?];
        other.get_box(&start, &stop, &mut items, &lens)?;
        start[axis] += at;
        stop[axis] += at;
        self.set_box(&start, &stop, &items, &lens)
    }
}
