//! `blosc man`

use crate::cli::Cli;
use crate::failure::{At, Outcome};
use crate::output;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write the man pages, one for `blosc` and one for each command.
///
/// Without DIRECTORY, that of `blosc` itself is printed: `blosc man | man -l -`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to write blosc.1, blosc-compress.1 and the others
    directory: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self) -> Outcome {
        let mut command = Cli::command();
        command.build();
        let Some(directory) = &self.directory else {
            return Ok(output::stdout()?.write_all(&rendered(&command)?)?);
        };
        std::fs::create_dir_all(directory).at_path(directory)?;
        write_all(&command, "blosc", directory)
    }
}

/// The page of a command and those of the commands below it.
fn write_all(command: &Command, name: &str, directory: &Path) -> Outcome {
    let path = directory.join(format!("{name}.1"));
    std::fs::write(&path, rendered(command)?).at_path(&path)?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.into_iter().try_for_each(|below| write_all(below, &format!("{name}-{}", below.get_name()), directory))
}

fn rendered(command: &Command) -> Outcome<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page)?;
    Ok(page)
}
