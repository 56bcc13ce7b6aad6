//! `blosc completions`

use crate::cli::Cli;
use crate::failure::Outcome;
use crate::outputs::output;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Print a script that completes the command line, to be put where the shell looks for it.
///
/// bash: `blosc completions bash > ~/.local/share/bash-completion/completions/blosc`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "blosc", &mut script);
        Ok(output::stdout()?.write_all(&script)?)
    }
}
