//! The command line.

use crate::arguments::size;
use crate::commands::{
    append, cat, compact, compress, convert, decompress,
    generate::{completions, man},
    look::{diff, head, info, ls, verify},
    meta, repair, tune,
};
use crate::process::summary::{Done, Totals};
use crate::process::terminal;
use blosc_oxide::{BitshuffleRule, Limits, Threads};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::fmt::Display;
use std::sync::Arc;

/// Where the options that every command has are in its help.
const BEHIND_OWN: usize = 100;

/// Compress, look into, check, convert and repair Blosc files of every kind.
///
/// `blosc FILE` compresses, `blosc -d FILE` decompresses, `-t` verifies and `-l` lists; `-1` to
/// `-9` are levels, `-o` names the result, `-c` writes to standard output, `-f` overwrites. Files
/// are recognised by their content. `-` is standard input or standard output.
#[derive(Debug, Parser)]
#[command(name = "blosc", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 success; 1 data that is damaged or not supported; 2 usage, input and output.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command has. They come behind those of its own in the help, and the help
/// itself is the last.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Say nothing but errors
    #[arg(long, short, global = true, conflicts_with = "verbose", display_order = BEHIND_OWN)]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(long, short, global = true, display_order = BEHIND_OWN)]
    pub(crate) verbose: bool,
    /// Threads to use; 0 is as many as there are cores
    #[arg(long, short = 'T', visible_short_alias = 'j', global = true, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = parse_threads, display_order = BEHIND_OWN)]
    threads: usize,
    /// The most memory to take, besides 100 MB; a part of a file, such as the data of a chunk, may
    /// ask for a quarter of it
    #[arg(long, global = true, value_name = "SIZE", default_value = "4G", value_parser = size::parse)]
    #[arg(display_order = BEHIND_OWN)]
    max_memory: u64,
    /// Read bitshuffled data as C-Blosc2 before 2.0.0.beta.5 wrote it, where the file does not tell
    #[arg(long, global = true, display_order = BEHIND_OWN)]
    old_bitshuffle: bool,
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", display_order = BEHIND_OWN)]
    color: Colour,
    #[arg(skip = true)]
    has_progress: bool,
    /// What has been done, for all who share these options.
    #[arg(skip)]
    totals: Arc<Totals>,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a number is needed, such as 4; 0 is as many as there are cores".to_owned())
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Global {
    /// What a declared size may make us allocate: a quarter of the memory, because a chunk can be
    /// there as data, as it is stored, and before and after a filter in blocks that are as long.
    pub(crate) fn limits(&self) -> Limits {
        Limits::new().with_max_allocation(self.max_part())
    }

    fn max_part(&self) -> usize {
        usize::try_from(self.max_memory / 4).unwrap_or(usize::MAX)
    }

    /// How large a chunk may be that nobody has asked for, so that compressing it stays within the
    /// memory.
    pub(crate) fn max_chunk(&self) -> usize {
        self.max_part() / 4
    }

    /// The rule of bitshuffle where a file does not tell it.
    pub(crate) fn bitshuffle(&self) -> BitshuffleRule {
        if self.old_bitshuffle { BitshuffleRule::Old } else { BitshuffleRule::Current }
    }

    /// Where the work is done.
    pub(crate) fn threads(&self) -> Threads {
        if self.threads == 1 { Threads::serial() } else { Threads::at_most(self.threads) }
    }

    /// The same for each of several workers: on one thread, with a share of the memory, and without
    /// a progress bar among many.
    pub(crate) fn shared_by(&self, workers: usize) -> Self {
        Self { threads: 1, has_progress: false, max_memory: self.max_memory / workers as u64, ..self.clone() }
    }

    /// Whether progress may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        self.has_progress && !self.quiet
    }

    /// Takes note of a file that is done, and tells it if somebody watches.
    pub(crate) fn tell_done(&self, what: impl Display, done: &Done) {
        self.totals.add(done);
        if self.tells_files() {
            done.tell(what);
        }
    }

    /// Tells what was done to all files.
    pub(crate) fn tell_totals(&self) {
        if self.verbose || !self.quiet && terminal::stderr_is_terminal() {
            self.totals.tell();
        }
    }

    /// Whether each file has a line: not where there are many of them at once.
    fn tells_files(&self) -> bool {
        self.verbose || self.shows_progress() && terminal::stderr_is_terminal()
    }

    /// When to use colours.
    pub(crate) fn colour(&self) -> Colour {
        self.color
    }

    /// How many files can be worked on at the same time.
    pub(crate) fn thread_count(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if self.threads == 0 { cores } else { self.threads }
    }
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compress files, or every file of a directory
    #[command(visible_alias = "c")]
    Compress(Box<compress::Compress>),
    /// Decompress files of any format, parts of them, or every compressed file of a directory
    #[command(visible_alias = "d")]
    Decompress(decompress::Decompress),
    /// Show format, shape, sizes, codec, filters and metadata of files
    #[command(visible_alias = "i")]
    Info(info::Info),
    /// List Blosc files, stores and .npy files
    #[command(visible_alias = "l")]
    Ls(ls::Ls),
    /// Print values
    Head(head::Head),
    /// Say whether two files hold the same, and where they first differ
    Diff(diff::Diff),
    /// Decode everything, check every checksum, and name what is damaged
    #[command(visible_alias = "v")]
    Verify(verify::Verify),
    /// Convert a file to another format
    Convert(Box<convert::Convert>),
    /// Append data to a file
    Append(append::Append),
    /// List, print, set and delete metadata
    Meta(meta::Meta),
    /// Reclaim unused space in a frame
    Compact(compact::Compact),
    /// Save what is left of a damaged file
    Repair(repair::Repair),
    /// Decompress files one after the other to standard output
    Cat(cat::Cat),
    /// Find the settings that suit your data
    Tune(tune::Tune),
    /// Print a script that completes the command line
    Completions(completions::Completions),
    /// Write the man pages
    Man(man::Man),
}
