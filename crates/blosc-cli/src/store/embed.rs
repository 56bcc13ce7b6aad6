//! Frames that hold other frames, as `.b2e` stores do: their data is the others, and a metalayer
//! says where each is.

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
    let members = members.iter().map(|(key, place)| member(key, place, frame.nbytes()));
    let members = members.collect::<Result<Vec<_>>>()?;
    check_apart(&members)?;
    Ok(members)
}

/// Refuses members that share bytes: a small store could hold more than any disk.
fn check_apart(members: &[(String, Embedded)]) -> Result<()> {
    let mut places: Vec<(u64, u64, &str)> = Vec::new();
    for (key, embedded) in members {
        if let Embedded::Frame { offset, len } = embedded {
            places.push((*offset, *len, key));
        }
    }
    places.sort_unstable();
    for pair in places.windows(2) {
        if pair[0].0.saturating_add(pair[0].1) > pair[1].0 {
            return Err(bad(&format!("members {:?} and {:?} overlap", pair[0].2, pair[1].2)));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_lie_inside_and_apart() {
        let place = |offset, len| Embedded::Frame { offset, len };
        let of = |places: &[(&str, u64, u64)]| {
            let members: Vec<_> =
                places.iter().map(|&(key, offset, len)| (key.to_owned(), place(offset, len))).collect();
            check_apart(&members)
        };
        assert!(of(&[("/a", 0, 10), ("/b", 10, 5), ("/c", 15, 0)]).is_ok());
        assert!(of(&[("/a", 0, 10), ("/b", 9, 5)]).unwrap_err().to_string().contains("\"/a\" and \"/b\" overlap"));
        let value = |offset| {
            Value::Map(vec![
                (Value::Text("offset".into()), Value::Int(offset)),
                (Value::Text("length".into()), Value::Int(10)),
            ])
        };
        let key = Value::Text("/a".into());
        assert_eq!(member(&key, &value(90), 100).unwrap().1, place(90, 10));
        assert!(member(&key, &value(91), 100).unwrap_err().to_string().contains("has 10 bytes at 91, there are 100"));
        assert!(member(&key, &value(-1), 100).is_err() && member(&key, &Value::Nil, 100).is_err());
    }
}
