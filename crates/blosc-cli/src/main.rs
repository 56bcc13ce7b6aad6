//! The `blosc` command: one program for every Blosc file.
#![forbid(unsafe_code)]

mod array;
mod cli;
mod commands;
mod failure;
mod inputs;
mod outputs;
mod process;
mod python;
mod show;
mod size;
mod store;
mod tune;

use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    process::signals::survive_size_limit();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match process::instructions::force().and_then(|()| commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Help is no error; everything else that is wrong with the arguments is one of usage, told in one
/// line.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return match error.print() {
            Err(cause) => failure::Failure::from(cause).report(),
            Ok(()) if error.kind() == ErrorKind::DisplayVersion && process::instructions::are_asked_for() => {
                process::instructions::print()
            }
            Ok(()) => ExitCode::SUCCESS,
        };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(failure::USAGE);
    }
    let text = error.render().to_string();
    let cause = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    // Whoever types an option of another compressor, such as -9, does not mean a file of that name.
    let cause = cause.filter(|line| !line.trim_start().starts_with("tip: to pass"));
    let words: Vec<&str> = cause.flat_map(str::split_whitespace).collect();
    failure::Failure::usage(format!("{}; try --help", words.join(" ").trim_start_matches("error: "))).report()
}
