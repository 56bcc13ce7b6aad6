//! Files as rows of a table: what `ls` prints.

use crate::arguments::dtype::in_words;
use crate::arguments::size;
use crate::process::terminal::printable;
use crate::show::facts::{Facts, names, ratio, rounded};
use crate::show::json;
use crate::zarr::Description;
use blosc_oxide::NpyHeader;
use clap::ValueEnum;
use serde_json::Value;
use std::cmp::Reverse;

/// What there is to know about a file, in a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) format: String,
    pub(crate) dtype: Option<String>,
    pub(crate) shape: Option<Vec<u64>>,
    /// The data, and the bytes that the file itself has.
    pub(crate) nbytes: u64,
    pub(crate) stored: u64,
    pub(crate) codec: Option<String>,
    pub(crate) filters: Vec<String>,
}

/// What rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// By name
    Name,
    /// The most data first
    Size,
    /// What takes the most space first
    Stored,
    /// The best ratio first
    Ratio,
}

impl Row {
    /// A Blosc file that has `stored` bytes.
    pub(crate) fn of_facts(name: String, facts: &Facts, stored: u64) -> Self {
        Self {
            name,
            format: facts.format.name(),
            dtype: facts.dtype.clone(),
            shape: facts.shape.clone(),
            nbytes: facts.nbytes,
            stored,
            codec: facts.codec.map(|codec| codec.to_string()),
            filters: names(&facts.filters),
        }
    }

    /// An array that is not compressed.
    pub(crate) fn of_npy(name: String, array: &NpyHeader, stored: u64) -> Self {
        Self {
            name,
            format: "npy".to_owned(),
            dtype: Some(array.dtype()),
            shape: Some(array.shape().to_vec()),
            nbytes: array.nbytes(),
            stored,
            ..Self::default()
        }
    }

    /// An array in a directory of Zarr.
    pub(crate) fn of_zarr(name: String, description: &Description, stored: u64) -> Self {
        let mut row = Self::of_npy(name, &description.array, stored);
        row.format = format!("zarr{}", description.version.number());
        row
    }

    fn cells(&self) -> [String; 8] {
        let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
        [
            printable(&self.name),
            self.format.clone(),
            printable(&or_dash(self.dtype.as_deref().map(in_words).unwrap_or_default())),
            or_dash(self.shape.as_deref().map(shape_text).unwrap_or_default()),
            size::display(self.nbytes),
            size::display(self.stored),
            ratio_text(self.nbytes, self.stored),
            or_dash(
                self.codec
                    .iter()
                    .cloned()
                    .chain([self.filters.join("+")])
                    .filter(|text| !text.is_empty())
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        ]
    }

    fn to_json(&self) -> Value {
        json::object(vec![
            ("file", self.name.as_str().into()),
            ("format", self.format.as_str().into()),
            ("dtype", self.dtype.clone().into()),
            ("shape", self.shape.clone().into()),
            ("nbytes", self.nbytes.into()),
            ("stored", self.stored.into()),
            ("ratio", ratio(self.nbytes, self.stored).map_or(Value::Null, rounded)),
            ("codec", self.codec.clone().into()),
            ("filters", self.filters.clone().into()),
        ])
    }
}

/// Sorts rows; those that are equal by their names.
pub(crate) fn sort(rows: &mut [Row], order: Order) {
    #[expect(clippy::cast_precision_loss, reason = "ratios are compared, not counted")]
    let ratio = |row: &Row| row.nbytes as f64 / row.stored.max(1) as f64;
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    match order {
        Order::Name => {}
        Order::Size => rows.sort_by_key(|row| Reverse(row.nbytes)),
        Order::Stored => rows.sort_by_key(|row| Reverse(row.stored)),
        Order::Ratio => rows.sort_by(|one, other| ratio(other).total_cmp(&ratio(one))),
    }
}

/// The table with a line for each row, and one for all of them if there are several.
pub(crate) fn table(rows: &[Row]) -> String {
    let heading = ["name", "format", "dtype", "shape", "size", "stored", "ratio", "codec, filters"].map(str::to_owned);
    let mut lines: Vec<[String; 8]> = vec![heading];
    lines.extend(rows.iter().map(Row::cells));
    if rows.len() > 1 {
        let (nbytes, stored) = totals(rows);
        let name = format!("{} files", rows.len());
        let ratio = ratio_text(nbytes, stored);
        let [none, dtype, shape, codec] = [(); 4].map(|()| String::new());
        lines.push([name, none, dtype, shape, size::display(nbytes), size::display(stored), ratio, codec]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..8).map(width).collect();
    let text = |line: &[String; 8]| {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            4..=6 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    lines.iter().map(text).collect()
}

/// The same for programs.
pub(crate) fn to_json(rows: &[Row]) -> Value {
    let (nbytes, stored) = totals(rows);
    json::object(vec![
        ("files", Value::Array(rows.iter().map(Row::to_json).collect())),
        ("nbytes", nbytes.into()),
        ("stored", stored.into()),
        ("ratio", ratio(nbytes, stored).map_or(Value::Null, rounded)),
    ])
}

fn totals(rows: &[Row]) -> (u64, u64) {
    (rows.iter().map(|row| row.nbytes).sum(), rows.iter().map(|row| row.stored).sum())
}

/// A shape as Python writes it.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({}{})", lengths.join(", "), if lengths.len() == 1 { "," } else { "" })
}

fn ratio_text(nbytes: u64, stored: u64) -> String {
    ratio(nbytes, stored).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}
