//! The command line.

use crate::commands::{
    append, cat, compact, compress, convert, decompress,
    generate::{completions, man},
    info, meta, repair, tune, verify,
};
use crate::size;
use blosc_oxide::{BitshuffleRule, Limits, Threads};
use clap::{Args, Parser, Subcommand};

/// Where the options that every command has are in its help.
const BEHIND_OWN: usize = 100;

/// Compress, look into, check, convert and mend Blosc files of every kind.
///
/// Files are recognised by their content. `-` is standard input or standard output.
#[derive(Debug, Parser)]
#[command(name = "blosc", version, disable_help_subcommand = true, max_term_width = 100)]
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
    #[arg(long, short = 'j', global = true, value_name = "N", default_value_t = 0, display_order = BEHIND_OWN)]
    threads: usize,
    /// The most memory to take, besides 100 MB; a part of a file, such as the data of a chunk, may
    /// ask for a quarter of it
    #[arg(long, global = true, value_name = "SIZE", default_value = "4G", value_parser = size::parse)]
    #[arg(display_order = BEHIND_OWN)]
    max_memory: u64,
    /// Read bitshuffled data as C-Blosc2 before 2.0.0.beta.5 wrote it, where the file does not tell
    #[arg(long, global = true, display_order = BEHIND_OWN)]
    old_bitshuffle: bool,
    #[arg(skip = true)]
    has_progress: bool,
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

    /// How many files can be worked on at the same time.
    pub(crate) fn thread_count(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if self.threads == 0 { cores } else { self.threads }
    }
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compress a file, or every file of a directory
    #[command(visible_alias = "c")]
    Compress(Box<compress::Compress>),
    /// Decompress a file of any format, a part of it, or every compressed file of a directory
    #[command(visible_alias = "d")]
    Decompress(decompress::Decompress),
    /// Tell what files are
    #[command(visible_alias = "i")]
    Info(info::Info),
    /// Decode everything, check every checksum, and name what is damaged
    #[command(visible_alias = "v")]
    Verify(verify::Verify),
    /// Convert a file to another format
    Convert(Box<convert::Convert>),
    /// Append data to a file
    Append(append::Append),
    /// List, print, set and delete metadata
    Meta(meta::Meta),
    /// Give back the room of what no longer counts
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
