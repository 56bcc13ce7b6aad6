//! The commands: each takes its arguments and does its work with the model beside it.

pub(crate) mod compress;
pub(crate) mod convert;
pub(crate) mod decompress;
pub(crate) mod info;
pub(crate) mod verify;

use crate::cli::{Cli, Command};
use crate::failure::Outcome;

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> Outcome {
    let Cli { global, command } = cli;
    match command {
        Command::Compress(command) => command.run(&global),
        Command::Decompress(command) => command.run(&global),
        Command::Info(command) => command.run(&global),
        Command::Verify(command) => command.run(&global),
        Command::Convert(command) => command.run(&global),
    }
}
