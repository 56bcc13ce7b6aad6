//! How a run can fail, and the exit code that says so.

use crate::process::progress;
use crate::process::terminal::{self, printable};
use blosc_oxide::{Container, ErrorKind};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The exit code for data that is damaged or not supported.
const DATA: u8 = 1;
/// The exit code for wrong usage, and for input and output that fails.
pub(crate) const USAGE: u8 = 2;

/// The result of a command or a part of one.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Why a run has failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The data is of a kind that is not known or not supported.
    Data(String),
    /// The data asks for more memory than it may have.
    TooLarge(String),
    /// The data is damaged.
    Damaged(String),
    /// The arguments make no sense, or something cannot be read or written.
    Usage(String),
    /// Whoever reads our output has seen enough: not a failure at all.
    ClosedPipe,
    /// Something is damaged, and has been told already.
    Told,
    /// Something could not be read or written, and has been told already.
    ToldUsage,
}

impl Failure {
    /// A failure of usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A failure of data.
    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::Data(message.into())
    }

    /// Prints one line and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Data(message) | Self::TooLarge(message) | Self::Damaged(message) | Self::Usage(message) => {
                tell(message);
            }
            Self::ClosedPipe | Self::Told | Self::ToldUsage => {}
        }
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Told | Self::Data(_) | Self::TooLarge(_) | Self::Damaged(_) => DATA,
            Self::ToldUsage | Self::Usage(_) => USAGE,
        }
    }

    /// Reports the failure of one input of several; what is left in `worst` is the one with the
    /// highest exit code.
    pub(crate) fn report_among(self, worst: &mut Outcome) {
        self.report();
        if worst.as_ref().map_or_else(Self::code, |()| 0) < self.code() {
            *worst = Err(self.told());
        }
    }

    /// The same after it has been reported: only the exit code is left to tell.
    fn told(self) -> Self {
        if matches!(self, Self::Usage(_)) { Self::ToldUsage } else { Self::Told }
    }

    /// The same with what can be done about a damaged file, if it is one of those that can be
    /// mended.
    pub(crate) fn or_repair(self, path: &Path) -> Self {
        let is_frame = matches!(Container::detect_path(path), Ok(Some(Container::Frame | Container::SparseFrame)));
        match self {
            Self::Damaged(message) if is_frame => {
                Self::Damaged(format!("{message}; `blosc repair` saves what is left"))
            }
            other => other,
        }
    }

    /// The same failure with the place where it happened in front, unless that is there already:
    /// the library names files that it has opened by a path.
    fn within(self, place: &dyn Display) -> Self {
        let place = format!("{place}: ");
        let within = |message: String| if message.starts_with(&place) { message } else { place.clone() + &message };
        match self {
            Self::Data(message) => Self::Data(within(message)),
            Self::TooLarge(message) => Self::TooLarge(within(message)),
            Self::Damaged(message) => Self::Damaged(within(message)),
            Self::Usage(message) => Self::Usage(within(message)),
            other => other,
        }
    }
}

/// Prints a line to standard error. That it cannot be written is nothing that could be told.
pub(crate) fn tell(message: impl Display) {
    let (start, end) = if terminal::stderr_has_colour() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let _line = progress::clear();
    let _ = writeln!(io::stderr().lock(), "{start}blosc:{end} {}", printable(&message.to_string()));
}

impl From<blosc_oxide::Error> for Failure {
    fn from(error: blosc_oxide::Error) -> Self {
        Self::of(&error)
    }
}

impl Failure {
    fn of(error: &blosc_oxide::Error) -> Self {
        let cause = error.io_error();
        if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
            return Self::ClosedPipe;
        }
        // What was read to be written again may be what is damaged.
        let inner = cause.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<blosc_oxide::Error>());
        if let Some(inner) = inner {
            return Self::of(inner);
        }
        match error.kind() {
            ErrorKind::LimitExceeded => Self::TooLarge(format!("{error}; --max-memory raises the limit")),
            ErrorKind::Unsupported => Self::Data(error.to_string()),
            ErrorKind::Corrupt | ErrorKind::Truncated | ErrorKind::ChecksumMismatch => Self::Damaged(error.to_string()),
            _ => Self::Usage(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<blosc_oxide::Error>()) {
            Some(inner) => Self::of(inner),
            None if error.kind() == io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            None => Self::Usage(error.to_string()),
        }
    }
}

/// Says where something failed.
pub(crate) trait At<T> {
    /// The same with `place` in front of the message.
    fn at(self, place: impl Display) -> Outcome<T>;

    /// The same for a file.
    fn at_path(self, path: &Path) -> Outcome<T>
    where
        Self: Sized,
    {
        self.at(path.display())
    }

    /// The same for a file that is being read: whatever is wrong with its content is wrong with the
    /// data.
    fn in_data(self, place: impl Display) -> Outcome<T>;
}

impl<T, E: Into<Failure> + Contained> At<T> for Result<T, E> {
    fn at(self, place: impl Display) -> Outcome<T> {
        self.map_err(|error| error.into().within(&place))
    }

    fn in_data(self, place: impl Display) -> Outcome<T> {
        self.map_err(|error| {
            let is_content = error.is_content();
            match error.into() {
                Failure::Usage(message) if is_content => Failure::Data(message),
                other => other,
            }
            .within(&place)
        })
    }
}

/// An error that may be about what a file contains.
pub(crate) trait Contained {
    /// Whether it is about the content, not about getting at it.
    fn is_content(&self) -> bool;
}

impl Contained for blosc_oxide::Error {
    fn is_content(&self) -> bool {
        !matches!(self.kind(), ErrorKind::Io | ErrorKind::Conflict)
    }
}

impl Contained for io::Error {
    fn is_content(&self) -> bool {
        false
    }
}

impl Contained for Failure {
    fn is_content(&self) -> bool {
        false
    }
}
