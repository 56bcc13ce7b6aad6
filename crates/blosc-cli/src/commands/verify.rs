//! `blosc verify`

use crate::cli::Global;
use crate::failure::{At, Failure, Outcome, tell};
use crate::input;
use crate::output;
use crate::progress::open_shown;
use crate::size;
use crate::source::Source;
use crate::terminal::printable;
use blosc_oxide::{Bloscpack, PackedSuperChunk, ReadAt, Verification};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Decode everything, check every checksum, and name what is damaged.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The files; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
}

/// What was found in a file.
#[derive(Debug, Default)]
struct Found {
    nchunks: u64,
    nbytes: u64,
    checksums: String,
    damage: Vec<String>,
}

impl Verify {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let mut worst = Ok(());
        for path in &self.inputs {
            match verify(path, global).map_err(|failure| failure.or_repair(path)) {
                Err(failure) if self.inputs.len() > 1 && !matches!(failure, Failure::ClosedPipe) => {
                    failure.report_among(&mut worst);
                }
                other => other?,
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
    if found.damage.is_empty() {
        if !global.quiet {
            let (chunks, nbytes) = (counted(found.nchunks, "chunk"), size::display(found.nbytes));
            writeln!(output::stdout()?, "{}: good, {chunks}, {nbytes}, {}", printable(&place), found.checksums)?;
        }
        return Ok(());
    }
    let more = found.damage.len() - 1;
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    if global.verbose {
        found.damage.iter().for_each(|damage| tell(format_args!("{place}: {damage}")));
        return Err(Failure::Told);
    }
    Err(Failure::Damaged(format!("{place}: {}{more}", found.damage[0])))
}

fn examine(source: Source) -> blosc_oxide::Result<Found> {
    match source.into_array()? {
        Ok(mut array) => {
            let nbytes = array.nbytes();
            Ok(of_verification(&array.verify()?, nbytes))
        }
        Err(Source::Frame(mut frame)) => {
            let nbytes = frame.nbytes();
            Ok(of_verification(&frame.verify()?, nbytes))
        }
        Err(Source::Chunk(chunk)) => {
            let nbytes = chunk.decompress()?.len() as u64;
            Ok(Found { nchunks: 1, nbytes, checksums: "no checksums".to_owned(), damage: Vec::new() })
        }
        Err(Source::Packed(packed)) => examine_packed(&packed),
        Err(Source::Bloscpack(file)) => examine_bloscpack(&file),
    }
}

/// How many there are of something.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn of_verification(found: &Verification, nbytes: u64) -> Found {
    let checksums = match found.checksums {
        0 => "no checksums".to_owned(),
        count => counted(count as u64, "checksum"),
    };
    let damage = found.damage.iter().map(|damage| damage.error.to_string()).collect();
    Found { nchunks: found.chunks as u64, nbytes, checksums, damage }
}

fn examine_packed<R: ReadAt>(packed: &PackedSuperChunk<R>) -> blosc_oxide::Result<Found> {
    let mut found =
        Found { nchunks: packed.nchunks() as u64, checksums: "no checksums".to_owned(), ..Found::default() };
    for index in 0..packed.nchunks() {
        match packed.decompress(index) {
            Ok(data) => found.nbytes += data.len() as u64,
            Err(error) => found.damage.push(error.to_string()),
        }
    }
    Ok(found)
}

/// All chunks at once, and only if something is wrong one by one, to name all that is.
fn examine_bloscpack<R: ReadAt>(file: &Bloscpack<R>) -> blosc_oxide::Result<Found> {
    let checksums = format!("checksums {}", file.header().checksum().name());
    match file.verify() {
        Ok(verified) => {
            let mut damage = Vec::new();
            if verified.trailing > 0 {
                let trailing = verified.trailing;
                damage.push(format!(
                    "{trailing} bytes behind the last chunk belong to nothing; `blosc repair` cuts them off"
                ));
            }
            Ok(Found { nchunks: verified.nchunks, nbytes: verified.nbytes, checksums, damage })
        }
        Err(first) => {
            let nchunks = file.nchunks()?;
            let damaged = (0..nchunks).filter_map(|index| file.chunk(index).err().map(|error| error.to_string()));
            let damage: Vec<String> = damaged.collect();
            let damage = if damage.is_empty() { vec![first.to_string()] } else { damage };
            Ok(Found { nchunks, nbytes: 0, checksums, damage })
        }
    }
}
