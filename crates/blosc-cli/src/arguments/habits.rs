//! What fingers expect of a compressor: `blosc FILE`, `blosc -d FILE`, and options before the
//! command.
//!
//! The line is rearranged into the form that the parser knows, `blosc COMMAND [OPTIONS] [FILE...]`.

use clap::Command;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

/// Options that stand for a command where none is named.
const MODES: [(char, &[&str], &str); 4] = [
    ('d', &["--decompress", "--uncompress"], "decompress"),
    ('t', &["--test"], "verify"),
    ('l', &["--list"], "ls"),
    ('z', &["--compress"], "compress"),
];

/// The arguments with the command in front of its options.
pub(crate) fn arranged(command: &Command, arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.is_empty() {
        return arguments;
    }
    let line = Line::of(&Options::of(command), &arguments);
    let is_command =
        |word: &OsString| word == "help" || word.to_str().is_some_and(|word| command.find_subcommand(word).is_some());
    if let Some(at) = line.first_word.filter(|&at| is_command(&arguments[at])) {
        arguments[1..=at].rotate_right(1);
        return arguments;
    }
    let asks_for_itself = line.asks_for_help || (arguments.len() == 1 && std::io::stdin().is_terminal());
    let is_unknown = line.first_word.is_some_and(|at| is_no_file(&arguments[at]));
    if asks_for_itself || is_unknown && line.mode.is_none() && line.first_word == Some(1) {
        return arguments;
    }
    let mut arranged = vec![arguments[0].clone(), line.mode.unwrap_or("compress").into()];
    arranged.extend(line.rest);
    arranged
}

/// Whether a word is no name of a file, but perhaps a misspelt command.
fn is_no_file(word: &OsStr) -> bool {
    let looks_like_one = word.to_str().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()));
    looks_like_one && Path::new(word).symlink_metadata().is_err()
}

/// The options that take a value, which is no word of its own.
struct Options {
    short: HashSet<char>,
    long: HashSet<String>,
}

impl Options {
    fn of(command: &Command) -> Self {
        let mut options = Self { short: HashSet::new(), long: HashSet::new() };
        let named = ["compress", "decompress", "verify", "ls"].map(|name| command.find_subcommand(name));
        let all = named.into_iter().flatten().chain([command]).flat_map(Command::get_arguments);
        for option in all.filter(|option| option.get_action().takes_values() && !option.is_positional()) {
            options.short.extend(option.get_short_and_visible_aliases().unwrap_or_default());
            options.long.extend(option.get_long().map(|long| format!("--{long}")));
        }
        options
    }
}

/// What was found in the arguments.
struct Line {
    /// Where the first word is that is neither an option nor the value of one.
    first_word: Option<usize>,
    mode: Option<&'static str>,
    asks_for_help: bool,
    /// All arguments but the first, without the options that stand for a command.
    rest: Vec<OsString>,
}

impl Line {
    fn of(options: &Options, arguments: &[OsString]) -> Self {
        let mut line = Self { first_word: None, mode: None, asks_for_help: false, rest: Vec::new() };
        let mut at = 1;
        while let Some(argument) = arguments.get(at) {
            let text = argument.to_str().unwrap_or_default();
            if text == "--" {
                line.first_word = line.first_word.or(Some(at + 1).filter(|&next| next < arguments.len()));
                line.rest.extend_from_slice(&arguments[at..]);
                break;
            }
            let takes_next = if text.starts_with("--") {
                line.take_long(options, argument, text)
            } else if text.len() > 1 && text.starts_with('-') {
                line.take_short(options, &text[1..])
            } else {
                line.first_word = line.first_word.or(Some(at));
                line.rest.push(argument.clone());
                false
            };
            if takes_next {
                line.rest.extend(arguments.get(at + 1).cloned());
                at += 1;
            }
            at += 1;
        }
        line
    }

    /// Whether the next argument is the value of this one.
    fn take_long(&mut self, options: &Options, argument: &OsString, text: &str) -> bool {
        if let Some((_, _, mode)) = MODES.iter().find(|(_, names, _)| names.contains(&text)) {
            self.mode = Some(mode);
            return false;
        }
        self.asks_for_help |= matches!(text, "--help" | "--version");
        self.rest.push(argument.clone());
        options.long.contains(text)
    }

    /// The same for flags of one letter, `-dkc`.
    fn take_short(&mut self, options: &Options, flags: &str) -> bool {
        let mut kept = String::from("-");
        let mut takes_next = false;
        for (at, flag) in flags.char_indices() {
            if options.short.contains(&flag) {
                kept.push_str(&flags[at..]);
                takes_next = at + flag.len_utf8() == flags.len();
                break;
            }
            match MODES.iter().find(|(short, _, _)| *short == flag) {
                Some((_, _, mode)) => self.mode = Some(mode),
                None => {
                    self.asks_for_help |= matches!(flag, 'h' | 'V');
                    kept.push(flag);
                }
            }
        }
        if kept.len() > 1 {
            self.rest.push(kept.into());
        }
        takes_next
    }
}

#[cfg(test)]
mod tests {
    use super::arranged;
    use crate::arguments::cli::Cli;
    use clap::CommandFactory;
    use std::ffi::OsString;

    fn of(line: &str) -> String {
        let words = line.split(' ').map(OsString::from);
        let words: Vec<String> =
            arranged(&Cli::command(), words).iter().map(|word| word.to_string_lossy().into()).collect();
        words.join(" ")
    }

    #[test]
    fn the_command_comes_first_and_is_found_without_being_named() {
        for (typed, meant) in [
            ("blosc data.bin", "blosc compress data.bin"),
            ("blosc -9 data.bin", "blosc compress -9 data.bin"),
            ("blosc data.bin -d", "blosc decompress data.bin"),
            ("blosc -dkc data.bin", "blosc decompress -kc data.bin"),
            ("blosc -dT2 data.bin", "blosc decompress -T2 data.bin"),
            ("blosc -T 2 -t a b", "blosc verify -T 2 a b"),
            ("blosc --list runs", "blosc ls runs"),
            ("blosc -o out.b2frame data.bin", "blosc compress -o out.b2frame data.bin"),
            ("blosc -9 --codec lz4 compress data.bin", "blosc compress -9 --codec lz4 data.bin"),
            ("blosc -o -d data.bin", "blosc compress -o -d data.bin"),
            ("blosc -q info -- -d", "blosc info -q -- -d"),
            ("blosc -- -d", "blosc compress -- -d"),
            ("blosc ./info", "blosc compress ./info"),
            ("blosc --help", "blosc --help"),
            ("blosc compres", "blosc compres"),
            ("blosc help compress", "blosc help compress"),
        ] {
            assert_eq!(of(typed), meant, "{typed}");
        }
    }
}
