//! Which rows are measured.

use crate::arguments::Arguments;
use crate::peer::Peer;
use crate::rows::chunks::{CODECS, Case, FILTERS};
use crate::rows::{self, Row};
use crate::{data, measure};
use blosc_oxide::Codec;

/// Measures all that is asked for, and shows each row as soon as it is there.
pub(crate) fn run(peer: &Peer, arguments: &Arguments, mut add: impl FnMut(Row)) {
    if arguments.wants("filters") {
        filters(peer, arguments, &mut add);
    }
    if arguments.wants("chunks") {
        chunks(peer, arguments, &mut add);
    }
    if arguments.wants("items") {
        items(peer, arguments, &mut add);
    }
    if arguments.wants("frames") {
        frames(peer, arguments, &mut add);
    }
    if arguments.wants("arrays") {
        arrays(peer, arguments, &mut add);
    }
}

/// The speed of copying, in gigabytes a second.
pub(crate) fn memcpy(arguments: &Arguments) -> Vec<(usize, f64)> {
    let lens = [4 << 10, 64 << 10, 2 << 20, 16 << 20];
    lens.map(|len| (len, measure::memcpy(arguments.effort, len))).to_vec()
}

fn filters(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    let lens: &[usize] = if arguments.is_quick { &[32 << 10] } else { &[32 << 10, 256 << 10] };
    for name in rows::filters::NAMES {
        for typesize in [1, 2, 3, 4, 8, 12, 16, 24, 32] {
            for &len in lens {
                if arguments.matches(&[name]) {
                    add(rows::filters::row(peer, arguments.effort, name, typesize, len));
                }
            }
        }
    }
}

fn chunks(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    let lens: &[usize] =
        if arguments.is_quick { &[4 << 10, 256 << 10] } else { &[4 << 10, 16 << 10, 64 << 10, 2 << 20, 16 << 20] };
    let levels: &[u8] = if arguments.is_quick { &[5] } else { &[1, 5, 9] };
    for &len in lens {
        for name in data::NAMES {
            let data = data::data_set(name, rows::chunks::nbytes(len));
            for case in cases(levels) {
                let threads = format!("{}T", case.threads);
                let (level, kib) = (case.level.to_string(), format!("{}KiB", len >> 10));
                // Buffers this small are not worth a second thread, and only the latency at the usual level counts.
                let is_measured = len >= 64 << 10 || (case.threads == 1 && case.level == 5);
                if is_measured && arguments.matches(&[name, case.codec, &level, case.filter, &kib, &threads]) {
                    rows::chunks::rows(peer, arguments.effort, &data, len, case).into_iter().for_each(&mut *add);
                }
            }
        }
    }
}

fn cases(levels: &[u8]) -> impl Iterator<Item = Case> {
    let filtered = move |codec, level| {
        FILTERS.into_iter().flat_map(move |filter| [1, 2].map(|threads| Case { codec, level, filter, threads }))
    };
    CODECS.into_iter().flat_map(move |codec| levels.iter().flat_map(move |&level| filtered(codec, level)))
}

fn items(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    for name in ["linspace_f64", "i32_sequence", "f32_walk", "field3d_f32"] {
        let data = data::data_set(name, 2 << 20);
        for codec in ["blosclz", "lz4", "zstd"] {
            for count in [1, 16, 1024] {
                if arguments.matches(&[name, codec]) {
                    add(rows::items::row(peer, arguments.effort, &data, codec, count));
                }
            }
        }
    }
}

fn frames(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    let nchunks: &[usize] = if arguments.is_quick { &[10_000] } else { &[10_000, 100_000] };
    for &nchunks in nchunks {
        for len in [4 << 10, 64 << 10] {
            rows::frames::rows(peer, arguments.effort, len, nchunks).into_iter().for_each(&mut *add);
        }
    }
    add(rows::frames::to_file(peer, 4 << 10, if arguments.is_quick { 2_000 } else { 100_000 }));
}

/// A quarter of the side makes arrays of 8 MiB instead of 512.
fn arrays(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    let side = if arguments.is_quick { 128 } else { 512 };
    for (codec, level) in [(Codec::Lz4, 5), (Codec::BloscLz, 5), (Codec::Zstd, 1)] {
        for is_rows in [true, false] {
            for threads in [1, 2] {
                let name = codec.to_string();
                if arguments.matches(&[name.as_str(), &format!("{threads}T")]) {
                    let case = rows::arrays::Case { codec, level, threads, is_rows, side };
                    rows::arrays::rows(peer, arguments.effort, case).into_iter().for_each(&mut *add);
                }
            }
        }
    }
}
