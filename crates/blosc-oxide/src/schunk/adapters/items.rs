//! Numbers that Rust knows as the items of a super-chunk.

use crate::error::{Result, bail, error};
use crate::item::Item;
use crate::schunk::SuperChunk;
use std::ops::Range;

impl SuperChunk {
    /// The numbers of this range of items; their bytes are little-endian in the chunks.
    ///
    /// ```
    /// use blosc_oxide::{Options, SuperChunk};
    /// let mut sc = SuperChunk::new(Options::new(4))?;
    /// sc.append_items(&[1.5_f32, 2.5, 3.5])?;
    /// sc.append_items(&[4.5_f32])?;
    /// assert_eq!(sc.read_items::<f32>(2..4)?, [3.5, 4.5]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); `InvalidArgument` if the typesize is not the size of `T`.
    pub fn read_items<T: Item>(&self, range: Range<u64>) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        self.check_range("items", &range, self.nitems())?;
        let count = usize::try_from(range.end - range.start).ok().filter(|count| count.checked_mul(T::SIZE).is_some());
        let count = count.ok_or_else(|| error!(LimitExceeded, "items {range:?} are more than memory can hold"))?;
        self.limits().check("a range of data", count * T::SIZE)?;
        T::from_filled(count, false, &mut |out| self.items_into(range.start, out))
    }

    /// Appends a chunk of numbers. Their bytes are little-endian in it, on every machine.
    ///
    /// # Errors
    /// As [`append`](Self::append); `InvalidArgument` if the typesize is not the size of `T`.
    pub fn append_items<T: Item>(&mut self, items: &[T]) -> Result<()> {
        self.check_type::<T>()?;
        self.append(&T::to_bytes(items, false))
    }

    fn check_type<T: Item>(&self) -> Result<()> {
        if self.typesize() != T::SIZE {
            bail!(InvalidArgument, "items of {} have {} bytes, the typesize is {}", T::DTYPE, T::SIZE, self.typesize());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Options;
    use crate::error::ErrorKind;

    #[test]
    fn numbers_come_back_across_chunks() {
        let mut sc = SuperChunk::new(Options::new(8)).unwrap();
        for start in [0, 10, 20_i64] {
            sc.append_items(&(start..start + 10).map(|n| -n).collect::<Vec<_>>()).unwrap();
        }
        assert_eq!(sc.read_items::<i64>(8..12).unwrap(), [-8, -9, -10, -11]);
        assert_eq!(sc.read_items::<i64>(30..30).unwrap(), [0_i64; 0]);
        assert_eq!(sc.items(1..2).unwrap(), (-1_i64).to_le_bytes());
    }

    #[test]
    fn items_of_another_size_or_that_are_not_there_are_refused() {
        let mut sc = SuperChunk::new(Options::new(4)).unwrap();
        let error = sc.append_items(&[1.0_f64]).unwrap_err();
        assert_eq!(error.to_string(), "items of <f8 have 8 bytes, the typesize is 4");
        sc.append_items(&[1.0_f32]).unwrap();
        assert_eq!(sc.read_items::<u16>(0..1).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(sc.read_items::<f32>(0..2).unwrap_err().to_string(), "items 0..2 are asked for, there are 1");
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
        let reversed = sc.read_items::<f32>(1..0);
        assert_eq!(reversed.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
