//! Types of items: the words that people and NumPy have for them, and the descriptions in files.

use serde_json::Value;

/// The words for which a letter and a size stand in descriptions.
const WORDS: [(&str, &str); 26] = [
    ("bool", "|b1"),
    ("bool_", "|b1"),
    ("int8", "|i1"),
    ("uint8", "|u1"),
    ("byte", "|i1"),
    ("ubyte", "|u1"),
    ("int16", "<i2"),
    ("uint16", "<u2"),
    ("short", "<i2"),
    ("ushort", "<u2"),
    ("int32", "<i4"),
    ("uint32", "<u4"),
    ("int64", "<i8"),
    ("uint64", "<u8"),
    ("int", "<i8"),
    ("uint", "<u8"),
    ("float16", "<f2"),
    ("half", "<f2"),
    ("float32", "<f4"),
    ("single", "<f4"),
    ("float64", "<f8"),
    ("float", "<f8"),
    ("double", "<f8"),
    ("complex64", "<c8"),
    ("complex128", "<c16"),
    ("complex", "<c16"),
];

/// The description that NumPy has for what was typed: `float32`, `datetime64[ns]`, `f4`,
/// `float32,int8`, or a list of fields. What is not known comes back as it is.
pub(crate) fn described(text: &str) -> String {
    let text = text.trim();
    if text.starts_with('[') {
        return fields_described(text).unwrap_or_else(|| text.to_owned());
    }
    if text.contains(',') && !text.contains('[') {
        let fields = text.split(',').enumerate().map(|(at, part)| format!("('f{at}', '{}')", described(part)));
        return format!("[{}]", fields.collect::<Vec<_>>().join(", "));
    }
    simple(text)
}

fn simple(text: &str) -> String {
    let name = text.trim_start_matches("np.").trim_start_matches("numpy.");
    let (order, bare) = match name.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (Some(if order == '=' { '<' } else { order }), &name[1..]),
        _ => (None, name),
    };
    let known = WORDS.iter().find(|(word, _)| *word == bare).map(|(_, known)| (*known).to_owned());
    let time = |word: &str, letter: char| bare.strip_prefix(word).map(|unit| format!("<{letter}8{unit}"));
    let is_letter = bare.starts_with(|c: char| "biufcmMSUVa".contains(c));
    let has_size = bare.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let found = known.or_else(|| time("datetime64", 'M')).or_else(|| time("timedelta64", 'm')).or_else(|| {
        let has_no_order = bare.starts_with(['S', 'V', 'b', 'a']) || matches!(bare, "i1" | "u1");
        (is_letter && has_size).then(|| format!("{}{bare}", if has_no_order { '|' } else { '<' }))
    });
    match (found, order) {
        (Some(found), Some(order)) if !found.starts_with('|') => format!("{order}{}", &found[1..]),
        (Some(found), _) => found,
        (None, _) => text.to_owned(),
    }
}

/// A list of fields with a description for each type in it.
fn fields_described(text: &str) -> Option<String> {
    let fields = parsed(text)?.as_array()?.clone();
    let described: Option<Vec<String>> = fields
        .iter()
        .map(|field| {
            let parts = field.as_array()?;
            let (name, kind) = (parts.first()?.as_str()?, parts.get(1)?);
            let kind = match kind.as_str() {
                Some(kind) => format!("'{}'", described(kind)),
                None => fields_described(&python(kind))?,
            };
            let shape = parts.get(2).map_or_else(String::new, |shape| format!(", {}", tuple(shape)));
            Some(format!("('{name}', {kind}{shape})"))
        })
        .collect();
    Some(format!("[{}]", described?.join(", ")))
}

/// Text of Python's lists, tuples and strings, read as JSON.
fn parsed(text: &str) -> Option<Value> {
    let json: String = text
        .chars()
        .map(|c| match c {
            '\'' => '"',
            '(' => '[',
            ')' => ']',
            c => c,
        })
        .collect();
    let compact: String = json.chars().filter(|c| !c.is_whitespace()).collect::<String>().replace(",]", "]");
    serde_json::from_str(&compact).ok()
}

fn python(value: &Value) -> String {
    value.to_string().replace('"', "'")
}

fn tuple(shape: &Value) -> String {
    let lengths: Vec<String> = match shape.as_array() {
        Some(lengths) => lengths.iter().map(Value::to_string).collect(),
        None => vec![shape.to_string()],
    };
    format!("({},)", lengths.join(", ")).replace(",)", if lengths.len() == 1 { ",)" } else { ")" })
}

/// The word for a description, if it has one.
pub(crate) fn in_words(description: &str) -> String {
    let word = WORDS.iter().find(|(_, known)| *known == description).map(|(word, _)| (*word).to_owned());
    let time = |start: &str, word: &str| description.strip_prefix(start).map(|unit| format!("{word}{unit}"));
    let found = word.or_else(|| time("<M8", "datetime64")).or_else(|| time("<m8", "timedelta64"));
    found.unwrap_or_else(|| description.to_owned())
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub(crate) kind: Kind,
    pub(crate) size: usize,
    /// Whether its highest byte comes first.
    pub(crate) is_big: bool,
}

/// The kinds of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    /// Text of one byte a character.
    Bytes,
    /// Text of four bytes a character.
    Text,
    /// So many of a unit after 1970.
    Datetime(String),
    Timedelta,
    /// Bytes without a meaning.
    Void,
    Struct(Vec<Field>),
}

/// A field of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) offset: usize,
    pub(crate) dtype: Dtype,
    /// How many items it has, and whether it is an array of them.
    pub(crate) count: usize,
    pub(crate) is_array: bool,
}

impl Dtype {
    /// The type that a description of `size` bytes says.
    pub(crate) fn of(description: &str, size: usize) -> Self {
        let found = if description.starts_with('[') {
            parsed(description).as_ref().and_then(Self::of_fields)
        } else {
            Self::of_letter(description)
        };
        found.filter(|found| found.size == size).unwrap_or(Self { kind: Kind::Void, size, is_big: false })
    }

    fn of_letter(description: &str) -> Option<Self> {
        let is_big = description.starts_with('>');
        let bare = description.trim_start_matches(['<', '>', '|', '=']);
        let letter = bare.chars().next()?;
        let rest = &bare[letter.len_utf8()..];
        let (number, unit) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
        let count: usize = number.parse().ok()?;
        let kind = match letter {
            'b' => Kind::Bool,
            'i' => Kind::Int,
            'u' => Kind::Uint,
            'f' => Kind::Float,
            'c' => Kind::Complex,
            'S' | 'a' => Kind::Bytes,
            'U' => Kind::Text,
            'M' => Kind::Datetime(unit.trim_matches(['[', ']']).to_owned()),
            'm' => Kind::Timedelta,
            _ => Kind::Void,
        };
        Some(Self { size: if kind == Kind::Text { 4 * count } else { count }, kind, is_big })
    }

    fn of_fields(fields: &Value) -> Option<Self> {
        let (mut offset, mut all) = (0, Vec::new());
        for field in fields.as_array()? {
            let parts = field.as_array()?;
            let dtype = match parts.get(1)? {
                Value::String(text) => Self::of_letter(text)?,
                nested => Self::of_fields(nested)?,
            };
            let count = parts.get(2).map_or(Some(1), |shape| match shape.as_array() {
                Some(lengths) => lengths.iter().map(|length| usize::try_from(length.as_u64()?).ok()).product(),
                None => usize::try_from(shape.as_u64()?).ok(),
            })?;
            let next = offset + dtype.size.checked_mul(count)?;
            all.push(Field { offset, dtype, count, is_array: parts.len() > 2 });
            offset = next;
        }
        Some(Self { kind: Kind::Struct(all), size: offset, is_big: false })
    }

    /// The bytes of an item with the lowest first; complex numbers come in halves.
    pub(crate) fn little(&self, item: &[u8]) -> Vec<u8> {
        let mut bytes = item.to_vec();
        if self.is_big {
            bytes.reverse();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Kind, described, in_words};

    #[test]
    fn words_of_numpy_have_descriptions() {
        for (typed, description) in [
            ("float32", "<f4"),
            ("np.float32", "<f4"),
            ("int64", "<i8"),
            ("bool", "|b1"),
            ("uint8", "|u1"),
            ("complex64", "<c8"),
            ("datetime64[ns]", "<M8[ns]"),
            ("timedelta64[25s]", "<m8[25s]"),
            ("f4", "<f4"),
            (">f8", ">f8"),
            (">float64", ">f8"),
            ("=i2", "<i2"),
            ("S10", "|S10"),
            ("U5", "<U5"),
            ("float32,int8", "[('f0', '<f4'), ('f1', '|i1')]"),
            ("[('a', 'float32'), ('b', 'S3', (2, 2))]", "[('a', '<f4'), ('b', '|S3', (2, 2))]"),
            ("[('a', [('x', 'int8')], 3)]", "[('a', [('x', '|i1')], (3,))]"),
            ("quaternion", "quaternion"),
        ] {
            assert_eq!(described(typed), description, "{typed}");
        }
    }

    #[test]
    fn descriptions_have_words() {
        for (description, word) in
            [("<f4", "float32"), ("|b1", "bool"), ("<i8", "int64"), ("<M8[ns]", "datetime64[ns]"), (">f4", ">f4")]
        {
            assert_eq!(in_words(description), word);
        }
    }

    #[test]
    fn fields_have_their_places() {
        let dtype = Dtype::of("[('a', '<i4'), ('b', '|S3', (2,))]", 10);
        let Kind::Struct(fields) = dtype.kind else { panic!("it has fields") };
        assert_eq!(fields.iter().map(|field| (field.offset, field.count)).collect::<Vec<_>>(), [(0, 1), (4, 2)]);
        assert_eq!(Dtype::of("<f8", 4).kind, Kind::Void);
    }
}
