//! A few items out of a chunk.

use super::{Aligned, Row};
use crate::data::DataSet;
use crate::measure::{Effort, compare};
use crate::peer::{Params, Peer};
use blosc_oxide::{Chunk, Codec, Decompressor, Filter, Threads};

/// Measures reading `count` items from the middle of a chunk with shuffle.
pub(crate) fn row(peer: &Peer, effort: Effort, data: &DataSet, codec: &'static str, count: usize) -> Row {
    let code = Codec::from_name(codec).expect("a codec that is built in").code();
    let params = Params { codec: code, level: 5, filter: Filter::Shuffle.id(), typesize: data.typesize, threads: 1 };
    let mut bytes = vec![0; data.bytes.len() + 32];
    let len = peer.compressor(params).compress(&data.bytes, &mut bytes);
    let bytes = Aligned::of(&bytes[..len], 64);
    let chunk = Chunk::parse(bytes.as_ref()).expect("a good chunk");
    let nitems = data.bytes.len() / data.typesize;
    let (mut ours, mut theirs) = (vec![0; count * data.typesize], vec![0; count * data.typesize]);
    let mut decompressor = Decompressor::new().with_threads(Threads::serial());
    let mut context = peer.decompressor(1);
    let (mut our_turn, mut their_turn) = (0, 0);
    // The same places for both, spread over the blocks and never the start of one.
    let place = |turn: &mut usize| {
        *turn += 1;
        (*turn * 7919 + 11) % (nitems - count)
    };
    let pair = compare(
        effort,
        || decompressor.items_into(&chunk, place(&mut our_turn), &mut ours).expect("a good chunk"),
        || context.items(bytes.as_ref(), place(&mut their_turn), count, &mut theirs),
    );
    Row {
        area: "items",
        name: format!("{} {codec} {count} items of {} KiB", data.name, data.bytes.len() >> 10),
        group: format!("{codec} {count}"),
        nbytes: count * data.typesize,
        pair,
        size: None,
    }
}
