//! What the command line asks for.

use crate::abi::{Abi, Abi2};
use crate::growth::{Commits, Growth};
use crate::install;
use crate::measure::Effort;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: bench compare [--quick] [--busy] [--peer PATH/libblosc2.so] [--peer1 PATH/libblosc.so]
                     [--only AREA] [--match WORD]... [--json FILE] [--html FILE] [--markdown FILE]
       bench report FILE... [--json FILE] [--html FILE] [--markdown FILE]
       bench growth [--max COUNT] [--directory DIR] [--html FILE] [--json FILE]
                    [--markdown FILE]
       bench c-abi [--quick] [--sizes] [--threads COUNT] [--busy] [--ours PATH/libblosc.so] [--peer1 PATH/libblosc.so]
                   [--match WORD]...
       bench c-abi2 [--quick] [--ours PATH/libblosc2.so] [--peer PATH/libblosc2.so]
       bench sizes [--peer PATH/libblosc2.so] [--match WORD]...
       bench commits [--max COUNT] [--directory DIR] [--peer PATH/libblosc2.so] [--markdown FILE]
       bench install
       bench guard [--update]

compare    measures blosc-oxide and the C libraries side by side, on real data
  --quick      fewer rows and shorter samples: less than a minute
  --busy       two threads beside as many busy loops as there are processors, against C-Blosc2 and against our own one
               thread; fails if a row is behind its goal: about eight minutes, one with --quick
  --peer PATH  C-Blosc2; else the variable BLOSC2_LIBRARY names it, else it is what `install` has installed
  --peer1 PATH C-Blosc 1.21; else the variable BLOSC1_LIBRARY names it, else it is what `install` has installed
  --only AREA  one of filters, instructions, chunks, blosc1, dependent, items, frames, arrays
  --match WORD only rows whose name has this word: a codec, a level, a filter, a data set, `64KiB`, `1T`
  --json FILE  writes all rows as JSON
  --html FILE  writes one page with plots
  --markdown FILE  puts the tables into a file that has their places marked, such as bench/README.md
report     puts together what several runs of `compare --json` have measured, on the same machine
growth     measures time and memory of what is done to frames of 10, 100 and so on up to COUNT chunks (10,000,000 unless
           told; DIR, the directory for temporary files unless told, needs 8 GB for them)
c-abi      measures our libblosc.so and C-Blosc's through the C functions of both: the _ctx functions, or with --threads those
           with settings; fails if a row or a mean is behind its goal
  --sizes      compares the lengths of chunks instead, at all levels
  --busy       ours on two threads beside as many busy loops as there are processors, against ours on one thread
c-abi2     measures our libblosc2.so through its C functions: chunks against the Rust interface; appends to a frame on disk,
           slices of super-chunks and of arrays against C-Blosc2; fails if a mean is behind its goal
sizes      compares the lengths of chunks with those of C-Blosc2, and with those of our own lower levels, at all levels; fails
           if one is more than 0.5 % longer
commits    measures appending with a commit after each chunk against C-Blosc2: a program of 20,000 chunks, the size of its
           frame, and one commit in frames of 10, 100 and so on up to COUNT chunks (1,000,000 unless told)
install    puts the newest blosc2 and blosc of PyPI and the data sets into directories under target/, and builds the filters
           of C-Blosc2 for each instruction set
guard      counts instructions under valgrind and fails if an operation takes 3 % more than it did; --update writes the
           counts down";

/// What is to be done.
pub(crate) enum Command {
    Compare(Arguments),
    /// Makes one report of what several runs have measured.
    Report {
        files: Vec<PathBuf>,
        arguments: Arguments,
    },
    Growth(Growth),
    Abi(Abi),
    Abi2(Abi2),
    /// Compares lengths.
    Sizes(Arguments),
    Commits(Commits),
    /// What `growth` runs in a process of its own.
    GrowthStep {
        operation: String,
        nchunks: usize,
        directory: PathBuf,
    },
    Install,
    Guard {
        update: bool,
    },
    /// What `compare --busy` runs beside it.
    Spin,
    /// What `guard` runs under valgrind.
    Operation {
        name: String,
        /// The large frame.
        frame: PathBuf,
    },
    /// What `compare` runs to measure a data set with another build.
    Chunks {
        data: String,
        arguments: Arguments,
    },
}

/// How to compare.
pub(crate) struct Arguments {
    pub(crate) effort: Effort,
    pub(crate) is_quick: bool,
    /// Whether other programs are to compute beside it.
    pub(crate) is_busy: bool,
    pub(crate) peer: PathBuf,
    pub(crate) blosc1: PathBuf,
    pub(crate) only: Option<String>,
    pub(crate) words: Vec<String>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
}

impl Arguments {
    /// Whether rows of an area are wanted.
    pub(crate) fn wants(&self, area: &str) -> bool {
        (area == "busy") == self.is_busy && self.only.as_deref().is_none_or(|only| only == area)
    }

    /// Whether a row with these words in its name is wanted.
    pub(crate) fn matches(&self, name: &[&str]) -> bool {
        self.words.iter().all(|word| name.contains(&word.as_str()))
    }
}

/// Reads the command line.
pub(crate) fn parse(mut given: impl Iterator<Item = String>) -> Result<Command, String> {
    match given.next().as_deref() {
        Some("compare") => compare(given).map(Command::Compare),
        Some("report") => {
            let (files, options) = files_first(given);
            compare(options).map(|arguments| Command::Report { files, arguments })
        }
        Some("c-abi") => abi(given).map(Command::Abi),
        Some("c-abi2") => abi2(given).map(Command::Abi2),
        Some("sizes") => compare(given).map(Command::Sizes),
        Some("growth") => growth(given).map(Command::Growth),
        Some("commits") => commits(given).map(Command::Commits),
        Some("growth-step") => growth_step(given),
        Some("install") => Ok(Command::Install),
        Some("spin") => Ok(Command::Spin),
        Some("guard") => match given.next().as_deref() {
            None => Ok(Command::Guard { update: false }),
            Some("--update") => Ok(Command::Guard { update: true }),
            Some(other) => Err(format!("{other} is not known")),
        },
        Some("chunks") => {
            let data = given.next().ok_or_else(|| "which data set?".to_owned())?;
            compare(given).map(|arguments| Command::Chunks { data, arguments })
        }
        Some("operation") => {
            let (name, frame) = given.next().zip(given.next()).ok_or_else(|| "an operation and a frame".to_owned())?;
            Ok(Command::Operation { name, frame: PathBuf::from(frame) })
        }
        Some(other) => Err(format!("{other} is not a command")),
        None => Err("the command is missing".to_owned()),
    }
}

/// The files that come before the options.
fn files_first(given: impl Iterator<Item = String>) -> (Vec<PathBuf>, impl Iterator<Item = String>) {
    let given: Vec<String> = given.collect();
    let count = given.iter().position(|argument| argument.starts_with("--")).unwrap_or(given.len());
    let options = given[count..].to_vec();
    (given[..count].iter().map(PathBuf::from).collect(), options.into_iter())
}

/// The path that a variable names.
fn path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// C-Blosc2, unless an argument names it.
fn peer() -> PathBuf {
    path("BLOSC2_LIBRARY").or_else(install::library).unwrap_or_else(|| PathBuf::from("libblosc2.so"))
}

fn compare(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let blosc1 = path("BLOSC1_LIBRARY").or_else(install::blosc1_library);
    let mut arguments = Arguments {
        effort: Effort::FULL,
        is_quick: false,
        is_busy: false,
        peer: peer(),
        blosc1: blosc1.unwrap_or_else(|| PathBuf::from("libblosc.so.1")),
        only: None,
        words: Vec::new(),
        json: None,
        html: None,
        markdown: None,
    };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => (arguments.effort, arguments.is_quick) = (Effort::QUICK, true),
            "--busy" => arguments.is_busy = true,
            "--peer" => arguments.peer = PathBuf::from(value()?),
            "--peer1" => arguments.blosc1 = PathBuf::from(value()?),
            "--only" => arguments.only = Some(value()?),
            "--match" => arguments.words.push(value()?),
            "--json" => arguments.json = Some(PathBuf::from(value()?)),
            "--html" => arguments.html = Some(PathBuf::from(value()?)),
            "--markdown" => arguments.markdown = Some(PathBuf::from(value()?)),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(arguments)
}

fn abi(mut given: impl Iterator<Item = String>) -> Result<Abi, String> {
    let blosc1 = path("BLOSC1_LIBRARY").or_else(install::blosc1_library);
    let mut abi = Abi {
        ours: PathBuf::from("target/release/libblosc.so"),
        theirs: blosc1.unwrap_or_else(|| PathBuf::from("libblosc.so.1")),
        effort: Effort::FULL,
        threads: 1,
        is_busy: false,
        only_sizes: false,
        words: Vec::new(),
    };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => abi.effort = Effort::QUICK,
            "--sizes" => abi.only_sizes = true,
            "--busy" => (abi.is_busy, abi.threads) = (true, 2),
            "--threads" => abi.threads = value()?.parse().map_err(|problem| format!("{argument}: {problem}"))?,
            "--ours" => abi.ours = PathBuf::from(value()?),
            "--peer1" => abi.theirs = PathBuf::from(value()?),
            "--match" => abi.words.push(value()?),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(abi)
}

fn abi2(mut given: impl Iterator<Item = String>) -> Result<Abi2, String> {
    let mut abi = Abi2 { ours: PathBuf::from("target/release/libblosc2.so"), theirs: peer(), effort: Effort::FULL };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => abi.effort = Effort::QUICK,
            "--ours" => abi.ours = PathBuf::from(value()?),
            "--peer" => abi.theirs = PathBuf::from(value()?),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(abi)
}

fn growth(mut given: impl Iterator<Item = String>) -> Result<Growth, String> {
    let mut growth =
        Growth { max: 10_000_000, directory: std::env::temp_dir(), html: None, json: None, markdown: None };
    while let Some(argument) = given.next() {
        let value = given.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--max" => growth.max = number(&value)?,
            "--directory" => growth.directory = PathBuf::from(value),
            "--html" => growth.html = Some(PathBuf::from(value)),
            "--json" => growth.json = Some(PathBuf::from(value)),
            "--markdown" => growth.markdown = Some(PathBuf::from(value)),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(growth)
}

fn commits(mut given: impl Iterator<Item = String>) -> Result<Commits, String> {
    let mut commits = Commits { max: 1_000_000, directory: std::env::temp_dir(), peer: peer(), markdown: None };
    while let Some(argument) = given.next() {
        let value = given.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--max" => commits.max = number(&value)?,
            "--directory" => commits.directory = PathBuf::from(value),
            "--peer" => commits.peer = PathBuf::from(value),
            "--markdown" => commits.markdown = Some(PathBuf::from(value)),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(commits)
}

fn growth_step(mut given: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut value = || given.next().ok_or_else(|| "an operation, a number of chunks and a directory".to_owned());
    Ok(Command::GrowthStep { operation: value()?, nchunks: number(&value()?)?, directory: PathBuf::from(value()?) })
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|problem| format!("{text}: {problem}"))
}
