//! The metalayer that makes a super-chunk an array.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::array::geometry::Geometry;
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::error::{Result, bail, error};
use crate::limits::MAX_DIMS;
use crate::numpy::ItemOrder;
use crate::schunk::Metalayers;

/// The name of the metalayer.
pub(super) const NAME: &str = "b2nd";
/// The name it had before, when it did not store the type of items.
pub(super) const OLD_NAME: &str = "caterva";
/// Our metalayer for the order that the items had at first; without it, C order.
pub(super) const ORDER_NAME: &str = "_order";
/// Its content for Fortran order: the string "F" in msgpack.
const FORTRAN: &[u8] = b"\xa1F";
const VERSION: u8 = 0;
const ARRAY_7: u8 = marker::FIXARRAY | 7;
const ARRAY_5: u8 = marker::FIXARRAY | 5;
const STR_32: u8 = 0xdb;
/// The format of type descriptions: that of NumPy.
const NUMPY: u8 = 0;

/// Whether a metalayer is one of those that describe an array.
pub(super) fn is_own(name: &str) -> bool {
    [NAME, OLD_NAME, ORDER_NAME].contains(&name)
}

/// The order that the metalayers of an array name. Content that is not known is not ours, and is
/// ignored.
pub(super) fn read_order(metalayers: &Metalayers) -> ItemOrder {
    if metalayers.get(ORDER_NAME) == Some(FORTRAN) { ItemOrder::Fortran } else { ItemOrder::C }
}

/// The metalayer that names an order; C order needs none.
pub(super) fn order_layer(order: ItemOrder) -> Option<(&'static str, &'static [u8])> {
    (order == ItemOrder::Fortran).then_some((ORDER_NAME, FORTRAN))
}

/// The content of the metalayer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) shape: Vec<u64>,
    pub(super) chunks: Vec<u64>,
    pub(super) blocks: Vec<u64>,
    /// The type of the items, as NumPy writes it; `None` in old arrays.
    pub(super) dtype: Option<String>,
}

impl Meta {
    /// The metalayer of an array.
    pub(super) fn find(metalayers: &Metalayers) -> Result<Self> {
        match (metalayers.get(NAME), metalayers.get(OLD_NAME)) {
            (Some(bytes), _) => Self::read(bytes, true),
            (None, Some(bytes)) => Self::read(bytes, false),
            (None, None) => bail!(InvalidArgument, "this is not an array: it has no metalayer {NAME:?}"),
        }
    }

    fn read(bytes: &[u8], has_dtype: bool) -> Result<Self> {
        let mut reader = Reader::new("array metalayer", bytes, 0);
        reader.byte()?;
        let version = reader.byte()?;
        if version > VERSION {
            bail!(Unsupported, "array metalayer: version {version} is not known");
        }
        let ndim = usize::from(reader.byte()?);
        if ndim > MAX_DIMS {
            bail!(Corrupt, "array metalayer: {ndim} dimensions, there can be {MAX_DIMS}");
        }
        let shape = read_lengths(&mut reader, ndim, Reader::int64)?;
        let chunks = read_lengths(&mut reader, ndim, Reader::int32)?;
        let blocks = read_lengths(&mut reader, ndim, Reader::int32)?;
        let dtype = if has_dtype { read_dtype(&mut reader)? } else { None };
        Ok(Self { shape, chunks, blocks, dtype })
    }

    /// The metalayer's content for an array.
    pub(super) fn write(geometry: &Geometry, dtype: &str) -> Result<Vec<u8>> {
        let mut writer = Self::write_shapes(ARRAY_7, geometry)?;
        writer.byte(NUMPY);
        writer.long(STR_32, dtype.as_bytes());
        Ok(writer.0)
    }

    /// The metalayer's content in an old array, which does not store the type of items.
    pub(super) fn write_old(geometry: &Geometry) -> Result<Vec<u8>> {
        Ok(Self::write_shapes(ARRAY_5, geometry)?.0)
    }

    fn write_shapes(first: u8, geometry: &Geometry) -> Result<Writer> {
        let mut writer = Writer::default();
        writer.byte(first);
        writer.byte(VERSION);
        let ndim = u8::try_from(geometry.ndim()).map_err(|_| error!(InvalidArgument, "array: too many dimensions"))?;
        writer.byte(ndim);
        // With 16 dimensions this is no marker of an array any more; readers skip it.
        let marker = marker::FIXARRAY.saturating_add(ndim);
        writer.byte(marker);
        for &length in geometry.shape() {
            writer.int64(i64::try_from(length).map_err(|_| too_long(length))?);
        }
        for lengths in [geometry.chunks(), geometry.blocks()] {
            writer.byte(marker);
            for &length in lengths {
                writer.int32(i32::try_from(length).map_err(|_| too_long(length))?);
            }
        }
        Ok(writer)
    }
}

fn too_long(length: u64) -> crate::error::Error {
    error!(InvalidArgument, "array: a length of {length} does not fit into its field")
}

fn read_lengths<'a, T: Into<i64>>(
    reader: &mut Reader<'a>,
    ndim: usize,
    read: impl Fn(&mut Reader<'a>) -> Result<T>,
) -> Result<Vec<u64>> {
    // Not looked at: for 16 dimensions writers put a byte here that marks no array.
    reader.byte()?;
    let mut lengths = Vec::with_capacity(ndim);
    for axis in 0..ndim {
        let length: i64 = read(reader)?.into();
        match u64::try_from(length) {
            Ok(length) => lengths.push(length),
            Err(_) => bail!(Corrupt, "array metalayer: axis {axis} has a length of {length}"),
        }
    }
    Ok(lengths)
}

fn read_dtype(reader: &mut Reader<'_>) -> Result<Option<String>> {
    reader.byte()?;
    let bytes = reader.long(STR_32)?;
    let text = std::str::from_utf8(bytes).map_err(|_| error!(Corrupt, "array metalayer: the type is not UTF-8"))?;
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_reference() {
        let geometry = Geometry::new(4, &[7], &[3], &[2]).unwrap();
        let bytes = Meta::write(&geometry, "<i4").unwrap();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "97000191d3000000000000000791d20000000391d20000000200db000000033c6934");
        let meta = Meta::read(&bytes, true).unwrap();
        assert_eq!((meta.shape, meta.chunks, meta.blocks), (vec![7], vec![3], vec![2]));
        assert_eq!(meta.dtype.as_deref(), Some("<i4"));
    }

    #[test]
    fn sixteen_dimensions_come_back() {
        let geometry = Geometry::new(1, &[1; 16], &[1; 16], &[1; 16]).unwrap();
        let bytes = Meta::write(&geometry, "|u1").unwrap();
        assert_eq!(bytes[3], 0xa0);
        assert_eq!(Meta::read(&bytes, true).unwrap().shape, [1; 16]);
    }
}
