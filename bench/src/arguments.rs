//! What the command line asks for.

use crate::install;
use crate::measure::Effort;
use std::path::PathBuf;

pub(crate) const USAGE: &str =
    "usage: bench compare [--quick] [--peer PATH/libblosc2.so] [--only AREA] [--match WORD]...
                     [--json FILE] [--html FILE]
       bench install
       bench guard [--update]

compare    measures blosc-oxide and C-Blosc2 side by side
  --quick      fewer rows and shorter samples: 20 to 45 seconds instead of 17 to 30 minutes
  --peer PATH  the C library; else the variable BLOSC2_LIBRARY names it, else it is what `install` has installed
  --only AREA  one of filters, chunks, items, frames, arrays
  --match WORD only rows whose name has this word: a codec, a level, a filter, a data set, `64KiB`, `1T`
  --json FILE  writes all rows as JSON
  --html FILE  writes one page with plots
install    puts the newest blosc2 of PyPI into a virtual environment under target/, and says where the library is
guard      counts instructions under valgrind and fails if an operation takes 10 % more than it did; --update writes the
           counts down";

/// What is to be done.
pub(crate) enum Command {
    Compare(Arguments),
    Install,
    Guard {
        update: bool,
    },
    /// What `guard` runs under valgrind.
    Operation(String),
}

/// How to compare.
pub(crate) struct Arguments {
    pub(crate) effort: Effort,
    pub(crate) is_quick: bool,
    pub(crate) peer: PathBuf,
    pub(crate) only: Option<String>,
    pub(crate) words: Vec<String>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
}

impl Arguments {
    /// Whether rows of an area are wanted.
    pub(crate) fn wants(&self, area: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == area)
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
        Some("install") => Ok(Command::Install),
        Some("guard") => match given.next().as_deref() {
            None => Ok(Command::Guard { update: false }),
            Some("--update") => Ok(Command::Guard { update: true }),
            Some(other) => Err(format!("{other} is not known")),
        },
        Some("operation") => given.next().map(Command::Operation).ok_or_else(|| "which operation?".to_owned()),
        Some(other) => Err(format!("{other} is not a command")),
        None => Err("the command is missing".to_owned()),
    }
}

fn compare(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let peer = std::env::var_os("BLOSC2_LIBRARY").map(PathBuf::from).or_else(install::library);
    let mut arguments = Arguments {
        effort: Effort::FULL,
        is_quick: false,
        peer: peer.unwrap_or_else(|| PathBuf::from("libblosc2.so")),
        only: None,
        words: Vec::new(),
        json: None,
        html: None,
    };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => (arguments.effort, arguments.is_quick) = (Effort::QUICK, true),
            "--peer" => arguments.peer = PathBuf::from(value()?),
            "--only" => arguments.only = Some(value()?),
            "--match" => arguments.words.push(value()?),
            "--json" => arguments.json = Some(PathBuf::from(value()?)),
            "--html" => arguments.html = Some(PathBuf::from(value()?)),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(arguments)
}
