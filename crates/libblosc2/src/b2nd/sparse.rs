//! Items by their numbers in C order.

use super::Array;
use crate::code::{INVALID_INDEX, INVALID_PARAM, Outcome};

/// An item that is asked for: its chunk, where it is in the chunk, and which of all it is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    nchunk: i64,
    from: usize,
    number: usize,
}

impl Array {
    /// Puts the items of these numbers into `out`, one behind the other.
    pub(crate) fn get_sparse(&self, numbers: &[i64], out: &mut [u8]) -> Outcome<()> {
        let (item, mut data) = (self.item()?, vec![0; self.chunk_nbytes()?]);
        let block = usize::try_from(self.blocknitems).map_err(|_| INVALID_PARAM)?.max(1);
        let mut asked: Vec<Asked> =
            numbers.iter().enumerate().map(|(number, &at)| self.find(at, number)).collect::<Outcome<_>>()?;
        asked.sort_unstable();
        for of_one_chunk in asked.chunk_by(|one, next| one.nchunk == next.nchunk) {
            let mut is_out = self.mask()?;
            for one in of_one_chunk {
                *is_out.get_mut(one.from / block).ok_or(INVALID_PARAM)? = false;
            }
            self.read_chunk(of_one_chunk[0].nchunk, &mut data, is_out)?;
            for one in of_one_chunk {
                let place = &mut out[one.number * item..(one.number + 1) * item];
                place.copy_from_slice(data.get(one.from * item..(one.from + 1) * item).ok_or(INVALID_PARAM)?);
            }
        }
        Ok(())
    }

    fn find(&self, at: i64, number: usize) -> Outcome<Asked> {
        if !(0..self.nitems).contains(&at) {
            return Err(INVALID_INDEX);
        }
        let (mut rest, mut position) = (at, Vec::with_capacity(self.axes()));
        for axis in 0..self.axes() {
            position.push(rest / self.item_array_strides[axis]);
            rest %= self.item_array_strides[axis];
        }
        let chunks = position.iter().zip(self.chunkshape).map(|(at, len)| at / i64::from(len));
        let place: Vec<i64> = chunks.collect();
        Ok(Asked { nchunk: self.chunk_number(&place), from: self.offset_in_chunk(&position, &place)?, number })
    }
}
