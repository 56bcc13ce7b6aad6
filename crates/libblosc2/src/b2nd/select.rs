//! Items by their positions: a list for each axis, or one by one.

use super::shape::{each_position, strides};
use crate::code::{INVALID_PARAM, Outcome};
use crate::structs::Array;
use std::collections::BTreeMap;

/// What of a selection along one axis each chunk has: where it is in the selection, and where in
/// the array.
type ByChunk = BTreeMap<i64, Selected>;
/// What of a selection is in one chunk, along one axis.
type Selected = Vec<(usize, i64)>;

impl Array {
    fn by_chunk(&self, selection: &[&[i64]]) -> Outcome<Vec<ByChunk>> {
        let mut all = Vec::with_capacity(selection.len());
        for (axis, positions) in selection.iter().enumerate() {
            let mut chunks = ByChunk::new();
            for (number, &position) in positions.iter().enumerate() {
                if !(0..self.shape[axis]).contains(&position) {
                    return Err(INVALID_PARAM);
                }
                chunks.entry(position / i64::from(self.chunkshape[axis])).or_default().push((number, position));
            }
            all.push(chunks);
        }
        Ok(all)
    }

    /// Calls `action` with each chunk that has items of the selection: the place of the chunk, and
    /// for each item its place in the buffer and in the chunk, as bytes.
    pub(crate) fn each_selected(
        &self,
        selection: &[&[i64]],
        buffershape: &[i64],
        mut action: impl FnMut(i64, &[(usize, usize)]) -> Outcome<()>,
    ) -> Outcome<()> {
        let by_chunk = self.by_chunk(selection)?;
        let chunks: Vec<Vec<(&i64, &Selected)>> = by_chunk.iter().map(|axis| axis.iter().collect()).collect();
        let counts: Vec<i64> = chunks.iter().map(|axis| i64::try_from(axis.len()).unwrap_or_default()).collect();
        let (item, target) = (self.item()?, strides(buffershape));
        let zero = vec![0; counts.len()];
        let index = |number: i64| usize::try_from(number).unwrap_or_default();
        each_position(&zero, &counts, |which| {
            let lists: Vec<(i64, &Selected)> =
                which.iter().zip(&chunks).map(|(&at, axis)| (*axis[index(at)].0, axis[index(at)].1)).collect();
            let place: Vec<i64> = lists.iter().map(|&(place, _)| place).collect();
            let lens: Vec<i64> = lists.iter().map(|(_, list)| i64::try_from(list.len()).unwrap_or_default()).collect();
            let mut items = Vec::new();
            each_position(&zero, &lens, |at| {
                let (mut to, mut position) = (0_i64, Vec::with_capacity(at.len()));
                for (axis, &number) in at.iter().enumerate() {
                    let (in_selection, in_array) = lists[axis].1[index(number)];
                    to += i64::try_from(in_selection).map_err(|_| INVALID_PARAM)? * target[axis];
                    position.push(in_array);
                }
                let from = self.offset_in_chunk(&position, &place)?;
                items.push((index(to) * item, from * item));
                Ok(())
            })?;
            action(self.chunk_number(&place), &items)
        })
    }

    /// Where an item is in its chunk.
    pub(super) fn offset_in_chunk(&self, position: &[i64], place: &[i64]) -> Outcome<usize> {
        let mut offset = 0;
        for axis in 0..self.axes() {
            let in_chunk = position[axis] - place[axis] * i64::from(self.chunkshape[axis]);
            let block = i64::from(self.blockshape[axis]);
            offset += in_chunk / block * self.block_chunk_strides[axis] * i64::from(self.blocknitems);
            offset += in_chunk % block * self.item_block_strides[axis];
        }
        usize::try_from(offset).map_err(|_| INVALID_PARAM)
    }

    /// Puts the selected items into a buffer of this shape.
    pub(crate) fn get_selection(&self, selection: &[&[i64]], out: &mut [u8], buffershape: &[i64]) -> Outcome<()> {
        let (item, sc, mut data) = (self.item()?, self.schunk()?, vec![0; self.chunk_nbytes()?]);
        self.each_selected(selection, buffershape, |nchunk, items| {
            sc.decompress(nchunk, &mut data)?;
            for &(to, from) in items {
                let place = out.get_mut(to..to + item).ok_or(INVALID_PARAM)?;
                place.copy_from_slice(&data[from..from + item]);
            }
            Ok(())
        })
    }

    /// Writes the selected items from a buffer of this shape.
    pub(crate) fn set_selection(&self, selection: &[&[i64]], buffer: &[u8], buffershape: &[i64]) -> Outcome<()> {
        let (item, sc, mut data) = (self.item()?, self.schunk()?, vec![0; self.chunk_nbytes()?]);
        let len = i32::try_from(data.len()).map_err(|_| INVALID_PARAM)?;
        self.each_selected(selection, buffershape, |nchunk, items| {
            sc.decompress(nchunk, &mut data)?;
            for &(from, to) in items {
                data[to..to + item].copy_from_slice(buffer.get(from..from + item).ok_or(INVALID_PARAM)?);
            }
            // SAFETY: the buffer has this length.
            let chunk = unsafe { sc.compressed(nchunk, data.as_ptr().cast(), len) }?;
            let given = crate::schunk::edit::Given { chunk: chunk.as_ptr().cast_mut(), copy: true };
            // SAFETY: it is a chunk.
            unsafe { sc.update(nchunk, given) }.map(drop)
        })
    }
}
