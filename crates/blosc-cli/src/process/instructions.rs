//! The instruction set that is used: forced by a variable, told by `--version --verbose`.

use crate::failure::{Failure, Outcome};
use std::io::{self, Write};
use std::process::ExitCode;

/// The variable that forces an instruction set, for whoever looks for a fault.
const VARIABLE: &str = "BLOSC_OXIDE_ISA";

/// Forces what the variable says, if it says something.
pub(crate) fn force() -> Outcome<()> {
    let name = std::env::var_os(VARIABLE).unwrap_or_default();
    if name.is_empty() {
        return Ok(());
    }
    let name = name.to_string_lossy();
    blosc_oxide::isa::force(&name).map_err(|error| Failure::usage(format!("{VARIABLE}: {error}")))
}

/// Whether `--version` comes with a wish for more.
pub(crate) fn are_asked_for() -> bool {
    std::env::args_os().skip(1).any(|argument| argument == "--verbose" || argument == "-v")
}

/// Prints the instruction set in use, and those that could be.
pub(crate) fn print() -> ExitCode {
    if let Err(failure) = force() {
        return failure.report();
    }
    let there_are: Vec<&str> = blosc_oxide::isa::available().collect();
    let used = blosc_oxide::isa::current();
    match writeln!(io::stdout(), "instruction set {used} of {}", there_are.join(", ")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => Failure::from(cause).report(),
    }
}
