//! What `.zarray` and `zarr.json` say about an array.

use super::chunks::{Coding, Packing};
use super::{Version, attributes, fill, plain};
use crate::arguments::dtype::described;
use crate::failure::{At, Failure, Outcome};
use crate::show::json::{line, lines, object};
use blosc_oxide::{ItemOrder, Limits, NpyHeader};
use serde_json::Value;
use std::path::Path;

/// A description is no longer than this: parsed, it takes up to 35 times as much memory.
const MAX_LEN: usize = 4 << 20;
/// The types of version 3 and their descriptions in NumPy, without the order of bytes.
const TYPES: [(&str, &str); 14] = [
    ("bool", "b1"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("float16", "f2"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
];

/// An array, everything but its chunks.
#[derive(Debug, Clone)]
pub(crate) struct Description {
    pub(crate) version: Version,
    /// Shape and type.
    pub(crate) array: NpyHeader,
    pub(crate) chunks: Vec<u64>,
    /// What is said of the item that missing chunks consist of.
    pub(super) fill_value: Value,
    pub(super) coding: Coding,
    /// How the names of chunks are put together.
    pub(super) separator: char,
    pub(super) has_prefix: bool,
    /// An object, as text.
    pub(super) attributes: String,
    pub(super) dimension_names: Value,
}

impl Description {
    /// Reads the description in a directory.
    pub(crate) fn open(directory: &Path) -> Outcome<Self> {
        let shown = directory.display();
        match Version::of(directory) {
            Some(Version::V3) => {
                let (meta, text) = json(directory, "zarr.json")?;
                Self::of_v3(&meta, attributes::of(&text)).at(shown)
            }
            Some(Version::V2) if directory.join(".zarray").is_file() => {
                Self::of_v2(&json(directory, ".zarray")?.0, attributes_beside(directory)?).at(shown)
            }
            Some(Version::V2) => Err(Failure::data(format!("{shown}: a group of Zarr; name one of the arrays in it"))),
            None => Err(Failure::data(format!("{shown}: neither .zarray nor zarr.json is in it"))),
        }
    }

    fn of_v2(meta: &Value, attributes: String) -> Outcome<Self> {
        let dtype = match &meta["dtype"] {
            Value::String(text) => text.clone(),
            fields @ Value::Array(_) => fields_of(fields)?,
            _ => return Err(missing("dtype")),
        };
        let array = NpyHeader::new(&dtype, lengths(meta, "shape")?, ItemOrder::C)?;
        if meta["filters"].as_array().is_some_and(|filters| !filters.is_empty()) {
            return Err(Failure::data(format!("its filters {} are not supported", meta["filters"])));
        }
        let packing = Packing::of_v2(&meta["compressor"])?;
        let is_fortran = meta["order"] == "F";
        let separator = separator(&meta["dimension_separator"], '.')?;
        let fill_value = meta["fill_value"].clone();
        Ok(Self {
            version: Version::V2,
            chunks: chunk_lengths(lengths(meta, "chunks")?, &array)?,
            array,
            fill_value,
            coding: Coding { packings: vec![packing], transposed: is_fortran.then_some(None) },
            separator,
            has_prefix: false,
            attributes,
            dimension_names: Value::Null,
        })
    }

    fn of_v3(meta: &Value, attributes: String) -> Outcome<Self> {
        if meta["node_type"] == "group" {
            return Err(Failure::data("a group of Zarr; name one of the arrays in it"));
        }
        let name = meta["data_type"].as_str().unwrap_or_default();
        let Some((_, letter)) = TYPES.iter().find(|(known, _)| *known == name) else {
            return Err(Failure::data(format!("its data_type {} is not supported", meta["data_type"])));
        };
        if meta["chunk_grid"]["name"] != "regular" {
            return Err(Failure::data(format!(
                "its chunk_grid {} is not supported: only regular ones are",
                meta["chunk_grid"]["name"]
            )));
        }
        let codecs = meta["codecs"].as_array().ok_or_else(|| missing("codecs"))?;
        let (coding, is_big) = Coding::of_v3(codecs)?;
        let dtype = described(&format!("{}{letter}", if is_big { '>' } else { '<' }));
        let array = NpyHeader::new(&dtype, lengths(meta, "shape")?, ItemOrder::C)?;
        if let Some(Some(order)) = &coding.transposed {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if !sorted.into_iter().eq(0..array.shape().len()) {
                return Err(Failure::data(format!("its order {order:?} is none of {} axes", array.shape().len())));
            }
        }
        if meta["storage_transformers"].as_array().is_some_and(|all| !all.is_empty()) {
            let transformers = &meta["storage_transformers"];
            return Err(Failure::data(format!("its storage_transformers {transformers} are not supported")));
        }
        let keys = &meta["chunk_key_encoding"];
        let (has_prefix, usual) = match keys["name"].as_str().or(keys.as_str()) {
            Some("default") => (true, '/'),
            Some("v2") => (false, '.'),
            _ => return Err(Failure::data(format!("its chunk_key_encoding {keys} is not supported"))),
        };
        let separator = separator(&keys["configuration"]["separator"], usual)?;
        let fill_value = meta["fill_value"].clone();
        Ok(Self {
            version: Version::V3,
            chunks: chunk_lengths(lengths(&meta["chunk_grid"]["configuration"], "chunk_shape")?, &array)?,
            array,
            fill_value,
            coding,
            separator,
            has_prefix,
            attributes,
            dimension_names: meta["dimension_names"].clone(),
        })
    }

    /// The item that missing chunks consist of.
    pub(super) fn fill(&self) -> Outcome<Vec<u8>> {
        fill::bytes(&self.fill_value, &self.array, self.version)
    }

    /// The file of a chunk, below the directory.
    pub(super) fn key(&self, index: &[u64]) -> String {
        let joined = index.iter().map(u64::to_string).collect::<Vec<_>>().join(&self.separator.to_string());
        match (self.has_prefix, index.is_empty()) {
            (true, true) => "c".to_owned(),
            (true, false) => format!("c{}{joined}", self.separator),
            (false, true) => "0".to_owned(),
            (false, false) => joined,
        }
    }

    /// How many chunks there are along each axis.
    pub(crate) fn grid(&self) -> Vec<u64> {
        self.array.shape().iter().zip(&self.chunks).map(|(&length, &chunk)| length.div_ceil(chunk)).collect()
    }

    /// How many bytes a chunk has, those outside of the array included.
    pub(crate) fn chunk_nbytes(&self) -> u64 {
        self.chunks.iter().fold(self.array.itemsize() as u64, |product, &length| product.saturating_mul(length))
    }

    /// What only Zarr has, to be kept in a metalayer.
    pub(crate) fn layer(&self) -> String {
        let members = object(vec![
            ("zarr_format", self.version.number().into()),
            ("fill_value", self.fill_value.clone()),
            ("dimension_names", self.dimension_names.clone()),
        ]);
        attributes::added(&line(&members), &self.attributes)
    }

    /// The same as a file: its name, and the name and text of attributes where they have one of
    /// their own.
    pub(super) fn files(&self, codec: &Value) -> Outcome<Vec<(&'static str, String)>> {
        let (shape, chunks) = (Value::from(self.array.shape()), Value::from(self.chunks.as_slice()));
        if self.version == Version::V2 {
            let dtype = match self.array.dtype() {
                text if text.starts_with('[') => fields_json(&text)?,
                text => Value::from(text),
            };
            let meta = object(vec![
                ("zarr_format", 2.into()),
                ("shape", shape),
                ("chunks", chunks),
                ("dtype", dtype),
                ("compressor", codec.clone()),
                ("fill_value", self.fill_value.clone()),
                ("order", "C".into()),
                ("filters", Value::Null),
                ("dimension_separator", ".".into()),
            ]);
            return Ok(vec![(".zarray", lines(&meta)), (".zattrs", self.attributes.clone())]);
        }
        let dtype = self.array.dtype();
        let letter = dtype.trim_start_matches(['<', '>', '|']);
        let Some((name, _)) = TYPES.iter().find(|(_, known)| *known == letter) else {
            return Err(Failure::usage(format!("Zarr version 3 has no type {dtype}; --zarr-version 2 has")));
        };
        let endian = if dtype.starts_with('>') { "big" } else { "little" };
        let config = |name: &str, of: Value| serde_json::json!({ "name": name, "configuration": of });
        let bytes = match self.array.itemsize() {
            1 => serde_json::json!({ "name": "bytes" }),
            _ => config("bytes", serde_json::json!({ "endian": endian })),
        };
        let mut meta = vec![
            ("zarr_format", 3.into()),
            ("node_type", "array".into()),
            ("shape", shape),
            ("data_type", (*name).into()),
            ("chunk_grid", config("regular", serde_json::json!({ "chunk_shape": chunks }))),
            ("chunk_key_encoding", config("default", serde_json::json!({ "separator": "/" }))),
            ("fill_value", self.fill_value.clone()),
            ("codecs", Value::from(vec![bytes, codec.clone()])),
        ];
        if !self.dimension_names.is_null() {
            meta.push(("dimension_names", self.dimension_names.clone()));
        }
        Ok(vec![("zarr.json", attributes::added(&lines(&object(meta)), &self.attributes))])
    }
}

fn missing(key: &str) -> Failure {
    Failure::data(format!("its description has no {key} that could be understood"))
}

/// What a file in a directory says, and its text.
pub(super) fn json(directory: &Path, name: &str) -> Outcome<(Value, Vec<u8>)> {
    let shown = directory.join(name);
    let limits = Limits::new().with_max_allocation(MAX_LEN);
    let text = plain::read(directory, name, "a description", limits)?;
    let text = text.ok_or_else(|| Failure::data(format!("{}: it is not there", shown.display())))?;
    // Python writes numbers that JSON does not have.
    let value =
        serde_json::from_slice(&text).map_err(|error| Failure::data(format!("{}: {error}", shown.display())))?;
    Ok((value, text))
}

/// The attributes of an array of version 2.
fn attributes_beside(directory: &Path) -> Outcome<String> {
    if directory.join(".zattrs").symlink_metadata().is_err() {
        return Ok(attributes::NONE.to_owned());
    }
    let (value, text) = json(directory, ".zattrs")?;
    let text = String::from_utf8(text).ok().filter(|_| value.is_object());
    text.map(|text| text.trim().to_owned()).ok_or_else(|| missing("attributes"))
}

/// What is between the numbers in the names of chunks.
fn separator(said: &Value, usual: char) -> Outcome<char> {
    match said {
        Value::Null => Ok(usual),
        Value::String(text) if text == "/" => Ok('/'),
        Value::String(text) if text == "." => Ok('.'),
        other => Err(Failure::data(format!("its separator {other} is not supported: \"/\" and \".\" are"))),
    }
}

fn lengths(meta: &Value, key: &str) -> Outcome<Vec<u64>> {
    let lengths = meta[key].as_array().ok_or_else(|| missing(key))?;
    lengths.iter().map(|length| length.as_u64().ok_or_else(|| missing(key))).collect()
}

fn chunk_lengths(chunks: Vec<u64>, array: &NpyHeader) -> Outcome<Vec<u64>> {
    if array.itemsize() == 0 {
        return Err(Failure::data(format!("items of type {} have no bytes", array.dtype())));
    }
    let is_wrong = |&length: &u64| length == 0 || i64::try_from(length).is_err();
    if chunks.len() != array.shape().len() || chunks.iter().any(is_wrong) {
        return Err(Failure::data(format!("chunks of {chunks:?} do not fit an array of {:?}", array.shape())));
    }
    Ok(chunks)
}

/// Fields as Zarr writes them, `[["x", "<f4"]]`, as NumPy describes them.
fn fields_of(fields: &Value) -> Outcome<String> {
    let mut described = Vec::new();
    for field in fields.as_array().into_iter().flatten() {
        let parts = field.as_array().filter(|parts| parts.len() == 2);
        let Some((Some(name), Some(dtype))) = parts.map(|parts| (parts[0].as_str(), parts[1].as_str())) else {
            return Err(Failure::data("fields of fields are not supported"));
        };
        if [name, dtype].into_iter().any(|text| text.contains(['\'', '"', '\\']) || text.contains(char::is_control)) {
            return Err(Failure::data(format!("its field {field} is not supported: quotes and backslashes are not")));
        }
        described.push(format!("('{name}', '{dtype}')"));
    }
    Ok(format!("[{}]", described.join(", ")))
}

/// The same backwards; what is in quotes stays as it is.
fn fields_json(text: &str) -> Outcome<Value> {
    let (mut json, mut quote) = (String::new(), None);
    for c in text.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                json.push('"');
            }
            (Some(end), c) if c == end => {
                quote = None;
                json.push('"');
            }
            (None, '(') => json.push('['),
            (None, ')') => json.push(']'),
            (Some(_), '"') => json.push_str("\\\""),
            (_, c) => json.push(c),
        }
    }
    // Python's backslashes are not those of JSON.
    let found = serde_json::from_str(&json).ok().filter(|_| !text.contains('\\'));
    found.ok_or_else(|| Failure::usage(format!("Zarr has no place for items of type {text}")))
}
