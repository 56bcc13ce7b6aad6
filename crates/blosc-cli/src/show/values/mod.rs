//! Values as text, in NumPy's manner; bytes in hex.

mod layout;
mod real;
mod time;

pub(crate) use layout::printed;

use crate::arguments::dtype::{Dtype, Kind};
use real::{Real, Reals};

/// The text of each item, all as wide as the widest where NumPy aligns them.
pub(crate) fn texts(dtype: &Dtype, items: &[&[u8]]) -> Vec<String> {
    let texts = unaligned(dtype, items);
    let is_aligned = !matches!(dtype.kind, Kind::Text | Kind::Bytes | Kind::Void | Kind::Struct(_));
    if !is_aligned {
        return texts;
    }
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

fn unaligned(dtype: &Dtype, items: &[&[u8]]) -> Vec<String> {
    let size = dtype.size;
    let each = |text: &dyn Fn(&[u8]) -> String| items.iter().map(|item| text(item)).collect::<Vec<_>>();
    match &dtype.kind {
        Kind::Bool => each(&|item| if item.first() == Some(&0) { "False" } else { "True" }.to_owned()),
        Kind::Int => each(&|item| signed(&dtype.little(item)).to_string()),
        Kind::Uint => each(&|item| unsigned(&dtype.little(item)).to_string()),
        Kind::Float if matches!(size, 2 | 4 | 8) => {
            let reals: Vec<Real> = items.iter().map(|item| Real::of(&dtype.little(item))).collect();
            let form = Reals::of(&reals, false);
            reals.iter().map(|real| form.text(real)).collect()
        }
        Kind::Complex if matches!(size, 8 | 16) => complex(dtype, items),
        Kind::Bytes => each(&|item| format!("b'{}'", trimmed(item).escape_ascii())),
        Kind::Text => each(&|item| format!("'{}'", text(dtype, item))),
        Kind::Datetime(unit) => each(&|item| time::datetime(signed(&dtype.little(item)), unit)),
        Kind::Timedelta => each(&|item| time::timedelta(signed(&dtype.little(item)))),
        Kind::Struct(fields) => structs(fields, items),
        Kind::Float | Kind::Complex | Kind::Void => each(&|item| format!("b'{}'", item.escape_ascii())),
    }
}

/// A column of texts for each field, put together item by item.
fn structs(fields: &[crate::arguments::dtype::Field], items: &[&[u8]]) -> Vec<String> {
    let columns: Vec<Vec<String>> = fields
        .iter()
        .map(|field| {
            let size = field.dtype.size;
            let parts = |item: &&[u8]| {
                let start = field.offset.min(item.len());
                item[start..].chunks(size.max(1)).take(field.count).map(<[u8]>::to_vec).collect::<Vec<_>>()
            };
            let all: Vec<Vec<u8>> = items.iter().flat_map(parts).collect();
            let slices: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
            let texts = texts(&field.dtype, &slices);
            match field.is_array {
                false => texts,
                true => texts.chunks(field.count.max(1)).map(|texts| format!("[{}]", texts.join(", "))).collect(),
            }
        })
        .collect();
    let row = |at: usize| columns.iter().filter_map(|column| column.get(at).cloned()).collect::<Vec<_>>().join(", ");
    (0..items.len()).map(|at| format!("({})", row(at))).collect()
}

fn complex(dtype: &Dtype, items: &[&[u8]]) -> Vec<String> {
    let half = dtype.size / 2;
    let part = |item: &[u8], at: usize| Real::of(&dtype.little(&item[at * half..(at + 1) * half]));
    let parts = |at: usize| items.iter().map(|item| part(item, at)).collect::<Vec<_>>();
    let (reals, imaginaries) = (parts(0), parts(1));
    let (form, signed) = (Reals::of(&reals, false), Reals::of(&imaginaries, true));
    let text = |(real, imaginary): (&Real, &Real)| {
        let imaginary = signed.text(imaginary);
        let bare = imaginary.trim_end();
        format!("{}{bare}j{}", form.text(real), &imaginary[bare.len()..])
    };
    reals.iter().zip(&imaginaries).map(text).collect()
}

fn unsigned(little: &[u8]) -> u128 {
    little.iter().take(16).rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

fn signed(little: &[u8]) -> i128 {
    let bits = 8 * little.len().clamp(1, 16);
    let value = unsigned(little).cast_signed();
    if bits == 128 || value >> (bits - 1) & 1 == 0 { value } else { value - (1 << bits) }
}

/// NumPy takes zeros at the end for padding.
fn trimmed(item: &[u8]) -> &[u8] {
    let len = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &item[..len]
}

fn text(dtype: &Dtype, item: &[u8]) -> String {
    let points = item.chunks_exact(4).map(|point| {
        let point: [u8; 4] = point.try_into().unwrap_or_default();
        if dtype.is_big { u32::from_be_bytes(point) } else { u32::from_le_bytes(point) }
    });
    let text: String = points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.trim_end_matches('\0')
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// Sixteen bytes on a line, with their places and what they are as text.
pub(crate) fn hex(bytes: &[u8], start: u64) -> String {
    let line = |(at, part): (u64, &[u8])| {
        let (first, second) = part.split_at(part.len().min(8));
        let hex = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let shown = |&byte: &u8| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' };
        let text: String = part.iter().map(shown).collect();
        format!("{:08x}  {:<23}  {:<23}  {text}\n", start + 16 * at, hex(first), hex(second))
    };
    (0..).zip(bytes.chunks(16)).map(line).collect()
}
