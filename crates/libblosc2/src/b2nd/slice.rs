//! Slices of arrays, read and written chunk by chunk.

use super::boxes::{Side, copy_box};
use super::fill::{lens, size};
use super::shape::each_position;
use crate::code::{INVALID_PARAM, Outcome};
use crate::schunk::edit::Given;
use crate::structs::{Array, Schunk};
use std::ops::Range;

/// What of one block belongs to a box.
pub(crate) struct InBlock {
    /// The number of the block in its chunk.
    pub(crate) number: usize,
    /// Where the block is in its chunk.
    pub(crate) bytes: Range<usize>,
    shape: Vec<i64>,
    /// Where the part begins, in the block and in the array.
    start: Vec<i64>,
    position: Vec<i64>,
    pub(crate) lens: Vec<i64>,
}

impl InBlock {
    pub(crate) fn side(&self) -> Side<'_> {
        Side { shape: &self.shape, start: &self.start }
    }

    /// Where the part begins in a box that begins at `start`.
    pub(crate) fn relative_to(&self, start: &[i64]) -> Vec<i64> {
        lens(start, &self.position)
    }
}

impl Array {
    /// The items that a chunk has, without what is behind the end of the array.
    pub(crate) fn chunk_box(&self, place: &[i64]) -> (Vec<i64>, Vec<i64>) {
        let start: Vec<i64> = place.iter().zip(self.chunkshape).map(|(at, len)| at * i64::from(len)).collect();
        let end = |axis: usize| (start[axis] + i64::from(self.chunkshape[axis])).min(self.shape[axis]);
        let stop = (0..start.len()).map(end).collect();
        (start, stop)
    }

    /// The number of a chunk.
    pub(crate) fn chunk_number(&self, place: &[i64]) -> i64 {
        place.iter().zip(self.chunk_array_strides).map(|(at, stride)| at * stride).sum()
    }

    /// Calls `action` with each block of the chunk at `place` that has a part of the box, which is
    /// inside the chunk.
    pub(crate) fn each_block(
        &self,
        start: &[i64],
        stop: &[i64],
        place: &[i64],
        mut action: impl FnMut(&InBlock) -> Outcome<()>,
    ) -> Outcome<()> {
        let axes = self.axes();
        let origin: Vec<i64> = (0..axes).map(|axis| place[axis] * i64::from(self.chunkshape[axis])).collect();
        let block = |axis: usize| i64::from(self.blockshape[axis]);
        let first: Vec<i64> = (0..axes).map(|axis| (start[axis] - origin[axis]) / block(axis)).collect();
        let end: Vec<i64> = (0..axes).map(|axis| (stop[axis] - origin[axis] - 1) / block(axis) + 1).collect();
        let len = usize::try_from(self.blocknitems).map_err(|_| INVALID_PARAM)? * self.item()?;
        let shape: Vec<i64> = (0..axes).map(block).collect();
        each_position(&first, &end, |at| {
            let number = at.iter().zip(self.block_chunk_strides).map(|(at, stride)| at * stride).sum::<i64>();
            let number = usize::try_from(number).map_err(|_| INVALID_PARAM)?;
            let from: Vec<i64> = (0..axes).map(|axis| origin[axis] + at[axis] * shape[axis]).collect();
            let position: Vec<i64> = (0..axes).map(|axis| start[axis].max(from[axis])).collect();
            let to: Vec<i64> = (0..axes).map(|axis| stop[axis].min(from[axis] + shape[axis])).collect();
            action(&InBlock {
                number,
                bytes: number * len..(number + 1) * len,
                shape: shape.clone(),
                start: lens(&from, &position),
                lens: lens(&position, &to),
                position,
            })
        })
    }

    /// Refuses boxes that are not inside the array, or that the buffer's shape has no room for.
    pub(crate) fn check_box(&self, start: &[i64], stop: &[i64], buffershape: &[i64]) -> Outcome<()> {
        let is_inside = |axis: usize| {
            start[axis] >= 0
                && stop[axis] <= self.shape[axis]
                && stop[axis] >= start[axis]
                && buffershape[axis] >= stop[axis] - start[axis]
        };
        if (0..self.axes()).all(is_inside) { Ok(()) } else { Err(INVALID_PARAM) }
    }

    /// Calls `action` with each chunk that has a part of the box, and with that part.
    pub(crate) fn each_chunk(
        &self,
        start: &[i64],
        stop: &[i64],
        mut action: impl FnMut(&[i64], &[i64], &[i64]) -> Outcome<()>,
    ) -> Outcome<()> {
        if start.iter().zip(stop).any(|(start, stop)| start >= stop) {
            return Ok(());
        }
        let chunk = |axis: usize| i64::from(self.chunkshape[axis]);
        let first: Vec<i64> = (0..self.axes()).map(|axis| start[axis] / chunk(axis)).collect();
        let end: Vec<i64> = (0..self.axes()).map(|axis| (stop[axis] - 1) / chunk(axis) + 1).collect();
        each_position(&first, &end, |place| {
            let (chunk_start, chunk_stop) = self.chunk_box(place);
            let from: Vec<i64> = start.iter().zip(&chunk_start).map(|(&a, &b)| a.max(b)).collect();
            let to: Vec<i64> = stop.iter().zip(&chunk_stop).map(|(&a, &b)| a.min(b)).collect();
            action(place, &from, &to)
        })
    }

    /// Puts a box of items into a buffer of this shape.
    pub(crate) fn get_box(&self, start: &[i64], stop: &[i64], out: &mut [u8], buffershape: &[i64]) -> Outcome<()> {
        let (item, mut data) = (self.item()?, vec![0; self.chunk_nbytes()?]);
        self.each_chunk(start, stop, |place, from, to| {
            let mut mask = self.mask()?;
            self.each_block(from, to, place, |block| {
                mask[block.number] = false;
                Ok(())
            })?;
            self.read_chunk(self.chunk_number(place), &mut data, mask)?;
            self.each_block(from, to, place, |block| {
                let at = block.relative_to(start);
                let target = Side { shape: buffershape, start: &at };
                copy_box(item, &block.lens, (&data[block.bytes.clone()], &block.side()), (out, &target))
            })
        })
    }

    /// A mask that leaves out all blocks of a chunk.
    pub(super) fn mask(&self) -> Outcome<Vec<bool>> {
        let nblocks = self.block_grid().iter().product::<i64>();
        Ok(vec![true; usize::try_from(nblocks).map_err(|_| INVALID_PARAM)?])
    }

    /// Decompresses the blocks of a chunk that the mask does not leave out.
    pub(super) fn read_chunk(&self, nchunk: i64, data: &mut [u8], mask: Vec<bool>) -> Outcome<()> {
        let sc = self.schunk()?;
        let index = sc.index(nchunk)?;
        if sc.header(index)?.nblocks() == mask.len() && mask.contains(&true) {
            sc.reader(nchunk)?.maskout = Some(mask);
        }
        sc.decompress(nchunk, data).map(drop)
    }

    /// Writes a box of items from a buffer of this shape. All chunks are made before any is
    /// replaced.
    pub(crate) fn set_box(&self, start: &[i64], stop: &[i64], data: &[u8], buffershape: &[i64]) -> Outcome<()> {
        self.schunk()?.together(|sc| self.write_box(sc, start, stop, data, buffershape))
    }

    fn write_box(&self, sc: &mut Schunk, start: &[i64], stop: &[i64], data: &[u8], buffershape: &[i64]) -> Outcome<()> {
        let (item, nbytes) = (self.item()?, self.chunk_nbytes()?);
        let len = i32::try_from(nbytes).map_err(|_| INVALID_PARAM)?;
        let mut made = Vec::new();
        self.each_chunk(start, stop, |place, from, to| {
            let nchunk = self.chunk_number(place);
            let (chunk_start, chunk_stop) = self.chunk_box(place);
            let mut chunk = vec![0; nbytes];
            if chunk_start != from || chunk_stop != to {
                sc.decompress(nchunk, &mut chunk)?;
            }
            self.each_block(from, to, place, |block| {
                let at = block.relative_to(start);
                let source = Side { shape: buffershape, start: &at };
                copy_box(item, &block.lens, (data, &source), (&mut chunk[block.bytes.clone()], &block.side()))
            })?;
            // SAFETY: the buffer has this length.
            made.push((nchunk, unsafe { sc.compressed(nchunk, chunk.as_ptr().cast(), len) }?));
            Ok(())
        })?;
        for (nchunk, chunk) in made {
            // SAFETY: it is a chunk.
            unsafe { sc.update(nchunk, Given { chunk: chunk.as_ptr().cast_mut(), copy: true }) }?;
        }
        Ok(())
    }

    /// How many bytes a buffer of this shape has.
    pub(crate) fn buffer_len(&self, buffershape: &[i64]) -> Outcome<usize> {
        size(buffershape, self.item()?)
    }
}
