//! The filters on one instruction set, against those of C-Blosc2 built for the same.

use super::{Aligned, Row};
use crate::data::formula;
use crate::measure::{Effort, compare};
use blosc_kernels::isa::Isa;
use blosc_kernels::{bitshuffle, shuffle};

/// A filter of C-Blosc2 by name: typesize, source and destination.
pub(crate) type Theirs<'a> = &'a dyn Fn(&str, usize, &[u8], &mut [u8]);

/// Measures one filter.
pub(crate) fn row(
    theirs: Theirs<'_>,
    effort: Effort,
    isa: Isa,
    name: &'static str,
    typesize: usize,
    len: usize,
) -> Row {
    let run_theirs = theirs;
    let src = Aligned::of(&formula::random(len).bytes, 64);
    let (mut ours, mut theirs) = (Aligned::new(len, 1088), Aligned::new(len, 1088));
    let run = match name {
        "shuffle" => shuffle::shuffle_with,
        "unshuffle" => shuffle::unshuffle_with,
        "bitshuffle" => bitshuffle::bitshuffle_with,
        _ => bitshuffle::bitunshuffle_with,
    };
    let pair = compare(
        effort,
        || run(isa, typesize, src.as_ref(), ours.as_mut()),
        || run_theirs(name, typesize, src.as_ref(), theirs.as_mut()),
    );
    assert!(ours.as_ref() == theirs.as_ref(), "{name} of {typesize} bytes differs");
    Row {
        area: "instructions",
        name: format!("{} {name} {typesize} {} KiB", isa.name(), len >> 10),
        group: format!("{} {name}", isa.name()),
        nbytes: len,
        pair,
        size: None,
    }
}
