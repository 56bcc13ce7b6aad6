//! `blosc man`

use crate::arguments::cli::Cli;
use crate::failure::{At, Outcome};
use crate::outputs::output::{self, Output, Writing};
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
    #[command(flatten)]
    writing: Writing,
}

impl Man {
    pub(crate) fn run(&self) -> Outcome {
        let mut command = Cli::command();
        command.build();
        let Some(directory) = &self.directory else {
            return Ok(output::stdout()?.write_all(&rendered(&command)?)?);
        };
        let mut pages = Vec::new();
        collect(&command, "blosc", &mut pages)?;
        std::fs::create_dir_all(directory).at_path(directory)?;
        let pages = pages.into_iter().map(|(name, page)| (directory.join(format!("{name}.1")), page));
        let pages: Vec<(PathBuf, Vec<u8>)> = pages.collect();
        pages.iter().try_for_each(|(path, _)| output::check_free(path, self.writing))?;
        pages.iter().try_for_each(|(path, page)| self.write(path, page))
    }

    fn write(&self, path: &Path, page: &[u8]) -> Outcome {
        let output = Output::to(path, self.writing)?;
        output.create()?.write_all(page).at_path(path)?;
        output.finish()
    }
}

/// The page of a command and those of the commands below it, with their names.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) -> Outcome {
    pages.push((name.to_owned(), rendered(command)?));
    let mut below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.try_for_each(|below| collect(below, &format!("{name}-{}", below.get_name()), pages))
}

fn rendered(command: &Command) -> Outcome<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page)?;
    Ok(page)
}
