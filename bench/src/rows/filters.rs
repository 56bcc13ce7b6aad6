//! The filters alone.

use super::{Aligned, Row};
use crate::data::formula;
use crate::measure::{Effort, compare};
use crate::peer::Peer;
use blosc_kernels::{bitshuffle, shuffle};

/// The filters and their inverses.
pub(crate) const NAMES: [&str; 4] = ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"];

/// Measures one filter.
pub(crate) fn row(peer: &Peer, effort: Effort, name: &'static str, typesize: usize, len: usize) -> Row {
    let len = len / typesize * typesize;
    let src = Aligned::of(&formula::random(len).bytes, 64);
    let (mut ours, mut theirs) = (Aligned::new(len, 1088), Aligned::new(len, 1088));
    let run = match name {
        "shuffle" => shuffle::shuffle,
        "unshuffle" => shuffle::unshuffle,
        "bitshuffle" => bitshuffle::bitshuffle,
        _ => bitshuffle::bitunshuffle,
    };
    let pair = compare(
        effort,
        || run(typesize, src.as_ref(), ours.as_mut()),
        || peer.filter(name, typesize, src.as_ref(), theirs.as_mut()),
    );
    assert!(ours.as_ref() == theirs.as_ref(), "{name} of {typesize} bytes differs");
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
