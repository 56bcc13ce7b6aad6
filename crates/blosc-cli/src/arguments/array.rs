//! Arrays on the command line: shapes, types and slices.

use crate::arguments::dtype;
use crate::failure::{Failure, Outcome};
use blosc_oxide::{ItemOrder, NdArray, NpyHeader};

/// Lengths along the axes of an array, of which one may be left to be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lengths(Vec<Option<u64>>);

/// Reads `100,200`, or `-1,200`; nothing is an array without axes.
pub(crate) fn parse_lengths(text: &str) -> Result<Lengths, String> {
    let bare = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']).trim_end_matches(',');
    if bare.trim().is_empty() {
        return Ok(Lengths(Vec::new()));
    }
    let length = |text: &str| match text.trim() {
        "-1" => Ok(None),
        text => text.parse::<u64>().map(Some),
    };
    let lengths: Vec<Option<u64>> = bare
        .split(',')
        .map(length)
        .collect::<Result<_, _>>()
        .map_err(|_| "lengths with commas are needed, such as 100,200 or -1,200".to_owned())?;
    match lengths.iter().filter(|length| length.is_none()).count() {
        0 | 1 => Ok(Lengths(lengths)),
        _ => Err("only one length can be -1, which is found out from the others".to_owned()),
    }
}

impl Lengths {
    /// The lengths, with that of `-1` so that there are `nitems` in all.
    pub(crate) fn of_items(&self, nitems: Option<u64>) -> Outcome<Vec<u64>> {
        let known = self.0.iter().flatten().try_fold(1_u64, |product, &length| product.checked_mul(length));
        let missing = || match (nitems, known) {
            (None, _) => {
                Err(Failure::usage("--shape: how long the data is cannot be known beforehand; give every length"))
            }
            (Some(nitems), Some(known)) if known > 0 && nitems.is_multiple_of(known) => Ok(nitems / known),
            (Some(nitems), _) => Err(Failure::usage(format!("--shape: {nitems} items are no whole rows of {self}"))),
        };
        self.0.iter().map(|length| length.map_or_else(missing, Ok)).collect()
    }

    /// The lengths of chunks or blocks, where `-1` is all of an axis.
    pub(crate) fn within(&self, shape: Option<&[u64]>) -> Vec<u64> {
        let whole = |axis: usize| shape.and_then(|shape| shape.get(axis)).copied().unwrap_or(1).max(1);
        self.0.iter().enumerate().map(|(axis, length)| length.unwrap_or_else(|| whole(axis))).collect()
    }
}

impl From<&[u64]> for Lengths {
    fn from(lengths: &[u64]) -> Self {
        Self(lengths.iter().copied().map(Some).collect())
    }
}

impl std::fmt::Display for Lengths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths: Vec<String> =
            self.0.iter().map(|length| length.map_or_else(|| "-1".to_owned(), |length| length.to_string())).collect();
        f.write_str(&lengths.join(","))
    }
}

/// The type of items that nothing is known about but their size.
pub(crate) fn default_dtype(typesize: usize) -> String {
    match typesize {
        1 => "|u1".to_owned(),
        2 | 4 | 8 => format!("<u{typesize}"),
        other => format!("|V{other}"),
    }
}

/// The description of an array. Where its type is none of NumPy's, or one of another size than its
/// items, they are bytes without a meaning. A part of an array has the order of the array, unless
/// it has one axis or none, where both are the same.
pub(crate) fn description(array: &NdArray, shape: &[u64]) -> blosc_oxide::Result<NpyHeader> {
    let typesize = array.geometry().typesize();
    let is_whole = shape.len() == array.shape().len();
    let order = if is_whole || shape.len() > 1 { array.order() } else { ItemOrder::C };
    let named = NpyHeader::new(array.dtype(), shape, order).ok();
    match named.filter(|named| named.itemsize() == typesize) {
        Some(named) => Ok(named),
        None => NpyHeader::new(&format!("|V{typesize}"), shape, order),
    }
}

/// What is wrong with a type that was asked for.
fn wrong_dtype(dtype: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!(
        "--dtype {dtype}: {error}; write a word of NumPy, such as float32, datetime64[ns] or S10, or fields, \"[('x', 'int8')]\""
    ))
}

/// A shape in which one length may be left out, for items of this type.
pub(crate) fn resolved(dtype: &str, shape: &Lengths, nbytes: Option<u64>) -> Outcome<Vec<u64>> {
    let described = NpyHeader::new(&dtype::described(dtype), Vec::new(), ItemOrder::C);
    let itemsize = described.map_err(|error| wrong_dtype(dtype, &error))?.itemsize().max(1) as u64;
    shape.of_items(nbytes.filter(|nbytes| nbytes.is_multiple_of(itemsize)).map(|nbytes| nbytes / itemsize))
}

/// The same bytes as items of another type. Where those have another size, the axis whose items are
/// neighbours gets longer or shorter, as in NumPy: the last one, in Fortran order the first.
pub(crate) fn seen_as(array: &NpyHeader, dtype: &str) -> Outcome<NpyHeader> {
    let wrong = |error: &dyn std::fmt::Display| wrong_dtype(dtype, error);
    let known = dtype::described(dtype);
    let of_shape = |shape: Vec<u64>| NpyHeader::new(&known, shape, array.order()).map_err(|error| wrong(&error));
    let (old, new) = (array.itemsize() as u64, of_shape(Vec::new())?.itemsize() as u64);
    let mut shape = array.shape().to_vec();
    if old != new {
        let inner = if array.order() == ItemOrder::C { shape.last_mut() } else { shape.first_mut() };
        let nbytes = inner.as_ref().map_or(old, |length| length.saturating_mul(old));
        match inner {
            Some(length) if new > 0 && nbytes.is_multiple_of(new) => *length = nbytes / new,
            _ => return Err(wrong(&format!("{nbytes} bytes in a row are no whole items of {new}; give --shape"))),
        }
    }
    of_shape(shape)
}

/// An array of this type and order; without a shape, one axis with all that is there.
pub(crate) fn described(
    dtype: &str,
    shape: Option<Vec<u64>>,
    order: ItemOrder,
    nbytes: Option<u64>,
) -> Outcome<NpyHeader> {
    let known = dtype::described(dtype);
    let of_shape = |shape: Vec<u64>| NpyHeader::new(&known, shape, order).map_err(|error| wrong_dtype(dtype, &error));
    if let Some(shape) = shape {
        return of_shape(shape);
    }
    let itemsize = of_shape(Vec::new())?.itemsize().max(1) as u64;
    let Some(nbytes) = nbytes else {
        return Err(Failure::usage("how long the data is cannot be known beforehand: give its --shape"));
    };
    if !nbytes.is_multiple_of(itemsize) {
        return Err(Failure::usage(format!(
            "{nbytes} bytes are no whole items of type {dtype}, which have {itemsize}"
        )));
    }
    of_shape(vec![nbytes / itemsize])
}

#[cfg(test)]
mod tests {
    use super::{Lengths, parse_lengths};

    #[test]
    fn lengths_are_read() {
        let read = |text| parse_lengths(text).unwrap().of_items(Some(20_000)).unwrap();
        assert_eq!(read("100, 200"), [100, 200]);
        assert_eq!(read("(100, 200,)"), [100, 200]);
        assert_eq!(read("-1,200"), [100, 200]);
        assert_eq!(read(""), [0_u64; 0]);
        assert_eq!(Lengths(vec![None, Some(3)]).within(Some(&[7, 8])), [7, 3]);
        assert!(parse_lengths("1,x").is_err() && parse_lengths("-1,-1").is_err());
        assert!(parse_lengths("-1,30").unwrap().of_items(Some(20_000)).is_err());
    }
}
