//! The commands: each takes its arguments and does its work with the model beside it.

pub(crate) mod append;
pub(crate) mod cat;
pub(crate) mod compact;
pub(crate) mod compress;
pub(crate) mod convert;
pub(crate) mod decompress;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod meta;
pub(crate) mod repair;
pub(crate) mod tune;
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
        Command::Cat(command) => command.run(&global),
        Command::Tune(command) => command.run(&global),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Repair(command) => command.run(&global),
        Command::Compact(command) => command.run(&global),
        Command::Meta(command) => command.run(&global),
        Command::Append(command) => command.run(&global),
    }
}
