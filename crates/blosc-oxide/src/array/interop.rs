//! To and from the arrays of the crate `ndarray`.

use super::nd_array::NdArray;
use super::options::ArrayOptions;
use super::reader::ArrayReader;
use super::select::axis::AxisSelection;
use crate::error::{Result, error};
use crate::item::Item;
use crate::storage::Location;
use ::ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl NdArray {
    /// Makes an array somewhere with the items of an array of the crate `ndarray`, whatever their
    /// order in memory. Shape, typesize and type of `options` are ignored.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, AxisSelection, Location};
    /// let original = ndarray::array![[1_i32, 2, 3], [4, 5, 6]];
    /// let options = ArrayOptions::new(&[], Options::new(1));
    /// let array = NdArray::from_ndarray(Location::Memory, &options, &original.t())?;
    /// assert_eq!(array.shape(), [3, 2]);
    /// assert_eq!(array.to_ndarray::<i32>()?, original.t().into_dyn());
    /// assert_eq!(array.slice_to_ndarray::<i32>(&[AxisSelection::Index(2), AxisSelection::All])?, ndarray::array![3, 6].into_dyn());
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn from_ndarray<T: Item, S: Data<Elem = T>, D: Dimension>(
        place: impl Into<Location>,
        options: &ArrayOptions,
        array: &ArrayBase<S, D>,
    ) -> Result<Self> {
        let shape: Vec<u64> = array.shape().iter().map(|&length| length as u64).collect();
        let options = options.clone().for_items(&shape, size_of::<T>(), T::DTYPE);
        match array.as_slice() {
            Some(items) => Self::from_items(place, &options, items),
            None => Self::from_items(place, &options, &array.iter().copied().collect::<Vec<T>>()),
        }
    }
}

impl ArrayReader {
    /// All items as an array of the crate `ndarray`.
    ///
    /// # Errors
    /// As [`slice_items`](Self::slice_items).
    pub fn to_ndarray<T: Item>(&self) -> Result<ArrayD<T>> {
        self.slice_to_ndarray(&vec![AxisSelection::All; self.shape().len()])
    }

    /// The items that `selections` select as an array of the crate `ndarray`; an axis with a single
    /// index is dropped.
    ///
    /// # Errors
    /// As [`slice_items`](Self::slice_items).
    pub fn slice_to_ndarray<T: Item>(&self, selections: &[AxisSelection]) -> Result<ArrayD<T>> {
        let shape = self.slice_shape(selections)?;
        let items = self.slice_items(selections)?;
        ArrayD::from_shape_vec(IxDyn(&shape), items).map_err(|problem| error!(InvalidArgument, "ndarray: {problem}"))
    }
}
