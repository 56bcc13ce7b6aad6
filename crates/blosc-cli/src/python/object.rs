//! Objects of python-blosc2 that look like arrays, but whose data is elsewhere.

use super::msgpack::Value;
use blosc_oxide::{Error, ErrorKind, Limits, Result, Special, SuperChunk};

/// The metalayer of objects that are computed or fetched when they are read, and what releases
/// before 4 called it.
const OBJECT_LAYERS: [&str; 2] = ["b2o", "LazyArray"];
/// The metalayer of a cache of another array.
const PROXY_LAYER: &str = "proxy-source";

/// Refuses a super-chunk that has no data of its own, or not all of it: what its chunks say means
/// nothing.
pub(crate) fn check_has_data(sc: &SuperChunk) -> Result<()> {
    let layer = |name: &&&str| sc.metalayers().get(name).is_some();
    let message = match OBJECT_LAYERS.iter().find(layer) {
        Some(name) => without_data(name, kind(sc, name).as_deref()),
        None if sc.metalayers().get(PROXY_LAYER).is_some() && has_gaps(sc)? => format!(
            "a cache of another array (metalayer {PROXY_LAYER}) that does not have all of its chunks; \
             python-blosc2 fetches them when it is read"
        ),
        None => return Ok(()),
    };
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// What the metalayer says that the object is.
fn kind(sc: &SuperChunk, layer: &str) -> Option<String> {
    let value = Value::parse(sc.metalayers().get(layer)?, &Limits::new()).ok()?;
    value.get("kind").and_then(Value::as_text).map(str::to_owned)
}

fn without_data(layer: &str, kind: Option<&str>) -> String {
    let (what, when) = match kind {
        None | Some("lazyexpr") => ("a saved lazy expression".to_owned(), "computes it"),
        Some("lazyudf") => ("a saved lazy function".to_owned(), "computes it"),
        Some("c2array" | "remote_array") => ("a reference to a remote array".to_owned(), "fetches it"),
        Some(other) => (format!("an object of kind {other:?}"), "makes it"),
    };
    format!("{what} (metalayer {layer}), which has no data of its own; python-blosc2 {when} when it is read")
}

/// Whether chunks are there by name only.
fn has_gaps(sc: &SuperChunk) -> Result<bool> {
    for run in sc.chunk_runs() {
        match run.header {
            Err(error) if error.kind() == ErrorKind::Io => return Err(error),
            // Damage is for whoever reads the chunk.
            _ if run.special == Some(Special::Uninit) => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}
