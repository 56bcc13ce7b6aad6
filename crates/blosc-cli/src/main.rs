//! The `blosc` command: one program for every Blosc file.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod failure;
mod inputs;
mod outputs;
mod process;
mod python;
mod show;
mod store;
mod tune;
mod zarr;

use arguments::cli::Cli;
use arguments::habits;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    process::signals::survive_size_limit();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match process::instructions::force().and_then(|()| commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn parse() -> Result<Cli, clap::Error> {
    let command = Cli::command();
    let arguments = habits::arranged(&command, std::env::args_os());
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
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
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        return failure::Failure::usage(no_such_command(word, error.get(ContextKind::SuggestedSubcommand))).report();
    }
    let text = error.render().to_string();
    let cause = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    // Whoever types an option of another compressor, such as -9, does not mean a file of that name.
    let cause = cause.filter(|line| !line.trim_start().starts_with("tip: to pass"));
    let words: Vec<&str> = cause.flat_map(str::split_whitespace).collect();
    let advice = match error.kind() {
        ErrorKind::MissingRequiredArgument => usage_line(&text).unwrap_or_else(|| "try --help".to_owned()),
        _ => "try --help".to_owned(),
    };
    failure::Failure::usage(format!("{}; {advice}", words.join(" ").trim_start_matches("error: "))).report()
}

/// What to type, without the options that need not be there.
fn usage_line(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("Usage: "))?;
    Some(format!("type {}", line.replace("[OPTIONS] ", "")))
}

/// What a word is that is neither a command nor a file.
fn no_such_command(word: &str, suggested: Option<&ContextValue>) -> String {
    let suggested = match suggested {
        Some(ContextValue::String(command)) => Some(command.clone()),
        Some(ContextValue::Strings(commands)) => commands.last().cloned(),
        _ => None,
    };
    let advice = suggested.map_or_else(|| "try --help".to_owned(), |command| format!("is `blosc {command}` meant?"));
    format!("{word}: there is neither a file nor a command of this name; {advice}")
}
