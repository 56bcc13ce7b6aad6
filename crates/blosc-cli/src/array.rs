//! Arrays on the command line: shapes, types and slices.

use crate::failure::{Failure, Outcome};
use blosc_oxide::{AxisSelection, ItemOrder, NdArray, NpyHeader};

/// Lengths along the axes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lengths(pub(crate) Vec<u64>);

/// Reads `100,200`; nothing is an array without axes.
pub(crate) fn parse_lengths(text: &str) -> Result<Lengths, String> {
    if text.trim().is_empty() {
        return Ok(Lengths(Vec::new()));
    }
    let lengths = text.trim_end_matches(',').split(',').map(|length| length.trim().parse::<u64>());
    lengths
        .collect::<Result<_, _>>()
        .map(Lengths)
        .map_err(|_| "lengths with commas are needed, such as 100,200".to_owned())
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

/// What is wrong with a type that was asked for, and the description that NumPy has of what may
/// have been meant.
fn wrong_dtype(dtype: &str, error: &dyn std::fmt::Display) -> Failure {
    let name = dtype.trim_start_matches("np.").trim_start_matches("numpy.");
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let bytes = digits.parse::<usize>().ok().filter(|bits| bits.is_multiple_of(8)).map(|bits| bits / 8);
    let described = match (&name[..name.len() - digits.len()], bytes) {
        ("bool", None) => Some("|b1".to_owned()),
        ("float" | "double", None) => Some("<f8".to_owned()),
        ("int", None) => Some("<i8".to_owned()),
        ("int", Some(1)) => Some("|i1".to_owned()),
        ("uint", Some(1)) => Some("|u1".to_owned()),
        ("float", Some(bytes)) => Some(format!("<f{bytes}")),
        ("int", Some(bytes)) => Some(format!("<i{bytes}")),
        ("uint", Some(bytes)) => Some(format!("<u{bytes}")),
        ("complex", Some(bytes)) => Some(format!("<c{bytes}")),
        _ => None,
    };
    let hint = described.map_or_else(String::new, |described| format!("; write '{described}'"));
    Failure::usage(format!("--dtype {dtype}: {error}{hint}"))
}

/// The same bytes as items of another type. Where those have another size, the axis whose items are
/// neighbours gets longer or shorter, as in NumPy: the last one, in Fortran order the first.
pub(crate) fn seen_as(array: &NpyHeader, dtype: &str) -> Outcome<NpyHeader> {
    let wrong = |error: &dyn std::fmt::Display| wrong_dtype(dtype, error);
    let of_shape = |shape: Vec<u64>| NpyHeader::new(dtype, shape, array.order()).map_err(|error| wrong(&error));
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
    let of_shape = |shape: Vec<u64>| NpyHeader::new(dtype, shape, order).map_err(|error| wrong_dtype(dtype, &error));
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

/// Reads a slice such as `0:10,5,::2` for an array of this shape. Axes that are not named are taken
/// whole.
pub(crate) fn parse_slice(text: &str, shape: &[u64]) -> Outcome<Vec<AxisSelection>> {
    let parts: Vec<&str> = if text.trim().is_empty() { Vec::new() } else { text.split(',').collect() };
    if parts.len() > shape.len() {
        return Err(Failure::usage(format!(
            "--slice {text}: it has {} axes, the array has {}",
            parts.len(),
            shape.len()
        )));
    }
    let selections = parts.iter().zip(shape).map(|(part, &length)| {
        parse_pick(part.trim(), length).ok_or_else(|| {
            Failure::usage(format!("--slice {text}: {part:?} is no part of an axis of {length}; write 5, 0:10 or ::2"))
        })
    });
    let mut selections: Vec<AxisSelection> = selections.collect::<Outcome<_>>()?;
    selections.resize(shape.len(), AxisSelection::All);
    Ok(selections)
}

/// One part of a slice, as Python reads it: a negative index counts from the end, and ends may lie
/// outside.
fn parse_pick(text: &str, length: u64) -> Option<AxisSelection> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    if let [index] = parts[..] {
        let index = from_end(index.parse().ok()?, length);
        return u64::try_from(index).ok().filter(|&index| index < length).map(AxisSelection::Index);
    }
    let (start, end, step) = match parts[..] {
        [start, end] => (start, end, ""),
        [start, end, step] => (start, end, step),
        _ => return None,
    };
    let step: i64 = if step.is_empty() { 1 } else { step.parse().ok().filter(|&step| step != 0)? };
    let bound = |text: &str| -> Option<Option<i128>> {
        if text.is_empty() { Some(None) } else { text.parse().ok().map(|index| Some(from_end(index, length))) }
    };
    let (start, end) = (bound(start)?, bound(end)?);
    Some(steps(start, end, step, i128::from(length)))
}

fn from_end(index: i128, length: u64) -> i128 {
    if index < 0 { index + i128::from(length) } else { index }
}

fn steps(start: Option<i128>, end: Option<i128>, step: i64, length: i128) -> AxisSelection {
    let unsigned = |index: i128| u64::try_from(index).unwrap_or(0);
    let nothing = AxisSelection::slice(0, 0, 1);
    if step > 0 {
        let start = start.unwrap_or(0).clamp(0, length);
        let end = end.unwrap_or(length).clamp(start, length);
        return if start == end { nothing } else { AxisSelection::slice(unsigned(start), unsigned(end), step) };
    }
    let start = start.unwrap_or(length - 1).min(length - 1);
    let end = end.unwrap_or(-1).max(-1);
    if start <= end {
        return nothing;
    }
    AxisSelection::slice(unsigned(start), (end >= 0).then(|| unsigned(end)), step)
}

#[cfg(test)]
mod tests {
    use super::{parse_lengths, parse_slice};
    use blosc_oxide::AxisSelection;

    #[test]
    fn slices_are_read_as_python_does() {
        let cases = [
            ("5", AxisSelection::Index(5)),
            ("-1", AxisSelection::Index(9)),
            ("0:10", AxisSelection::slice(0, 10, 1)),
            ("2:", AxisSelection::slice(2, 10, 1)),
            (":-3", AxisSelection::slice(0, 7, 1)),
            ("::2", AxisSelection::slice(0, 10, 2)),
            ("::-1", AxisSelection::slice(9, None, -1)),
            ("7:2:-2", AxisSelection::slice(7, 2, -2)),
            ("3:100", AxisSelection::slice(3, 10, 1)),
            ("8:2", AxisSelection::slice(0, 0, 1)),
        ];
        for (text, selection) in cases {
            assert_eq!(parse_slice(text, &[10]).unwrap(), [selection], "{text}");
        }
        assert_eq!(parse_slice("1", &[10, 20]).unwrap(), [AxisSelection::Index(1), AxisSelection::All]);
        for text in ["10", "x", "1:2:0", "1,2", "1:2:3:4"] {
            assert!(parse_slice(text, &[10]).is_err(), "{text}");
        }
    }

    #[test]
    fn lengths_are_read() {
        assert_eq!(parse_lengths("100, 200").unwrap().0, [100, 200]);
        assert_eq!(parse_lengths("").unwrap().0, [0_u64; 0]);
        assert!(parse_lengths("1,x").is_err());
    }
}
