//! What a terminal can show.

use crate::arguments::cli::Colour;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::sync::OnceLock;

/// What the command line says about colours.
static CHOSEN: OnceLock<Colour> = OnceLock::new();

/// Takes note of what the command line says about colours.
pub(crate) fn choose_colour(colour: Colour) {
    // The first word counts, and there is one.
    let _ = CHOSEN.set(colour);
}

/// Whether standard output shows colours.
pub(crate) fn stdout_has_colour() -> bool {
    has_colour(stdout_is_terminal())
}

/// Whether standard error shows colours.
pub(crate) fn stderr_has_colour() -> bool {
    has_colour(stderr_is_terminal())
}

fn has_colour(is_terminal: bool) -> bool {
    match CHOSEN.get().unwrap_or(&Colour::Auto) {
        Colour::Auto => is_terminal && allows_colour(),
        Colour::Always => true,
        Colour::Never => false,
    }
}

/// How wide the terminal at standard error is; a usual width where that cannot be told.
pub(crate) fn width() -> usize {
    const USUAL: usize = 80;
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(stderr());
        size.ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(USUAL)
    }
    #[cfg(not(unix))]
    {
        USUAL
    }
}

/// Whether standard input is a terminal: nothing comes from there unless somebody types it.
pub(crate) fn stdin_is_terminal() -> bool {
    stdin().is_terminal()
}

/// Whether standard output is a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    stdout().is_terminal()
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

/// Text that comes out of a file or is the name of one, in one line, with nothing in it that a
/// terminal would act on.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_that_is_printed_moves_the_cursor() {
        assert_eq!(printable("Größe \x1b[2J\r\n\u{9b}1m"), "Größe \\u{1b}[2J\\r\\n\\u{9b}1m");
    }
}
