//! Other shapes: chunks are added and taken away, and never moved inside.

use super::shape::each_position;
use crate::code::{INVALID_PARAM, Outcome};
use crate::exports::chunks::special_of;
use crate::structs::Array;
use blosc_oxide::Special;

/// What happens to the chunks along one axis.
struct Axis {
    /// The place of the first chunk that is added or taken away.
    at: i64,
    /// How many are added; taken away, if negative.
    count: i64,
}

impl Axis {
    /// The place that a chunk had before; `None` if it is new.
    fn before(&self, place: i64) -> Option<i64> {
        if place < self.at {
            Some(place)
        } else if self.count < 0 || place >= self.at + self.count {
            Some(place - self.count)
        } else {
            None
        }
    }
}

impl Array {
    /// Makes the array one of another shape: what is added or taken away along an axis is at its
    /// end, or from `start` on.
    pub(crate) fn resize(&mut self, new_shape: &[i64], start: Option<&[i64]>) -> Outcome<()> {
        let old_grid = self.grid();
        let mut shapes = self.shapes();
        self.check_start(new_shape, start)?;
        shapes.shape = new_shape.to_vec();
        shapes.check()?;
        let old_shapes = self.shapes();
        self.set_shapes(&shapes);
        let axes: Vec<Axis> = self.changes(&old_grid, &old_shapes.shape, start);
        let done = self.schunk()?.together(|_| {
            self.rearrange(&old_grid, &axes)?;
            self.write_meta()
        });
        if done.is_err() {
            self.set_shapes(&old_shapes);
        }
        done
    }

    /// Parts in the middle have to be of whole chunks.
    fn check_start(&self, new_shape: &[i64], start: Option<&[i64]>) -> Outcome<()> {
        let Some(start) = start else { return Ok(()) };
        for axis in 0..self.axes() {
            let (old, new, chunk) = (self.shape[axis], new_shape[axis], i64::from(self.chunkshape[axis].max(1)));
            let (at, change) = (start[axis], (new - old).abs());
            let is_at_the_end = if new >= old { at == old } else { at == new };
            if new != old && !is_at_the_end && (at < 0 || at > old || at % chunk != 0 || change % chunk != 0) {
                return Err(INVALID_PARAM);
            }
        }
        Ok(())
    }

    fn changes(&self, old_grid: &[i64], old_shape: &[i64], start: Option<&[i64]>) -> Vec<Axis> {
        let grid = self.grid();
        let one = |axis: usize| {
            let end = old_grid[axis].min(grid[axis]);
            let at = start.map_or(end, |start| {
                let is_at_the_end = start[axis] == old_shape[axis].min(self.shape[axis]);
                if is_at_the_end { end } else { start[axis] / i64::from(self.chunkshape[axis].max(1)) }
            });
            Axis { at, count: grid[axis] - old_grid[axis] }
        };
        (0..self.axes()).map(one).collect()
    }

    /// Puts the chunks where they belong in the new shape.
    fn rearrange(&self, old_grid: &[i64], axes: &[Axis]) -> Outcome<()> {
        let sc = self.schunk()?;
        let old_strides = super::shape::strides(old_grid);
        let nbytes = i32::try_from(self.chunk_nbytes()?).map_err(|_| INVALID_PARAM)?;
        let zeros = special_of(&sc.cparams(), Special::Zeros, nbytes)?;
        let had_chunks = old_grid.iter().all(|&count| count > 0);
        let mut places = Vec::new();
        let zero = vec![0; self.axes()];
        if self.nitems > 0 {
            each_position(&zero, &self.grid(), |place| {
                let before: Option<Vec<i64>> = place.iter().zip(axes).map(|(&at, axis)| axis.before(at)).collect();
                let old = before
                    .filter(|_| had_chunks)
                    .map(|before| before.iter().zip(&old_strides).map(|(at, stride)| at * stride).sum::<i64>());
                places.push(old.map(|number| sc.index(number)).transpose()?);
                Ok(())
            })?;
        }
        let chunksize = sc.chunksize;
        sc.rearrange(&places, &zeros)?;
        sc.chunksize = chunksize;
        Ok(())
    }
}

impl Array {
    /// Adds items along an axis, at its end or in front of `at`.
    pub(crate) fn insert_items(&mut self, data: &[u8], axis: usize, at: Option<i64>) -> Outcome<()> {
        let mut shape = self.shapes().shape;
        let old = shape[axis];
        let layer: i64 = shape.iter().enumerate().filter(|&(other, _)| other != axis).map(|(_, &len)| len).product();
        let layer = usize::try_from(layer).map_err(|_| INVALID_PARAM)?.saturating_mul(self.item()?);
        if layer == 0 || !data.len().is_multiple_of(layer) {
            return Err(INVALID_PARAM);
        }
        let count = i64::try_from(data.len() / layer).map_err(|_| INVALID_PARAM)?;
        let at = at.unwrap_or(old);
        let mut start = shape.clone();
        start[axis] = at;
        shape[axis] += count;
        let mut first = vec![0; shape.len()];
        first[axis] = at;
        let mut stop = shape.clone();
        stop[axis] = at + count;
        let buffershape = super::fill::lens(&first, &stop);
        let done = self.schunk()?.together(|_| {
            self.resize(&shape, Some(&start))?;
            self.set_box(&first, &stop, data, &buffershape)
        });
        if done.is_err() {
            self.follow_meta()?;
        }
        done
    }
}
