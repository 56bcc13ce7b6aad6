//! `blosc completions`

use crate::arguments::cli::Cli;
use crate::failure::Outcome;
use crate::outputs::output;
use clap::{Arg, Args, Command, CommandFactory, ValueHint};
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
        clap_complete::generate(self.shell, &mut without_files(Cli::command()), "blosc", &mut script);
        Ok(output::stdout()?.write_all(&script)?)
    }
}

/// The command without completing names of files where a number or a word is wanted.
fn without_files(command: Command) -> Command {
    let words = |option: Arg| {
        let takes_value = option.get_action().takes_values() && !option.is_positional();
        let is_word = takes_value && option.get_value_hint() == ValueHint::Unknown;
        if is_word { option.value_hint(ValueHint::Other) } else { option }
    };
    command.mut_args(words).mut_subcommands(without_files)
}
