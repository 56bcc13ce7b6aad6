//! The names of the files that chunks are in: numbers, which the reference wants to be dense.

use std::collections::BTreeSet;

/// Numbers that the index does not name.
#[derive(Debug, Default)]
pub(super) struct FreeNumbers {
    gaps: BTreeSet<u64>,
    /// All from here on are free.
    end: u64,
}

impl FreeNumbers {
    pub(super) fn besides(files: &BTreeSet<u64>) -> Self {
        let end = files.last().map_or(0, |last| last + 1);
        // There can be no more gaps than this if numbers are dense, and any number of them if
        // somebody means harm.
        let gaps = (0..end).filter(|file| !files.contains(file)).take(files.len() + 1).collect();
        Self { gaps, end }
    }

    pub(super) fn take(&mut self) -> u64 {
        self.gaps.pop_first().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        })
    }

    pub(super) fn give(&mut self, file: u64) {
        self.gaps.insert(file);
    }
}

/// The name of a chunk's file.
pub(in crate::frame) fn file_name(file: u64) -> String {
    format!("{file:08X}.chunk")
}

/// The number of the chunk's file that has this name.
pub(in crate::frame) fn file_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".chunk")?;
    let is_ours = number.len() == 8 && number.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'));
    u64::from_str_radix(number, 16).ok().filter(|_| is_ours)
}
