//! How JSON is printed: on one line, or the outermost object with each member on a line of its own.

use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// An object whose members keep their order.
pub(crate) fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// The value on one line.
pub(crate) fn line(value: &Value) -> String {
    print(value, Layout { depth: 1 })
}

/// The value with each of its members on a line of its own.
pub(crate) fn lines(value: &Value) -> String {
    print(value, Layout { depth: 0 })
}

fn print(value: &Value, layout: Layout) -> String {
    let mut text = Vec::new();
    serde::Serialize::serialize(value, &mut Serializer::with_formatter(&mut text, layout))
        .expect("memory can be written to, and keys are text");
    String::from_utf8(text).expect("JSON is text")
}

/// Spaces behind commas and colons; lines in the outermost object.
struct Layout {
    /// How many values are around; one more if there are to be no lines.
    depth: usize,
}

impl Layout {
    fn between(&self) -> &'static [u8] {
        if self.depth == 1 { b",\n  " } else { b", " }
    }
}

impl Formatter for Layout {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        write!(out, "{value}")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(if self.depth == 1 { b"{\n  " } else { b"{" })
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let end: &[u8] = if self.depth == 1 { b"\n}" } else { b"}" };
        self.depth -= 1;
        out.write_all(end)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(self.between()) }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::{line, lines, object};
    use serde_json::Value;

    #[test]
    fn members_keep_their_order_and_numbers_are_short() {
        let value = object([
            ("b", Value::from("q\"\n\u{1}ü")),
            ("a", Value::from(vec![1_u64, 2])),
            ("c", Value::from(f64::INFINITY)),
            ("d", Value::from(3.0)),
            ("e", object([("x", Value::Null), ("y", Value::from(0.5))])),
        ]);
        let text =
            "\"b\": \"q\\\"\\n\\u0001ü\", \"a\": [1, 2], \"c\": null, \"d\": 3, \"e\": {\"x\": null, \"y\": 0.5}";
        assert_eq!(line(&value), format!("{{{text}}}"));
        let text = text.replacen(", \"a", ",\n  \"a", 1).replacen(", \"c", ",\n  \"c", 1);
        let text = text.replacen(", \"d", ",\n  \"d", 1).replacen(", \"e", ",\n  \"e", 1);
        assert_eq!(lines(&value), format!("{{\n  {text}\n}}"));
    }
}
