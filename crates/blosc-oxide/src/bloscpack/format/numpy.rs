//! What the metadata of a file says about the NumPy array in it.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::metadata::Metadata;
use crate::bloscpack::json;
use crate::error::{Result, bail, error};
use crate::numpy::{DType, ItemOrder, Literal, NpyHeader, check_len};
use serde_json::Value;
use serde_json::value::RawValue;

const CONTAINER: &str = "numpy";

impl NpyHeader {
    /// The metadata of a file that holds this array.
    ///
    /// ```
    /// use blosc_oxide::{ItemOrder, NpyHeader};
    /// let array = NpyHeader::new("<f4", [60, 100], ItemOrder::C)?;
    /// assert_eq!(array.to_json(), r#"{"dtype":"'<f4'","shape":[60,100],"order":"C","container":"numpy"}"#);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        let order = if self.order() == ItemOrder::C { "C" } else { "F" };
        let shape: Vec<String> = self.shape().iter().map(u64::to_string).collect();
        let mut text = "{\"dtype\":".to_owned();
        json::push_string(&self.parsed_dtype().to_string(), &mut text);
        text + &format!(",\"shape\":[{}],\"order\":\"{order}\",\"container\":\"{CONTAINER}\"}}", shape.join(","))
    }

    /// The array that metadata describes; `None` if it is not about one.
    ///
    /// # Errors
    /// `Corrupt` or `Unsupported` if it is, but cannot be understood.
    pub fn from_json(json: &str) -> Result<Option<Self>> {
        check_len(json.len())?;
        let Some(members) = json::members(json)? else { return Ok(None) };
        // What is not asked for may be anything, such as a number that no computer can hold.
        let value = |key: &str| members.get(key).and_then(|raw| serde_json::from_str::<Value>(RawValue::get(raw)).ok());
        if value("container").as_ref().and_then(Value::as_str) != Some(CONTAINER) {
            return Ok(None);
        }
        let missing = |key: &str| error!(Corrupt, "metadata of an array without {key}");
        let dtype = dtype_from_json(&value("dtype").ok_or_else(|| missing("dtype"))?)?;
        let shape = value("shape").ok_or_else(|| missing("shape"))?;
        let shape = shape.as_array().ok_or_else(|| missing("shape"))?;
        let shape = shape.iter().map(Value::as_u64).collect::<Option<Vec<_>>>().ok_or_else(|| missing("shape"))?;
        let order = match value("order").as_ref().and_then(Value::as_str) {
            Some("C") | None => ItemOrder::C,
            Some("F") => ItemOrder::Fortran,
            Some(other) => bail!(Corrupt, "metadata of an array: its order is {other:?}, neither C nor F"),
        };
        Self::with_dtype(dtype, shape, order).map(Some)
    }
}

impl Metadata {
    /// The array that the file holds; `None` if the metadata is not about one.
    ///
    /// # Errors
    /// As [`NpyHeader::from_json`].
    pub fn numpy(&self) -> Result<Option<NpyHeader>> {
        NpyHeader::from_json(self.text())
    }
}

/// Reads the description in metadata: a string or, as it was before 0.7.2, lists in place of
/// tuples.
fn dtype_from_json(json: &Value) -> Result<DType> {
    match json {
        Value::String(text) => DType::parse(text),
        Value::Array(_) => DType::new(fields_from_lists(json)?),
        other => bail!(Corrupt, "dtype is {other}, neither a string nor a list"),
    }
}

/// A list of fields, each of which is a list of name, description and perhaps shape.
fn fields_from_lists(json: &Value) -> Result<Literal> {
    let bad = || error!(Corrupt, "dtype: {json} is no list of fields");
    let fields = json.as_array().ok_or_else(bad)?;
    let field = |field: &Value| {
        let [name, description, shape @ ..] = field.as_array().ok_or_else(bad)?.as_slice() else { return Err(bad()) };
        let description = match description {
            Value::String(text) => Literal::Str(text.clone()),
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
fn name_from_json(json: &Value) -> Option<Literal> {
    match json {
        Value::String(name) => Some(Literal::Str(name.clone())),
        Value::Array(names) => {
            let names = names.iter().map(|name| name.as_str().map(|name| Literal::Str(name.to_owned())));
            names.collect::<Option<_>>().map(Literal::Tuple)
        }
        _ => None,
    }
}

fn shape_from_json(json: &Value) -> Option<Literal> {
    let length = |json: &Value| json.as_u64().and_then(|length| i64::try_from(length).ok()).map(Literal::Int);
    match json {
        Value::Array(lengths) => lengths.iter().map(length).collect::<Option<_>>().map(Literal::Tuple),
        json => length(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays() -> Vec<NpyHeader> {
        [
            ("<f8", vec![6000], ItemOrder::C),
            (">i4", vec![3, 4], ItemOrder::Fortran),
            ("|b1", vec![], ItemOrder::C),
            ("<M8[s]", vec![0, 4], ItemOrder::C),
            ("[('p', [('x', '<f4'), ('y', '<f4')]), ('id', '<u8', (2,))]", vec![300], ItemOrder::C),
            ("[('gr\u{f6}\u{df}e \u{2603}', '<f4')]", vec![2, 2, 2], ItemOrder::C),
        ]
        .into_iter()
        .map(|(dtype, shape, order)| NpyHeader::new(dtype, shape, order).unwrap())
        .collect()
    }

    #[test]
    fn metadata_comes_back() {
        for array in arrays() {
            assert_eq!(NpyHeader::from_json(&array.to_json()).unwrap().unwrap(), array);
        }
        assert_eq!(NpyHeader::from_json("{\"container\":\"plain\"}").unwrap(), None);
        assert_eq!(NpyHeader::from_json("[1,2]").unwrap(), None);
        assert!(NpyHeader::from_json("{\"container\":\"numpy\"}").is_err());
    }

    #[test]
    fn lists_of_old_metadata_become_fields() {
        let json: Value =
            serde_json::from_str("[[\"p\",[[\"x\",\"<f4\"],[\"y\",\"<f4\"]]],[\"id\",\"<u8\",[2]]]").unwrap();
        let dtype = dtype_from_json(&json).unwrap();
        assert_eq!(dtype.to_string(), "[('p', [('x', '<f4'), ('y', '<f4')]), ('id', '<u8', (2,))]");
        assert_eq!(dtype.itemsize(), 24);
    }
}
