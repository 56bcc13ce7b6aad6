//! Numbers as the items of chunks and arrays: the types of Rust, and their bytes.

use crate::error::Result;
use std::borrow::Cow;

/// The types of items that are types of Rust.
///
/// ```
/// use blosc_oxide::{Item, ItemType};
/// assert_eq!(f32::TYPE, ItemType::Float32);
/// assert_eq!(f32::DTYPE, "<f4");
/// ```
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
    /// The type that NumPy describes like this, and whether its bytes are in the order of
    /// big-endian machines.
    pub(crate) fn parse(dtype: &str) -> Option<(Self, bool)> {
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

pub(crate) mod sealed {
    use crate::error::Result;
    use std::borrow::Cow;

    /// A number as the bytes of an item.
    pub trait Bytes: Sized {
        /// How many bytes an item has.
        const SIZE: usize;

        /// The bytes of `items`, borrowed if they are in the order of this machine.
        fn to_bytes(items: &[Self], is_big: bool) -> Cow<'_, [u8]>;

        /// `count` items of the bytes that `fill` writes into a buffer of their length.
        ///
        /// # Errors
        /// Those of `fill`.
        fn from_filled(count: usize, is_big: bool, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Vec<Self>>;
    }
}

/// A Rust type that the items of a chunk or an array can have: `bool`, the integers of 8 to 64
/// bits, `f32` and `f64`.
///
/// ```
/// use blosc_oxide::{Item, Options, compress_items, decompress_items};
/// fn round_trip<T: Item + PartialEq>(items: &[T]) -> blosc_oxide::Result<bool> {
///     let chunk = compress_items(items, &Options::new(size_of::<T>()))?;
///     Ok(decompress_items::<T>(&chunk)? == items)
/// }
/// assert!(round_trip(&[1.5_f32, 2.5])? && round_trip(&[true, false])?);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait Item: Copy + sealed::Bytes {
    /// The type by its name.
    const TYPE: ItemType;
    /// How NumPy describes it; little-endian.
    const DTYPE: &'static str;
}

macro_rules! items {
    ($($rust:ident $name:ident $dtype:literal)*) => { $(
        impl sealed::Bytes for $rust {
            const SIZE: usize = size_of::<Self>();

            fn to_bytes(items: &[Self], is_big: bool) -> Cow<'_, [u8]> {
                if is_big == cfg!(target_endian = "big") {
                    return Cow::Borrowed(bytemuck::cast_slice(items));
                }
                let swapped = items.iter().flat_map(|item| {
                    if is_big { item.to_be_bytes() } else { item.to_le_bytes() }
                });
                Cow::Owned(swapped.collect())
            }

            fn from_filled(
                count: usize,
                is_big: bool,
                fill: &mut dyn FnMut(&mut [u8]) -> Result<()>,
            ) -> Result<Vec<Self>> {
                let mut items = vec![Self::default(); count];
                fill(bytemuck::cast_slice_mut(&mut items))?;
                if is_big != cfg!(target_endian = "big") {
                    for item in &mut items {
                        let bytes: &mut [u8] = bytemuck::bytes_of_mut(item);
                        bytes.reverse();
                    }
                }
                Ok(items)
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

    fn to_bytes(items: &[Self], _: bool) -> Cow<'_, [u8]> {
        Cow::Borrowed(bytemuck::cast_slice(items))
    }

    /// Any byte but 0 is true, as in NumPy.
    fn from_filled(count: usize, _: bool, fill: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<Vec<Self>> {
        let mut bytes = vec![0; count];
        fill(&mut bytes)?;
        Ok(bytes.into_iter().map(|byte| byte != 0).collect())
    }
}

impl Item for bool {
    const TYPE: ItemType = ItemType::Bool;
    const DTYPE: &'static str = "|b1";
}

#[cfg(test)]
mod tests {
    use super::sealed::Bytes as _;
    use super::*;

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
    fn bytes_have_the_order_that_is_asked_for() {
        for (is_big, expected) in [(false, [1, 0, 254, 255]), (true, [0, 1, 255, 254])] {
            let bytes = i16::to_bytes(&[1, -2], is_big);
            assert_eq!(*bytes, expected);
            let mut fill = |out: &mut [u8]| {
                out.copy_from_slice(&expected);
                Ok(())
            };
            assert_eq!(i16::from_filled(2, is_big, &mut fill).unwrap(), [1, -2]);
        }
    }
}
