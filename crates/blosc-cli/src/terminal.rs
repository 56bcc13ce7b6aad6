//! What a terminal can show.

use std::io::{IsTerminal, stderr, stdout};

/// Whether standard output is a terminal that shows colours.
pub(crate) fn stdout_has_colour() -> bool {
    stdout().is_terminal() && allows_colour()
}

/// Whether standard error is a terminal.
pub(crate) fn stderr_is_terminal() -> bool {
    stderr().is_terminal()
}

/// The convention of no-color.org, and terminals that can do nothing.
fn allows_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
