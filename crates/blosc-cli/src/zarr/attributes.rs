//! Attributes, as the text that they were written as: JSON has integers of any length.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// No attributes.
pub(super) const NONE: &str = "{}";

/// The text of the attributes in the text of an object.
pub(super) fn of(object: &[u8]) -> String {
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(object).unwrap_or_default();
    let found = members.get("attributes").map(|found| found.get()).filter(|found| found.starts_with('{'));
    found.unwrap_or(NONE).to_owned()
}

/// The text of an object of other members with these attributes as the last one.
pub(super) fn added(object: &str, attributes: &str) -> String {
    let members = object.strip_suffix('}').unwrap_or(object);
    match members.strip_suffix('\n') {
        Some(members) => format!("{members},\n  \"attributes\": {attributes}\n}}"),
        None => format!("{members}, \"attributes\": {attributes}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{added, of};

    #[test]
    fn the_text_stays_as_it_is() {
        let attributes = r#"{"id": 123456789012345678901234567890, "x": 1.10}"#;
        for object in ["{\"a\": {}}", "{\n  \"a\": {}\n}"] {
            assert_eq!(of(added(object, attributes).as_bytes()), attributes);
        }
        assert_eq!(of(b"{\"attributes\": null}"), "{}");
    }
}
