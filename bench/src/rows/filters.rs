//! The filters alone.

use super::{Aligned, Row};
use crate::data::formula;
use crate::measure::{Effort, Pair, compare};
use crate::peer::Peer;
use blosc_kernels::isa::Isa;
use blosc_kernels::{bitshuffle, shuffle};
use std::cell::RefCell;

/// The filters and their inverses.
pub(crate) const NAMES: [&str; 4] = ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"];

/// A filter of C-Blosc2 by name: typesize, source and destination.
pub(crate) type Theirs<'a> = &'a dyn Fn(&str, usize, &[u8], &mut [u8]);

/// Measures one filter.
pub(crate) fn row(peer: &Peer, effort: Effort, name: &'static str, typesize: usize, len: usize) -> Row {
    let len = len / typesize * typesize;
    let theirs = |name: &str, typesize, src: &[u8], dst: &mut [u8]| peer.filter(name, typesize, src, dst);
    let pair = compare_filter(effort, Isa::best(), &theirs, name, typesize, len);
    let kind = if matches!(typesize, 2 | 4 | 8 | 16) { "2, 4, 8, 16" } else { "others" };
    Row {
        area: "filter",
        name: format!("{name} {typesize} {} KiB", len >> 10),
        group: format!("{name} {kind}"),
        nbytes: len,
        pair,
        size: None,
    }
}

/// Our filter on one instruction set against theirs.
///
/// Both write to the same memory: which pages a buffer gets decides how much of it the second-level
/// cache can hold, and two buffers differ by up to a tenth.
pub(crate) fn compare_filter(
    effort: Effort,
    isa: Isa,
    theirs: Theirs<'_>,
    name: &str,
    typesize: usize,
    len: usize,
) -> Pair {
    let src = Aligned::of(&formula::random(len).bytes, 64);
    let dst = RefCell::new(Aligned::new(len, 1088));
    let run = match name {
        "shuffle" => shuffle::shuffle_with,
        "unshuffle" => shuffle::unshuffle_with,
        "bitshuffle" => bitshuffle::bitshuffle_with,
        _ => bitshuffle::bitunshuffle_with,
    };
    let ours = || run(isa, typesize, src.as_ref(), dst.borrow_mut().as_mut());
    let theirs = || theirs(name, typesize, src.as_ref(), dst.borrow_mut().as_mut());
    ours();
    let expected = dst.borrow().as_ref().to_vec();
    dst.borrow_mut().as_mut().fill(0);
    theirs();
    assert!(dst.borrow().as_ref() == expected, "{name} of {typesize} bytes differs");
    compare(effort, ours, theirs)
}
