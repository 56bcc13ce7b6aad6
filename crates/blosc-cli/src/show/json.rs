//! JSON as the output needs it: values are built and printed, never read.

use std::fmt;

/// A JSON value. Members of an object keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(u64),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Self::Int(value as u64)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

/// One line, unless it is printed with `{:#}`: then each member is on a line of its own.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Number(value) if value.is_finite() => write!(f, "{value}"),
            Self::Number(_) => f.write_str("null"),
            Self::Text(text) => quoted(text, f),
            Self::List(values) => {
                f.write_str("[")?;
                for (place, value) in values.iter().enumerate() {
                    f.write_str(if place > 0 { ", " } else { "" })?;
                    write!(f, "{value}")?;
                }
                f.write_str("]")
            }
            Self::Object(members) => object(members, f),
        }
    }
}

fn object(members: &[(&'static str, Json)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (open, between, close) = if f.alternate() { ("{\n  ", ",\n  ", "\n}") } else { ("{", ", ", "}") };
    f.write_str(open)?;
    for (place, (name, value)) in members.iter().enumerate() {
        f.write_str(if place > 0 { between } else { "" })?;
        quoted(name, f)?;
        write!(f, ": {value}")?;
    }
    f.write_str(close)
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn values_are_printed_as_json() {
        let value = Json::Object(vec![
            ("a", Json::from("q\"\n\u{1}ü")),
            ("b", Json::from(vec![1_u64, 2])),
            ("c", Json::Number(f64::INFINITY)),
            ("d", Json::from(None::<u64>)),
        ]);
        assert_eq!(value.to_string(), "{\"a\": \"q\\\"\\n\\u0001ü\", \"b\": [1, 2], \"c\": null, \"d\": null}");
    }
}
