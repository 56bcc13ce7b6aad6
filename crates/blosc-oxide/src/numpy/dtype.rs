//! The types of NumPy's items, by their descriptions.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::literal::Literal;
use crate::error::{Result, bail, error};
use std::fmt;

/// A type: a description like `<f8`, or a list of fields. Its `Display` is Python's `repr`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DType {
    description: Literal,
    itemsize: usize,
}

impl DType {
    pub(crate) fn new(description: Literal) -> Result<Self> {
        let itemsize = itemsize(&description)?;
        Ok(Self { description, itemsize })
    }

    /// Reads a description, with the quotes and brackets of Python or, as it was before 0.7.2,
    /// without quotes.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.starts_with(['\'', '"', '[', '(']) || text.starts_with("u'") {
            Self::new(Literal::parse(text)?)
        } else {
            Self::new(Literal::Str(text.to_owned()))
        }
    }

    pub(crate) fn description(&self) -> &Literal {
        &self.description
    }

    /// How many bytes an item has.
    pub(crate) fn itemsize(&self) -> usize {
        self.itemsize
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.description.fmt(f)
    }
}

fn itemsize(description: &Literal) -> Result<usize> {
    match description {
        Literal::Str(text) => simple_itemsize(text),
        Literal::List(fields) => fields.iter().try_fold(0_usize, |sum, field| {
            sum.checked_add(field_size(field)?).ok_or_else(|| error!(Corrupt, "dtype: the fields are too long"))
        }),
        other => bail!(Corrupt, "dtype: {other} is neither a string nor a list of fields"),
    }
}

fn field_size(field: &Literal) -> Result<usize> {
    let bad = || error!(Corrupt, "dtype: {field} is no field");
    let Literal::Tuple(parts) = field else { return Err(bad()) };
    let (description, shape) = match parts.as_slice() {
        [Literal::Str(_) | Literal::Tuple(_), description] => (description, None),
        [Literal::Str(_) | Literal::Tuple(_), description, shape] => (description, Some(shape)),
        _ => return Err(bad()),
    };
    let count = shape.map_or(Ok(1), |shape| product(shape).ok_or_else(bad))?;
    itemsize(description)?.checked_mul(count).ok_or_else(bad)
}

/// How many items a shape has: a length, or a tuple of lengths.
fn product(shape: &Literal) -> Option<usize> {
    let length = |length: &Literal| length.as_u64().and_then(|length| usize::try_from(length).ok());
    match shape {
        Literal::Tuple(lengths) => lengths.iter().try_fold(1_usize, |product, next| product.checked_mul(length(next)?)),
        single => length(single),
    }
}

/// The size by a description such as `<f8`, `|S7` or `<M8[s]`.
fn simple_itemsize(text: &str) -> Result<usize> {
    let bad = || error!(Unsupported, "dtype: {text:?} is not known");
    let bare = text.trim_start_matches(['<', '>', '|', '=']);
    let mut chars = bare.chars();
    let kind = chars.next().ok_or_else(bad)?;
    let rest = chars.as_str();
    let digits = rest.split('[').next().unwrap_or_default();
    if kind == 'O' {
        bail!(Unsupported, "dtype: {text:?} is a Python object, which cannot be stored");
    }
    if kind == '?' && rest.is_empty() {
        return Ok(1);
    }
    let has_unit = rest.len() > digits.len();
    if has_unit && !(matches!(kind, 'm' | 'M') && rest.ends_with(']')) {
        return Err(bad());
    }
    let size: usize = digits.parse().map_err(|_| bad())?;
    match kind {
        'b' | 'i' | 'u' | 'f' | 'c' | 'm' | 'M' | 'S' | 'a' | 'V' => Ok(size),
        'U' => size.checked_mul(4).ok_or_else(bad),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> usize {
        DType::parse(text).unwrap().itemsize()
    }

    #[test]
    fn sizes_follow_from_descriptions() {
        for (text, expected) in [
            ("<f8", 8),
            ("'<f8'", 8),
            ("|b1", 1),
            ("?", 1),
            (">i4", 4),
            ("<c16", 16),
            ("|S7", 7),
            ("<U5", 20),
            ("<M8[s]", 8),
            ("<m8[25s]", 8),
            ("|V0", 0),
            ("<f16", 16),
            ("[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]", 15),
            ("[('p', [('x', '<f4'), ('y', '<f4')]), ('id', '<u8', (2,))]", 24),
            ("[(('title', 'n'), '<i2', 3), ('', '|V2')]", 8),
            ("[]", 0),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_stored_is_refused() {
        let message = |text: &str| DType::parse(text).unwrap_err().to_string();
        assert_eq!(message("|O"), "dtype: \"|O\" is a Python object, which cannot be stored");
        assert_eq!(message("[('a', '|O8')]"), "dtype: \"|O8\" is a Python object, which cannot be stored");
        assert_eq!(message("float"), "dtype: \"float\" is not known");
        assert_eq!(message("<f8[s]"), "dtype: \"<f8[s]\" is not known");
        assert_eq!(message("[('a',)]"), "dtype: ('a',) is no field");
        assert_eq!(message("[('a', '<i4', (-1,))]"), "dtype: ('a', '<i4', (-1,)) is no field");
    }
}
