//! The description that `save_array`, `save_tensor`, `pack_array2` and `pack_tensor` give a frame.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::msgpack::Value;
use blosc_oxide::{Error, ErrorKind, ItemOrder, Limits, NpyHeader, Result};

/// The variable-length metalayer of the description.
pub(crate) const TENSOR_LAYER: &str = "__pack_tensor__";

/// The array that the content of the metalayer describes: what made it, its shape, and its type as
/// NumPy describes it. The items are in C order: python-blosc2 takes no others.
pub(crate) fn described_tensor(layer: &[u8], limits: &Limits) -> Result<NpyHeader> {
    from_layer(layer, limits).map_err(|error| {
        let message = format!("metalayer {TENSOR_LAYER}: {error}");
        Error::new(error.kind(), message)
    })
}

fn from_layer(layer: &[u8], limits: &Limits) -> Result<NpyHeader> {
    let value = Value::parse(layer, limits)?;
    let Some([_, shape, dtype]) = value.as_tuple().or_else(|| members(&value)) else {
        return Err(corrupt("a kind, a shape and a type are needed"));
    };
    let shape = shape.as_tuple().or_else(|| members(shape)).unwrap_or_default().iter();
    let shape: Option<Vec<u64>> = shape.map(Value::as_u64).collect();
    let shape = shape.ok_or_else(|| corrupt("the shape is no list of lengths"))?;
    let mut text = String::new();
    write_type(&mut text, dtype)?;
    NpyHeader::new(&text, shape, ItemOrder::C)
}

/// The members of a list that is not marked as a tuple.
fn members(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(members) => Some(members),
        _ => None,
    }
}

/// Writes a type as Python does: a text, or a list of fields.
fn write_type(text: &mut String, dtype: &Value) -> Result<()> {
    match dtype {
        Value::Text(simple) => {
            quote(text, simple);
            Ok(())
        }
        Value::List(fields) => {
            // NumPy describes items without a meaning, `|V5`, as one field without a name.
            if let [field] = fields.as_slice()
                && let Some([Value::Text(name), Value::Text(simple)]) = field.as_tuple()
                && name.is_empty()
            {
                quote(text, simple);
                return Ok(());
            }
            text.push('[');
            for field in fields {
                write_field(text, field)?;
                text.push_str(", ");
            }
            text.push(']');
            Ok(())
        }
        _ => Err(corrupt("the type is neither a text nor a list of fields")),
    }
}

/// A field: its name, or a title and a name, its type, and for arrays inside an item their shape.
fn write_field(text: &mut String, field: &Value) -> Result<()> {
    let Some([name, dtype, shape @ ..]) = field.as_tuple().or_else(|| members(field)) else {
        return Err(corrupt("a field has no name and type"));
    };
    text.push('(');
    match (name, name.as_tuple()) {
        (Value::Text(name), _) => quote(text, name),
        (_, Some([Value::Text(title), Value::Text(name)])) => {
            text.push('(');
            quote(text, title);
            text.push_str(", ");
            quote(text, name);
            text.push(')');
        }
        _ => return Err(corrupt("the name of a field is no text")),
    }
    text.push_str(", ");
    write_type(text, dtype)?;
    if let [shape] = shape {
        let lengths = shape.as_tuple().unwrap_or(std::slice::from_ref(shape));
        text.push_str(", (");
        for length in lengths {
            let length = length.as_u64().ok_or_else(|| corrupt("the shape of a field is no list of lengths"))?;
            text.push_str(&format!("{length},"));
        }
        text.push(')');
    }
    text.push(')');
    Ok(())
}

/// Writes a text as Python does.
pub(super) fn quote(text: &mut String, content: &str) {
    text.push('\'');
    for char in content.chars() {
        if matches!(char, '\'' | '\\') {
            text.push('\\');
        }
        text.push(char);
    }
    text.push('\'');
}

fn corrupt(message: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(layer: &[u8]) -> Result<(String, Vec<u64>)> {
        let array = described_tensor(layer, &Limits::new())?;
        Ok((array.dtype(), array.shape().to_vec()))
    }

    #[test]
    fn layers_of_python_blosc2_are_understood() {
        let cases: [(&[u8], &str, &[u64]); 4] = [
            (b"\x94\xa9__tuple__\xa5numpy\x93\xa9__tuple__\x02\x03\xa3>i4", ">i4", &[2, 3]),
            (b"\x94\xa9__tuple__\xa5numpy\x91\xa9__tuple__\xa3<f8", "<f8", &[]),
            (b"\x94\xa9__tuple__\xa5numpy\x92\xa9__tuple__\x02\x91\x93\xa9__tuple__\xa0\xa3|V5", "|V5", &[2]),
            (
                b"\x94\xa9__tuple__\xa5numpy\x92\xa9__tuple__\x01\x92\x93\xa9__tuple__\xa3a'b\xa3|S3\
                  \x94\xa9__tuple__\xa1q\xa3<i2\x93\xa9__tuple__\x02\x03",
                "[(\"a'b\", '|S3'), ('q', '<i2', (2, 3))]",
                &[1],
            ),
        ];
        for (layer, dtype, shape) in cases {
            assert_eq!(described(layer).unwrap(), (dtype.to_owned(), shape.to_vec()));
            for len in 0..layer.len() {
                assert!(described(&layer[..len]).is_err());
            }
        }
    }

    #[test]
    fn what_is_no_array_of_plain_items_is_refused_with_the_name_of_the_layer() {
        let message = |layer: &[u8]| described(layer).unwrap_err().to_string();
        assert_eq!(
            message(b"\x94\xa9__tuple__\xa5numpy\x92\xa9__tuple__\x02\xa2|O"),
            "metalayer __pack_tensor__: dtype: \"|O\" is a Python object, which cannot be stored"
        );
        assert_eq!(message(b"\x93\xa1x\x91\xff\xa3<f8"), "metalayer __pack_tensor__: the shape is no list of lengths");
        assert_eq!(message(b"\xc0"), "metalayer __pack_tensor__: a kind, a shape and a type are needed");
    }
}
