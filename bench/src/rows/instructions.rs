//! The filters on one instruction set, against those of C-Blosc2 built for the same.

use super::Row;
use super::filters::{Theirs, compare_filter};
use crate::measure::Effort;
use blosc_kernels::isa::Isa;

/// Measures one filter.
pub(crate) fn row(
    theirs: Theirs<'_>,
    effort: Effort,
    isa: Isa,
    name: &'static str,
    typesize: usize,
    len: usize,
) -> Row {
    Row {
        area: "instructions",
        name: format!("{} {name} {typesize} {} KiB", isa.name(), len >> 10),
        group: format!("{} {name}", isa.name()),
        nbytes: len,
        pair: compare_filter(effort, isa, theirs, name, typesize, len),
        size: None,
    }
}
