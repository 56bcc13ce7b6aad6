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
