//! `blosc verify`

use crate::arguments::cli::Global;
use crate::arguments::inputs::Inputs;
use crate::arguments::size;
use crate::failure::{At, Failure, Outcome, tell};
use crate::inputs::input;
use crate::inputs::source::{Opening, Source};
use crate::inputs::steady::read_steadily;
use crate::outputs::output;
use crate::process::progress::open_shown;
use crate::process::terminal::printable;
use crate::show::facts::{ambiguity, ambiguous_chunks};
use crate::store;
use blosc_oxide::bloscpack::Offsets;
use blosc_oxide::{Error, ErrorKind, Verification, bloscpack::Bloscpack, legacy::PackedSuperChunk, storage::ReadAt};
use clap::Args;
use std::io::Write;
use std::path::Path;

/// Decode everything, check every checksum, and name what is damaged.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    inputs: Inputs,
}

/// How many damaged parts are told one by one, as `Frame::verify` does. A small file can have
/// millions.
const MAX_TOLD: usize = 1000;

/// What was found in a file.
#[derive(Debug, Default)]
struct Found {
    nchunks: u64,
    nbytes: u64,
    checksums: String,
    /// How many parts are damaged.
    damaged: usize,
    /// What is wrong with the first of them.
    damage: Vec<String>,
    /// How many chunks are good, but may hold other data.
    ambiguous: u64,
    /// Why something could not be examined, which may be good.
    obstacle: Option<Error>,
}

impl Found {
    fn note(&mut self, damage: &impl ToString) {
        self.damaged += 1;
        if self.damage.len() < MAX_TOLD {
            self.damage.push(damage.to_string());
        }
    }

    /// The same for what has become of a part of the file.
    fn note_error(&mut self, error: Error) {
        match error.kind() {
            ErrorKind::LimitExceeded | ErrorKind::Unsupported => {
                self.obstacle.get_or_insert(error);
            }
            _ => self.note(&error),
        }
    }

    /// How many parts are damaged besides the first `told`.
    fn more(&self, told: usize) -> Option<usize> {
        self.damaged.checked_sub(told).filter(|&more| more > 0)
    }
}

impl Verify {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let mut worst = Ok(());
        let mut inputs = Vec::new();
        for path in &self.inputs.files()? {
            // Of a store, every member.
            match store::expanded(path, &Opening::new(global)) {
                Ok(paths) => inputs.extend(paths),
                Err(failure) => failure.report_among(&mut worst),
            }
        }
        for path in &inputs {
            match read_steadily(path, || verify(path, global)).map_err(|failure| failure.or_repair(path)) {
                // Whoever reads no more still learns by the exit code that all are good.
                Ok(()) | Err(Failure::ClosedPipe) => {}
                Err(failure) if inputs.len() > 1 => failure.report_among(&mut worst),
                Err(failure) => return Err(failure),
            }
        }
        worst
    }
}

fn verify(path: &Path, global: &Global) -> Outcome {
    let place = input::shown(path);
    let (source, progress) = open_shown(path, "verifying", global)?;
    let found = examine(source).in_data(&place)?;
    drop(progress);
    if found.damaged == 0 {
        found.obstacle.map_or(Ok(()), Err).in_data(&place)?;
        if !global.quiet {
            let (chunks, nbytes) = (counted(found.nchunks, "chunk"), size::display(found.nbytes));
            let checksums = &found.checksums;
            let mut out = output::stdout()?;
            writeln!(out, "{}: good, {chunks}, {nbytes}, {checksums}", printable(&place))?;
            if found.ambiguous > 0 {
                let ambiguity = ambiguity(&counted(found.ambiguous, "chunk"), global.bitshuffle());
                writeln!(out, "{}: {ambiguity}", printable(&place))?;
            }
        }
        return Ok(());
    }
    if global.verbose {
        found.damage.iter().for_each(|damage| tell(format_args!("{place}: {damage}")));
        if let Some(more) = found.more(found.damage.len()) {
            tell(format_args!("{place}: {more} more are damaged"));
        }
        return Err(Failure::Told);
    }
    let more = found.more(1).map_or_else(String::new, |more| format!(", and {more} more"));
    Err(Failure::Damaged(format!("{place}: {}{more}", found.damage[0])))
}

fn examine(source: Source) -> blosc_oxide::Result<Found> {
    match source.into_array()? {
        Ok(array) => {
            let (nbytes, ambiguous) = (array.nbytes(), ambiguous_chunks(array.super_chunk()));
            Ok(of_verification(array.verify()?, nbytes, ambiguous))
        }
        Err(Source::Frame(frame)) => {
            let (nbytes, ambiguous) = (frame.nbytes(), ambiguous_chunks(&frame));
            Ok(of_verification(frame.verify()?, nbytes, ambiguous))
        }
        Err(Source::Chunk(chunk)) => {
            let nbytes = chunk.decompress()?.len() as u64;
            let ambiguous = chunk.header.is_bitshuffle_ambiguous().into();
            Ok(Found { nchunks: 1, nbytes, checksums: "no checksums".to_owned(), ambiguous, ..Found::default() })
        }
        Err(Source::Packed(packed)) => examine_packed(&packed),
        Err(Source::Bloscpack(file)) => examine_bloscpack(&file),
    }
}

/// How many there are of something.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn of_verification(found: Verification, nbytes: u64, ambiguous: u64) -> Found {
    let checksums = match found.checksums {
        0 => "no checksums".to_owned(),
        count => counted(count as u64, "checksum"),
    };
    let damage = found.damage.iter().map(|damage| damage.error.to_string()).collect();
    let obstacle = found.obstacle;
    Found { nchunks: found.chunks as u64, nbytes, checksums, damaged: found.damaged, damage, ambiguous, obstacle }
}

fn examine_packed<R: ReadAt>(packed: &PackedSuperChunk<R>) -> blosc_oxide::Result<Found> {
    let mut found =
        Found { nchunks: packed.nchunks() as u64, checksums: "no checksums".to_owned(), ..Found::default() };
    for index in 0..packed.nchunks() {
        match examine_packed_chunk(packed, index) {
            Ok(nbytes) => found.nbytes += nbytes as u64,
            Err(error) => found.note_error(error),
        }
    }
    Ok(found)
}

/// How much data a chunk holds; of a special one there is nothing to decode.
fn examine_packed_chunk<R: ReadAt>(packed: &PackedSuperChunk<R>, index: usize) -> blosc_oxide::Result<usize> {
    let header = packed.chunk_header(index)?;
    match header.special() {
        Some(_) => packed.chunk(index).map(|_| header.nbytes()),
        None => packed.decompress(index).map(|data| data.len()),
    }
}

/// All chunks at once, and only if something is wrong one by one, to name all that is.
fn examine_bloscpack<R: ReadAt>(file: &Bloscpack<R>) -> blosc_oxide::Result<Found> {
    let checksums = format!("checksums {}", file.header().checksum().name());
    match file.verify() {
        Ok(verified) => {
            let (nchunks, nbytes, trailing) = (verified.nchunks, verified.nbytes, verified.trailing);
            let mut found = Found { nchunks, nbytes, checksums, ..Found::default() };
            if trailing > 0 {
                found.note(&format_args!(
                    "{trailing} bytes behind the last chunk belong to nothing; `blosc repair` cuts them off"
                ));
            }
            Ok(found)
        }
        Err(first) => {
            let mut found = Found { nchunks: file.nchunks()?, checksums, ..Found::default() };
            let is_by_offset = file.offsets()? == Offsets::Sane;
            for index in 0..found.nchunks {
                let Err(error) = file.chunk(index) else { continue };
                found.note_error(error);
                // What lies behind a chunk that cannot be found can only be found by its own
                // offset.
                if !is_by_offset && file.chunk_position(index).is_err() {
                    break;
                }
            }
            if found.damaged == 0 && found.obstacle.is_none() {
                found.note_error(first);
            }
            Ok(found)
        }
    }
}
