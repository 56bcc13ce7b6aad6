//! The commands: each takes its arguments and does its work with the model beside it.

pub(crate) mod append;
pub(crate) mod cat;
pub(crate) mod compact;
pub(crate) mod compress;
pub(crate) mod convert;
pub(crate) mod decompress;
pub(crate) mod generate;
pub(crate) mod look;
pub(crate) mod meta;
pub(crate) mod repair;
pub(crate) mod tune;

use crate::arguments::cli::{Cli, Command, Global};
use crate::failure::Outcome;
use crate::process::terminal;

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> Outcome {
    let Cli { global, command } = cli;
    terminal::choose_colour(global.colour());
    let outcome = run_command(command, &global);
    global.tell_totals();
    outcome
}

fn run_command(command: Command, global: &Global) -> Outcome {
    match command {
        Command::Compress(command) => command.run(global),
        Command::Decompress(command) => command.run(global),
        Command::Ls(command) => command.run(global),
        Command::Head(command) => command.run(global),
        Command::Diff(command) => command.run(global),
        Command::Info(command) => command.run(global),
        Command::Verify(command) => command.run(global),
        Command::Convert(command) => command.run(global),
        Command::Cat(command) => command.run(global),
        Command::Tune(command) => command.run(global),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Repair(command) => command.run(global),
        Command::Compact(command) => command.run(global),
        Command::Meta(command) => command.run(global),
        Command::Append(command) => command.run(global),
    }
}
