//! The types of NumPy's items, by their descriptions.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::json::Json;
use super::literal::Literal;
use crate::error::{Result, bail, error};
use std::fmt;

/// A type: a description like `<f8`, or a list of fields. Its `Display` is Python's `repr`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DType {
    description: Literal,
    itemsize: usize,
}

impl DType {
    pub(super) fn new(description: Literal) -> Result<Self> {
        let itemsize = itemsize(&description)?;
        Ok(Self { description, itemsize })
    }

    /// Reads a description, with the quotes and brackets of Python or, as it was before 0.7.2, without quotes.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if text.starts_with(['\'', '"', '[', '(']) || text.starts_with("u'") {
            Self::new(Literal::parse(text)?)
        } else {
            Self::new(Literal::Str(text.to_owned()))
        }
    }

    /// Reads the description in metadata: a string or, as it was before 0.7.2, lists in place of tuples.
    pub(super) fn from_json(json: &Json) -> Result<Self> {
        match json {
            Json::String(text) => Self::parse(text),
            Json::Array(_) => Self::new(fields_from_lists(json)?),
            other => bail!(Corrupt, "dtype is {other}, neither a string nor a list"),
        }
    }

    pub(super) fn description(&self) -> &Literal {
        &self.description
    }

    /// How many bytes an item has.
    pub(super) fn itemsize(&self) -> usize {
        self.itemsize
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.description.fmt(f)
    }
}

/// A list of fields, each of which is a list of name, description and perhaps shape.
fn fields_from_lists(json: &Json) -> Result<Literal> {
    let bad = || error!(Corrupt, "dtype: {json} is no list of fields");
    let fields = json.as_array().ok_or_else(bad)?;
    let field = |field: &Json| {
        let parts = field.as_array().ok_or_else(bad)?;
        let [name, description, shape @ ..] = parts else { return Err(bad()) };
        let description = match description {
            Json::String(text) => Literal::Str(text.clone()),
            fields => fields_from_lists(fields)?,
        };
        let mut field = vec![name_from_json(name).ok_or_else(bad)?, description];
        for shape in shape {
            field.push(shape_from_json(shape).ok_or_else(bad)?);
        }
        Ok(Literal::Tuple(field))
    };
    fields.iter().map(field).collect::<Result<_>>().map(Literal::List)
}

/// A name, or a title and a name.
fn name_from_json(json: &Json) -> Option<Literal> {
    match json {
        Json::String(name) => Some(Literal::Str(name.clone())),
        Json::Array(names) => {
            let names = names.iter().map(|name| name.as_str().map(|name| Literal::Str(name.to_owned())));
            names.collect::<Option<_>>().map(Literal::Tuple)
        }
        _ => None,
    }
}

fn shape_from_json(json: &Json) -> Option<Literal> {
    let length = |json: &Json| json.as_u64().and_then(|length| i64::try_from(length).ok()).map(Literal::Int);
    match json {
        Json::Array(lengths) => lengths.iter().map(length).collect::<Option<_>>().map(Literal::Tuple),
        json => length(json),
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

    #[test]
    fn lists_of_old_metadata_become_fields() {
        let json = Json::parse("[[\"p\",[[\"x\",\"<f4\"],[\"y\",\"<f4\"]]],[\"id\",\"<u8\",[2]]]").unwrap();
        let dtype = DType::from_json(&json).unwrap();
        assert_eq!(dtype.to_string(), "[('p', [('x', '<f4'), ('y', '<f4')]), ('id', '<u8', (2,))]");
        assert_eq!(dtype.itemsize(), 24);
    }
}
