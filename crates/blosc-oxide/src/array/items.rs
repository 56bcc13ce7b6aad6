//! Arrays whose items are numbers of a type of Rust.

use super::nd_array::NdArray;
use super::options::ArrayOptions;
use super::reader::ArrayReader;
use super::select::axis::AxisSelection;
use super::write::edit::ArrayEdit;
use crate::error::{Result, bail};
use crate::item::{Item, ItemType};
use crate::storage::Location;

impl ArrayReader {
    /// The type of the items, if it is a type of Rust.
    #[must_use]
    pub fn item_type(&self) -> Option<ItemType> {
        ItemType::parse(self.dtype()).map(|(item_type, _)| item_type)
    }

    /// The items that `selections` select, as numbers, whatever the order of their bytes in the
    /// array.
    ///
    /// # Errors
    /// As [`slice`](Self::slice); `InvalidArgument` if the items are of another type.
    pub fn slice_items<T: Item>(&self, selections: &[AxisSelection]) -> Result<Vec<T>> {
        let is_big = self.check_type::<T>()?;
        let nbytes = self.slice_nbytes(selections)?;
        T::from_filled(nbytes / T::SIZE, is_big, &mut |out| self.slice_into(selections, out))
    }

    /// Whether the bytes of items are in the order of big-endian machines.
    fn check_type<T: Item>(&self) -> Result<bool> {
        match ItemType::parse(self.dtype()) {
            Some((item_type, is_big)) if item_type == T::TYPE && T::SIZE == self.geometry().typesize() => Ok(is_big),
            _ => bail!(InvalidArgument, "items of the type {} are asked for, they are {}", T::DTYPE, self.dtype()),
        }
    }
}

impl NdArray {
    /// Makes an array somewhere that holds `items`, in C order. The type of the items is that of
    /// `T`, whatever the options say.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, AxisSelection, Location};
    /// let options = ArrayOptions::new(&[2, 2], Options::new(8));
    /// let array = NdArray::from_items(Location::Memory, &options, &[1.5, 2.5, 3.5, 4.5])?;
    /// assert_eq!(array.dtype(), "<f8");
    /// assert_eq!(array.slice_items::<f64>(&[AxisSelection::All, AxisSelection::Index(1)])?, [2.5, 4.5]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create_with_data`](Self::create_with_data); `InvalidArgument` if the typesize of
    /// `options` is not the size of `T`, or if the shape needs another number of items.
    pub fn from_items<T: Item>(location: impl Into<Location>, options: &ArrayOptions, items: &[T]) -> Result<Self> {
        let typesize = options.compression().typesize();
        if typesize != T::SIZE {
            bail!(InvalidArgument, "items of {} have {} bytes, the options say {typesize}", T::DTYPE, T::SIZE);
        }
        let options = options.clone().with_dtype(T::DTYPE);
        Self::create_with_data(location, &options, &T::to_bytes(items, false))
    }
}

impl ArrayEdit {
    /// Writes numbers over the items that `selections` select.
    ///
    /// # Errors
    /// As [`write`](Self::write); `InvalidArgument` if the items are of another type.
    pub fn write_items<T: Item>(&mut self, selections: &[AxisSelection], items: &[T]) -> Result<()> {
        let is_big = self.check_type::<T>()?;
        self.write(selections, &T::to_bytes(items, is_big))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Options;

    #[test]
    fn numbers_come_back_in_either_order_of_bytes() {
        for dtype in ["<i4", ">i4"] {
            let options = ArrayOptions::new(&[3], Options::new(4)).with_dtype(dtype);
            let mut array = NdArray::from_data(&options, &[0; 12]).unwrap().edit().unwrap();
            array.write_items(&[(1..3).into()], &[-5_i32, 70_000]).unwrap();
            assert_eq!(array.slice_items::<i32>(&[AxisSelection::All]).unwrap(), [0, -5, 70_000]);
            assert_eq!(array.item_type(), Some(ItemType::Int32));
            assert!(array.slice_items::<u32>(&[AxisSelection::All]).is_err());
            assert!(array.write_items(&[AxisSelection::All], &[1.0_f32; 3]).is_err());
        }
    }

    #[test]
    fn items_that_do_not_fit_the_options_are_refused() {
        let wide = ArrayOptions::new(&[2], Options::new(8));
        let error = NdArray::from_items(Location::Memory, &wide, &[1_i32, 2]).unwrap_err();
        assert_eq!(error.to_string(), "items of <i4 have 4 bytes, the options say 8");
        let short = ArrayOptions::new(&[3], Options::new(4));
        assert!(NdArray::from_items(Location::Memory, &short, &[1_i32, 2]).is_err());
    }

    #[test]
    fn truth_values_are_bytes() {
        let options = ArrayOptions::new(&[3], Options::new(1));
        let array = NdArray::from_items(Location::Memory, &options, &[true, false, true]).unwrap();
        assert_eq!((array.dtype(), array.to_vec().unwrap()), ("|b1", vec![1, 0, 1]));
        assert_eq!(array.slice_items::<bool>(&[AxisSelection::All]).unwrap(), [true, false, true]);
    }
}
