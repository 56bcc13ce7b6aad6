//! What is measured, a file for each kind of row.

pub(crate) mod arrays;
pub(crate) mod busy;
pub(crate) mod chunks;
pub(crate) mod filters;
pub(crate) mod frames;
pub(crate) mod instructions;
pub(crate) mod items;
pub(crate) mod sizes;

use crate::measure::Pair;
use serde_json::{Value, json};

/// One line of the table.
pub(crate) struct Row {
    /// What kind of row, such as `compress`.
    pub(crate) area: &'static str,
    /// What distinguishes it from the other rows of its area.
    pub(crate) name: String,
    /// Rows that are averaged together.
    pub(crate) group: String,
    pub(crate) nbytes: usize,
    pub(crate) pair: Pair,
    /// Our compressed size as a part of theirs, where there is one.
    pub(crate) size: Option<f64>,
}

impl Row {
    /// Ours in gigabytes a second.
    pub(crate) fn speed(&self) -> f64 {
        self.nbytes as f64 / self.pair.ours
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "area": self.area, "group": self.group, "name": self.name, "nbytes": self.nbytes,
            "ours_ns": self.pair.ours, "theirs_ns": self.pair.theirs, "ratio": self.pair.ratio, "size": self.size,
        })
    }

    /// A row that [`to_json`](Self::to_json) has written. The few areas there are stay in memory.
    pub(crate) fn from_json(row: &Value) -> Option<Self> {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        let pair =
            Pair { ours: row["ours_ns"].as_f64()?, theirs: row["theirs_ns"].as_f64()?, ratio: row["ratio"].as_f64()? };
        Some(Self {
            area: text("area")?.leak(),
            name: text("name")?,
            group: text("group")?,
            nbytes: usize::try_from(row["nbytes"].as_u64()?).ok()?,
            pair,
            size: row["size"].as_f64(),
        })
    }
}

/// Memory that starts at a multiple of 4096 plus `offset`, so that where buffers happen to be does
/// not decide.
pub(crate) struct Aligned {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    pub(crate) fn new(len: usize, offset: usize) -> Self {
        let memory = vec![0; len + 8192];
        let start = memory.as_ptr().align_offset(4096) + offset;
        Self { memory, start, len }
    }

    pub(crate) fn of(bytes: &[u8], offset: usize) -> Self {
        let mut aligned = Self::new(bytes.len(), offset);
        aligned.as_mut().copy_from_slice(bytes);
        aligned
    }

    pub(crate) fn as_ref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}
