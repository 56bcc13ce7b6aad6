//! New arrays: of special values, of a buffer, of parts of other arrays.

use super::Plan;
use super::boxes::{Side, copy_box};
use super::shape::each_position;
use crate::code::{INVALID_PARAM, Outcome};
use crate::exports::chunks::repeated;
use crate::schunk::edit::Given;
use crate::structs::Array;
use std::ffi::c_int;

impl Plan {
    /// An array of one special value.
    pub(crate) fn special(&self, special: c_int) -> Outcome<Box<Array>> {
        let array = self.begin()?;
        let sc = array.schunk()?;
        let nitems = array.chunk_count().checked_mul(array.extchunknitems).ok_or(INVALID_PARAM)?;
        if nitems > 0 {
            let chunksize = sc.chunksize;
            sc.fill_special(nitems, special, chunksize)?;
        }
        Ok(array)
    }

    /// An array of one value.
    pub(crate) fn full(&self, value: &[u8]) -> Outcome<Box<Array>> {
        let array = self.begin()?;
        let sc = array.schunk()?;
        let nbytes = i32::try_from(array.chunk_nbytes()?).map_err(|_| INVALID_PARAM)?;
        let chunk = repeated(&sc.cparams(), value, nbytes)?;
        sc.together(|sc| {
            // SAFETY: it is a chunk.
            (0..array.chunk_count()).try_for_each(|_| unsafe {
                sc.append(Given { chunk: chunk.as_ptr().cast_mut(), copy: true }).map(drop)
            })
        })?;
        Ok(array)
    }

    /// An array whose items `read` gives, for a box from `start` to `stop` at a time.
    pub(crate) fn filled(&self, mut read: impl FnMut(&[i64], &[i64], &mut [u8]) -> Outcome<()>) -> Outcome<Box<Array>> {
        let array = self.begin()?;
        let (item, nbytes) = (array.item()?, array.chunk_nbytes()?);
        let mut dense = Vec::new();
        let zero = vec![0; array.axes()];
        if array.nitems == 0 {
            return Ok(array);
        }
        let fill = |place: &[i64]| {
            let (start, stop) = array.chunk_box(place);
            let lens = lens(&start, &stop);
            dense.clear();
            dense.resize(size(&lens, item)?, 0);
            read(&start, &stop, &mut dense)?;
            let mut chunk = vec![0; nbytes];
            let side = Side { shape: &lens, start: &zero };
            array.each_block(&start, &stop, place, |in_chunk| {
                let src = in_chunk.relative_to(&start);
                copy_box(
                    item,
                    &in_chunk.lens,
                    (&dense, &Side { shape: side.shape, start: &src }),
                    (&mut chunk[in_chunk.bytes.clone()], &in_chunk.side()),
                )
            })?;
            let len = i32::try_from(nbytes).map_err(|_| INVALID_PARAM)?;
            // SAFETY: the buffer has this length.
            unsafe { array.schunk()?.append_buffer(chunk.as_ptr().cast(), len) }.map(drop)
        };
        array.schunk()?.together(|_| each_position(&zero, &array.grid(), fill))?;
        Ok(array)
    }
}

impl Plan {
    /// An array of a part of another one. The shape of the plan becomes that of the part.
    pub(crate) fn sliced(&mut self, source: &Array, start: &[i64], stop: &[i64]) -> Outcome<Box<Array>> {
        let shape = lens(start, stop);
        source.check_box(start, stop, &shape)?;
        let mut shapes = self.shapes();
        if shapes.shape.len() != shape.len() {
            return Err(INVALID_PARAM);
        }
        shapes.shape = shape;
        shapes.check()?;
        self.set_shapes(&shapes);
        self.filled(|from, to, dense| {
            let first: Vec<i64> = from.iter().zip(start).map(|(at, start)| at + start).collect();
            let end: Vec<i64> = to.iter().zip(start).map(|(at, start)| at + start).collect();
            source.get_box(&first, &end, dense, &lens(from, to))
        })
    }
}

/// The shape of a box.
pub(crate) fn lens(start: &[i64], stop: &[i64]) -> Vec<i64> {
    start.iter().zip(stop).map(|(start, stop)| stop - start).collect()
}

/// How many bytes items of this shape have.
pub(crate) fn size(lens: &[i64], item: usize) -> Outcome<usize> {
    let items = lens.iter().try_fold(1_usize, |items, &len| items.checked_mul(usize::try_from(len).ok()?));
    items.and_then(|items| items.checked_mul(item)).ok_or(INVALID_PARAM)
}
