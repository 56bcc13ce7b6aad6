//! Arrays whose items are numbers that Rust knows.

use super::array::NdArray;
use super::options::ArrayOptions;
use super::pick::Pick;
use super::place::Place;
use crate::error::{Result, bail};

/// The types of items that Rust knows as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ItemType {
    /// `bool`
    Bool,
    /// `i8`
    Int8,
    /// `i16`
    Int16,
    /// `i32`
    Int32,
    /// `i64`
    Int64,
    /// `u8`
    UInt8,
    /// `u16`
    UInt16,
    /// `u32`
    UInt32,
    /// `u64`
    UInt64,
    /// `f32`
    Float32,
    /// `f64`
    Float64,
}

impl ItemType {
    /// The type that NumPy describes like this, and whether its bytes are in the order of big-endian machines.
    fn parse(dtype: &str) -> Option<(Self, bool)> {
        let (order, kind) = match dtype.as_bytes().first()? {
            b'<' | b'>' | b'|' | b'=' => dtype.split_at(1),
            _ => ("|", dtype),
        };
        let is_big = order == ">" || (order == "=" && cfg!(target_endian = "big"));
        let item_type = match kind {
            "?" | "b1" => Self::Bool,
            "i1" => Self::Int8,
            "i2" => Self::Int16,
            "i4" => Self::Int32,
            "i8" => Self::Int64,
            "u1" => Self::UInt8,
            "u2" => Self::UInt16,
            "u4" => Self::UInt32,
            "u8" => Self::UInt64,
            "f4" => Self::Float32,
            "f8" => Self::Float64,
            _ => return None,
        };
        Some((item_type, is_big))
    }
}

mod sealed {
    /// A number as the bytes of an item.
    pub trait Bytes: Sized {
        const SIZE: usize;
        /// The number whose bytes these are.
        fn from_item(item: &[u8], is_big: bool) -> Self;
        /// Fills an item with its bytes.
        fn put(self, is_big: bool, item: &mut [u8]);
    }
}

/// A Rust type that the items of an array can have.
pub trait Item: Copy + sealed::Bytes {
    /// The type by its name.
    const TYPE: ItemType;
    /// How NumPy describes it.
    const DTYPE: &'static str;
}

macro_rules! items {
    ($($rust:ident $name:ident $dtype:literal)*) => { $(
        impl sealed::Bytes for $rust {
            const SIZE: usize = size_of::<Self>();

            fn from_item(item: &[u8], is_big: bool) -> Self {
                let bytes = item.first_chunk().copied().unwrap_or_default();
                if is_big { Self::from_be_bytes(bytes) } else { Self::from_le_bytes(bytes) }
            }

            fn put(self, is_big: bool, item: &mut [u8]) {
                item.copy_from_slice(&if is_big { self.to_be_bytes() } else { self.to_le_bytes() });
            }
        }

        impl Item for $rust {
            const TYPE: ItemType = ItemType::$name;
            const DTYPE: &'static str = $dtype;
        }
    )* };
}

items! {
    i8 Int8 "|i1"
    i16 Int16 "<i2"
    i32 Int32 "<i4"
    i64 Int64 "<i8"
    u8 UInt8 "|u1"
    u16 UInt16 "<u2"
    u32 UInt32 "<u4"
    u64 UInt64 "<u8"
    f32 Float32 "<f4"
    f64 Float64 "<f8"
}

impl sealed::Bytes for bool {
    const SIZE: usize = 1;

    fn from_item(item: &[u8], _: bool) -> Self {
        item.first().is_some_and(|byte| *byte != 0)
    }

    fn put(self, _: bool, item: &mut [u8]) {
        item.fill(u8::from(self));
    }
}

impl Item for bool {
    const TYPE: ItemType = ItemType::Bool;
    const DTYPE: &'static str = "|b1";
}

impl NdArray {
    /// The type of the items, if it is one that Rust knows.
    #[must_use]
    pub fn item_type(&self) -> Option<ItemType> {
        ItemType::parse(self.dtype()).map(|(item_type, _)| item_type)
    }

    /// Makes an array somewhere that holds `items`, in C order. The typesize and the type of `options` do not count.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, Pick, Place};
    /// let options = ArrayOptions::new(&[2, 2], Options::new(1));
    /// let array = NdArray::from_items(Place::Memory, &options, &[1.5, 2.5, 3.5, 4.5])?;
    /// assert_eq!(array.dtype(), "<f8");
    /// assert_eq!(array.slice_items::<f64>(&[Pick::All, Pick::At(1)])?, [2.5, 4.5]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create_with_data`](Self::create_with_data).
    pub fn from_items<T: Item>(place: impl Into<Place>, options: &ArrayOptions, items: &[T]) -> Result<Self> {
        let shape = options.shape.clone();
        let options = options.clone().for_items(&shape, T::SIZE, T::DTYPE);
        Self::create_with_data(place, &options, &to_bytes(items, false))
    }

    /// What `picks` take, as numbers, whatever the order of their bytes in the array.
    ///
    /// # Errors
    /// As [`slice`](Self::slice); `InvalidArgument` if the items are of another type.
    pub fn slice_items<T: Item>(&self, picks: &[Pick]) -> Result<Vec<T>> {
        let is_big = self.check_type::<T>()?;
        let bytes = self.slice(picks)?;
        Ok(bytes.chunks_exact(T::SIZE).map(|item| T::from_item(item, is_big)).collect())
    }

    /// Writes numbers over what `picks` take.
    ///
    /// # Errors
    /// As [`write`](Self::write); `InvalidArgument` if the items are of another type.
    pub fn write_items<T: Item>(&mut self, picks: &[Pick], items: &[T]) -> Result<()> {
        let is_big = self.check_type::<T>()?;
        self.write(picks, &to_bytes(items, is_big))
    }

    /// Whether the bytes of items are in the order of big-endian machines.
    fn check_type<T: Item>(&self) -> Result<bool> {
        match ItemType::parse(self.dtype()) {
            Some((item_type, is_big)) if item_type == T::TYPE && T::SIZE == self.geometry().typesize() => Ok(is_big),
            _ => bail!(InvalidArgument, "items of the type {} are asked for, they are {}", T::DTYPE, self.dtype()),
        }
    }
}

fn to_bytes<T: Item>(items: &[T], is_big: bool) -> Vec<u8> {
    let mut bytes = vec![0; items.len().saturating_mul(T::SIZE)];
    bytes.chunks_exact_mut(T::SIZE).zip(items).for_each(|(out, item)| item.put(is_big, out));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Options;

    #[test]
    fn types_are_known_by_their_descriptions() {
        for (dtype, expected) in [
            ("<f8", Some((ItemType::Float64, false))),
            (">i2", Some((ItemType::Int16, true))),
            ("|b1", Some((ItemType::Bool, false))),
            ("?", Some((ItemType::Bool, false))),
            ("u1", Some((ItemType::UInt8, false))),
            ("<f2", None),
            ("<M8[s]", None),
            ("[('a', '<i4')]", None),
            ("", None),
        ] {
            assert_eq!(ItemType::parse(dtype), expected, "{dtype}");
        }
    }

    #[test]
    fn numbers_come_back_in_either_order_of_bytes() {
        for dtype in ["<i4", ">i4"] {
            let options = ArrayOptions::new(&[3], Options::new(4)).dtype(dtype);
            let mut array = NdArray::from_data(&options, &[0; 12]).unwrap();
            array.write_items(&[(1..3).into()], &[-5_i32, 70_000]).unwrap();
            assert_eq!(array.slice_items::<i32>(&[Pick::All]).unwrap(), [0, -5, 70_000]);
            assert_eq!(array.item_type(), Some(ItemType::Int32));
            assert!(array.slice_items::<u32>(&[Pick::All]).is_err());
            assert!(array.write_items(&[Pick::All], &[1.0_f32; 3]).is_err());
        }
    }

    #[test]
    fn truth_values_are_bytes() {
        let options = ArrayOptions::new(&[3], Options::new(1));
        let array = NdArray::from_items(Place::Memory, &options, &[true, false, true]).unwrap();
        assert_eq!((array.dtype(), array.to_vec().unwrap()), ("|b1", vec![1, 0, 1]));
        assert_eq!(array.slice_items::<bool>(&[Pick::All]).unwrap(), [true, false, true]);
    }
}
