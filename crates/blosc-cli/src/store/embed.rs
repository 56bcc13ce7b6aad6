//! Frames that hold other frames, as `.b2e` stores do: their data is the others, and a metalayer says where each is.

use crate::python::msgpack::Value;
use blosc_oxide::{Error, ErrorKind, Frame, Limits, Result};

/// The metalayer that tells such a frame.
const LAYER: &str = "b2embed";
/// What it is instead in a store with files of their own.
const OUTER_LAYERS: [&str; 2] = ["b2dict", "b2tree"];
/// The variable-length metalayer with the map.
const MAP_LAYER: &str = "estore_metadata";

/// Something that is embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Embedded {
    /// A frame: where it is in the data.
    Frame { offset: u64, len: u64 },
    /// A reference to an array on a server.
    Remote { url: String },
}

/// Whether a frame is a store.
pub(super) fn is_store(frame: &Frame) -> bool {
    frame.metalayers().get(LAYER).is_some() || is_of_store(frame)
}

/// Whether a frame belongs to a store with files of their own.
pub(super) fn is_of_store(frame: &Frame) -> bool {
    OUTER_LAYERS.iter().any(|name| frame.metalayers().get(name).is_some())
}

/// What a frame holds, by keys.
pub(super) fn embedded(frame: &Frame, limits: &Limits) -> Result<Vec<(String, Embedded)>> {
    let Some(layer) = frame.vlmetalayers().get(MAP_LAYER)? else { return Ok(Vec::new()) };
    let value = Value::parse(&layer, limits)?;
    let Some(Value::Map(members)) = value.get("embed_map") else { return Err(bad("there is no embed_map")) };
    members.iter().map(|(key, place)| member(key, place, frame.nbytes())).collect()
}

fn member(key: &Value, place: &Value, nbytes: u64) -> Result<(String, Embedded)> {
    let key = key.as_text().ok_or_else(|| bad("a key is no text"))?;
    let field = |name: &str| place.get(name).and_then(Value::as_u64);
    if let Some(base) = place.get("urlbase").and_then(Value::as_text) {
        let path = place.get("path").and_then(Value::as_text).unwrap_or_default();
        return Ok((key.to_owned(), Embedded::Remote { url: format!("{base} {path}") }));
    }
    let (Some(offset), Some(len)) = (field("offset"), field("length")) else {
        return Err(bad(&format!("member {key:?} has no offset and length")));
    };
    if offset.checked_add(len).is_none_or(|end| end > nbytes) {
        return Err(bad(&format!("member {key:?} has {len} bytes at {offset}, there are {nbytes}")));
    }
    Ok((key.to_owned(), Embedded::Frame { offset, len }))
}

fn bad(message: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("metalayer {MAP_LAYER}: {message}"))
}
