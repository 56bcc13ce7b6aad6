//! Which rows are measured.

use crate::arguments::Arguments;
use crate::capped::Capped;
use crate::data::{DataSet, formula, real};
use crate::grid::{self, Case};
use crate::peer::{Blosc1, Peer};
use crate::rows::filters::Theirs;
use crate::rows::{self, Row};
use crate::{dependent, measure};
use blosc_kernels::isa::Isa;
use blosc_oxide::{Codec, Format};

/// Where rows go, as soon as they are there.
type Add<'a> = &'a mut dyn FnMut(Row);

/// How much of the data made by formula there is.
const FORMULA_LEN: usize = 16 << 20;
/// What frames hold.
const OF_FRAMES: &str = "seismogram_i32";

/// Measures all that is asked for, and shows each row as soon as it is there.
pub(crate) fn run(
    peer: &Peer,
    blosc1: Option<&mut Blosc1>,
    arguments: &Arguments,
    mut add: impl FnMut(Row),
) -> Result<(), String> {
    let add: Add<'_> = &mut add;
    if arguments.wants("busy") {
        busy(peer, arguments, add)?;
    }
    if arguments.wants("filters") {
        filters(peer, arguments, add);
    }
    if arguments.wants("instructions") {
        instructions(peer, arguments, add);
    }
    if arguments.wants("chunks") {
        chunks(peer, arguments, add)?;
    }
    if let Some(library) = blosc1 {
        blosc1_chunks(library, arguments, add)?;
    }
    if arguments.wants("dependent") {
        dependent::rows(arguments, add)?;
    }
    if arguments.wants("items") {
        items(peer, arguments, add)?;
    }
    if arguments.wants("frames") {
        frames(peer, arguments, add)?;
    }
    if arguments.wants("arrays") {
        arrays(peer, arguments, add)?;
    }
    Ok(())
}

/// The speed of copying, in gigabytes a second.
pub(crate) fn memcpy(arguments: &Arguments) -> Vec<(usize, f64)> {
    let lens = [4 << 10, 64 << 10, 2 << 20, 16 << 20];
    lens.map(|len| (len, measure::memcpy(arguments.effort, len))).to_vec()
}

/// How long the filters take does not depend on what they move.
fn filters(peer: &Peer, arguments: &Arguments, add: Add<'_>) {
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

/// Each instruction set against C-Blosc2 built for the same one; against the whole library for the
/// best, which it finds itself.
fn instructions(peer: &Peer, arguments: &Arguments, add: Add<'_>) {
    for isa in [Isa::Sse2, Isa::Avx2].into_iter().filter(|isa| isa.is_available()) {
        if let Some(capped) = Capped::load(isa.name()) {
            let theirs = |name: &str, typesize, src: &[u8], dst: &mut [u8]| capped.run(name, typesize, src, dst);
            on_instructions(isa, &theirs, arguments, add);
        }
    }
    if Isa::Avx512.is_available() {
        let theirs = |name: &str, typesize, src: &[u8], dst: &mut [u8]| peer.filter(name, typesize, src, dst);
        on_instructions(Isa::Avx512, &theirs, arguments, add);
    }
}

fn on_instructions(isa: Isa, theirs: Theirs<'_>, arguments: &Arguments, add: Add<'_>) {
    for name in rows::filters::NAMES {
        for typesize in [2, 4, 8, 16] {
            for len in [32 << 10, 256 << 10] {
                if arguments.matches(&[name, isa.name()]) {
                    add(rows::instructions::row(theirs, arguments.effort, isa, name, typesize, len));
                }
            }
        }
    }
}

/// The cases whose rows are wanted.
fn wanted<'c>(arguments: &Arguments, data: &str, cases: &'c [Case]) -> Vec<&'c Case> {
    let matches = |case: &&Case| {
        let threads = format!("{}T", case.threads);
        let (level, kib) = (case.level.to_string(), format!("{}KiB", case.len >> 10));
        arguments.matches(&[data, case.codec, &level, case.filter, &kib, &threads])
    };
    cases.iter().filter(matches).collect()
}

/// Gives each real data set that something is wanted of to `measure`: in all cases, if it is one of
/// those that are measured in depth, else in those that are for `every` set.
fn each_set(
    arguments: &Arguments,
    cases: &[Case],
    every: impl Fn(&Case) -> bool,
    mut measure: impl FnMut(&DataSet, Case),
) -> Result<(), String> {
    for name in real::names() {
        let mut wanted = wanted(arguments, name, cases);
        wanted.retain(|case| arguments.is_quick || grid::IN_DEPTH.contains(&name) || every(case));
        if !wanted.is_empty() {
            let data = real::load(name)?;
            wanted.into_iter().filter(|case| is_reached(&data, case)).for_each(|case| measure(&data, *case));
        }
    }
    Ok(())
}

/// Whether the data is nearly as long as the chunk: else it is a row of shorter chunks, which there
/// is one of.
fn is_reached(data: &DataSet, case: &Case) -> bool {
    data.bytes.len() >= case.len / 4
}

fn chunks(peer: &Peer, arguments: &Arguments, add: Add<'_>) -> Result<(), String> {
    let cases = grid::blosc2(arguments.is_quick);
    let mut measure = |data: &DataSet, case| {
        let mut contexts = peer.contexts(case, data.typesize);
        rows::chunks::rows(arguments.effort, data, case, Format::Blosc2, &mut contexts).into_iter().for_each(&mut *add);
    };
    each_set(arguments, &cases, Case::is_for_every_set, &mut measure)?;
    // Chunks that are stored as they are, and special ones: real data has none of them for sure.
    for data in [formula::random(FORMULA_LEN), formula::zeros(FORMULA_LEN)] {
        let wanted = wanted(arguments, data.name, &cases).into_iter().filter(|case| case.is_for_formulas());
        wanted.for_each(|case| measure(&data, *case));
    }
    Ok(())
}

fn busy(peer: &Peer, arguments: &Arguments, add: Add<'_>) -> Result<(), String> {
    let (cases, sample) = (grid::busy(arguments.is_quick), arguments.effort.of_busy());
    let is_wanted = real::names().step_by(if arguments.is_quick { 4 } else { 1 }).collect::<Vec<_>>();
    each_set(
        arguments,
        &cases,
        |_| true,
        |data, case| {
            if is_wanted.contains(&data.name) {
                rows::busy::rows(peer, data, case, sample).into_iter().for_each(&mut *add);
            }
        },
    )
}

fn blosc1_chunks(library: &mut Blosc1, arguments: &Arguments, add: Add<'_>) -> Result<(), String> {
    each_set(arguments, &grid::blosc1(arguments.is_quick), Case::is_usual, |data, case| {
        let mut library = library.configured(case, data.typesize);
        rows::chunks::rows(arguments.effort, data, case, Format::Blosc1, &mut library).into_iter().for_each(&mut *add);
    })
}

fn items(peer: &Peer, arguments: &Arguments, add: Add<'_>) -> Result<(), String> {
    for name in ["elevation_i16", "temperature_f32", "rain_f64", "mesh_f32x3", "borders_f64x2"] {
        let data = real::load(name)?.middle(2 << 20);
        for codec in ["blosclz", "lz4", "zstd"] {
            for count in [1, 16, 1024] {
                if arguments.matches(&[name, codec]) {
                    add(rows::items::row(peer, arguments.effort, &data, codec, count));
                }
            }
        }
    }
    Ok(())
}

fn frames(peer: &Peer, arguments: &Arguments, add: Add<'_>) -> Result<(), String> {
    let nchunks: &[usize] = if arguments.is_quick { &[10_000] } else { &[10_000, 100_000] };
    let data = real::load(OF_FRAMES)?;
    for &nchunks in nchunks {
        for len in [4 << 10, 64 << 10] {
            rows::frames::rows(peer, arguments.effort, data.middle(len), nchunks).into_iter().for_each(&mut *add);
        }
    }
    add(rows::frames::to_file(peer, &data.middle(4 << 10), if arguments.is_quick { 2_000 } else { 100_000 }));
    Ok(())
}

/// Real arrays with all codecs, and one of 512 MiB, larger than any real one here: by formula, with
/// one codec.
fn arrays(peer: &Peer, arguments: &Arguments, add: Add<'_>) -> Result<(), String> {
    for set in rows::arrays::SETS {
        let data = real::load(set.name)?;
        for (codec, level) in [(Codec::Lz4, 5), (Codec::BloscLz, 5), (Codec::Zstd, 1)] {
            array_cases(peer, arguments, set, &data, (codec, level), add);
        }
    }
    if !arguments.is_quick {
        let large = rows::arrays::LARGE;
        array_cases(peer, arguments, large, &formula::field(large.nbytes()), (Codec::Lz4, 5), add);
    }
    Ok(())
}

fn array_cases(
    peer: &Peer,
    arguments: &Arguments,
    set: rows::arrays::Set,
    data: &DataSet,
    (codec, level): (Codec, u8),
    add: Add<'_>,
) {
    for is_peers_cut in [true, false] {
        for threads in [1, 2] {
            let name = codec.to_string();
            if arguments.matches(&[set.name, name.as_str(), &format!("{threads}T")]) {
                let case = rows::arrays::Case { set, codec, level, threads, is_peers_cut };
                rows::arrays::rows(peer, arguments.effort, case, data).into_iter().for_each(&mut *add);
            }
        }
    }
}
