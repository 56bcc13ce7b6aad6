//! The error type: a kind to match on and a sentence with numbers to read.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, for code that decides by it.
///
/// ```
/// use blosc_oxide::{ErrorKind, decompress};
/// match decompress(b"nonsense") {
///     Ok(data) => println!("{} bytes", data.len()),
///     Err(error) if error.kind() == ErrorKind::Unsupported => println!("another build may read it: {error}"),
///     Err(error) => println!("damaged: {error}"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option, range or buffer given by the caller is not valid.
    InvalidArgument,
    /// The bytes are not valid in their format.
    Corrupt,
    /// The bytes end before what they announce.
    Truncated,
    /// The bytes may be fine, but this build or version cannot read or write them.
    Unsupported,
    /// A declared size asks for more than [`Limits`](crate::Limits) allow.
    LimitExceeded,
    /// A checksum does not match what it covers.
    ChecksumMismatch,
    /// The output buffer is shorter than the result.
    OutputTooSmall,
    /// Another handle or process has the lock, or the right to write.
    Locked,
    /// Another handle or process has committed since this state was read or this edit began.
    Conflict,
    /// An earlier failed write has made this handle unusable.
    Poisoned,
    /// The operating system reported an error.
    Io,
}

/// An error: one word wide, with a [`kind`](Error::kind) and a message that names fields and
/// numbers.
///
/// ```
/// let error = blosc_oxide::decompress(&[2, 1, 0]).unwrap_err();
/// assert_eq!(error.kind(), blosc_oxide::ErrorKind::Truncated);
/// assert_eq!(error.to_string(), "chunk header: 16 bytes needed, 3 given");
/// ```
pub struct Error(Box<Repr>);

struct Repr {
    kind: ErrorKind,
    message: Cow<'static, str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// Whether the message ends with that of the source.
    repeats_source: bool,
}

impl Error {
    /// Makes an error; plug-in codecs and filters report with this.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Repr { kind, message: message.into(), source: None, repeats_source: false }))
    }

    /// Makes an error out of line, so that the code around a check stays small enough to be
    /// inlined.
    #[cold]
    #[inline(never)]
    pub(crate) fn formatted(kind: ErrorKind, message: fmt::Arguments<'_>) -> Self {
        Self::new(kind, message.to_string())
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The same error with `place` put before its message.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub(crate) fn within(mut self, place: impl fmt::Display) -> Self {
        self.0.message = format!("{place}: {}", self.0.message).into();
        self
    }

    /// The same error with the file that it is about before its message, unless that is there.
    #[must_use]
    #[cold]
    fn in_file(self, path: &Path) -> Self {
        let is_named = self.0.message.starts_with(&format!("{}: ", path.display()));
        if is_named { self } else { self.within(path.display()) }
    }

    /// The same error with the error that caused it.
    ///
    /// If the message ends with that of the cause, [`source`](std::error::Error::source) gives the
    /// cause of the cause, so that printing the whole chain repeats nothing.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = source.into();
        self.0.repeats_source = self.0.message.ends_with(&source.to_string());
        self.0.source = Some(source);
        self
    }

    /// The error of the operating system that caused this one, if that is the reason.
    ///
    /// ```
    /// let error = blosc_oxide::Error::from(std::io::Error::from_raw_os_error(28));
    /// assert_eq!(error.io_error().and_then(std::io::Error::raw_os_error), Some(28));
    /// ```
    #[must_use]
    pub fn io_error(&self) -> Option<&std::io::Error> {
        self.0.source.as_deref().and_then(|source| source.downcast_ref())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        if self.0.repeats_source { source.source() } else { Some(source) }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, error.to_string()).with_source(error)
    }
}

impl From<ErrorKind> for std::io::ErrorKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidArgument => Self::InvalidInput,
            ErrorKind::Corrupt | ErrorKind::ChecksumMismatch => Self::InvalidData,
            ErrorKind::Truncated => Self::UnexpectedEof,
            ErrorKind::Unsupported => Self::Unsupported,
            ErrorKind::Locked => Self::WouldBlock,
            _ => Self::Other,
        }
    }
}

impl From<Error> for std::io::Error {
    /// The error of the operating system keeps its kind; the whole error is its source.
    fn from(error: Error) -> Self {
        let source = error.0.source.as_deref().and_then(|source| source.downcast_ref::<Self>());
        let kind = source.map_or_else(|| error.kind().into(), Self::kind);
        Self::new(kind, error)
    }
}

/// Results of what is done to a file.
pub(crate) trait AtPath<T> {
    /// The same, with an error that names the file.
    fn at_path(self, path: &Path) -> Result<T>;
}

impl<T, E: Into<Error>> AtPath<T> for std::result::Result<T, E> {
    fn at_path(self, path: &Path) -> Result<T> {
        self.map_err(|error| error.into().in_file(path))
    }
}

/// Makes an [`Error`] of a kind from a format string.
macro_rules! error {
    ($kind:ident, $($message:tt)+) => {
        $crate::error::Error::formatted($crate::error::ErrorKind::$kind, format_args!($($message)+))
    };
}

/// Returns with an [`Error`] of a kind made from a format string.
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::error::error!($kind, $($message)+))
    };
}

pub(crate) use {bail, error};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_word_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn the_place_comes_before_the_message() {
        let error = error!(Corrupt, "block {} is bad", 3).within("chunk 7");
        assert_eq!(error.to_string(), "chunk 7: block 3 is bad");
        assert_eq!(format!("{error:?}"), "Corrupt: chunk 7: block 3 is bad");
    }

    #[test]
    fn an_io_error_made_of_an_error_keeps_its_kind() {
        let missing = Error::from(std::io::Error::from(std::io::ErrorKind::NotFound));
        assert_eq!(std::io::Error::from(missing).kind(), std::io::ErrorKind::NotFound);
        let corrupt = std::io::Error::from(error!(Corrupt, "block 3 is bad"));
        assert_eq!((corrupt.kind(), corrupt.to_string().as_str()), (std::io::ErrorKind::InvalidData, "block 3 is bad"));
    }

    #[test]
    fn an_io_error_can_be_asked_for() {
        let error = Error::from(std::io::Error::other("disk on fire"));
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.io_error().unwrap().kind(), std::io::ErrorKind::Other);
    }

    #[test]
    fn a_chain_of_errors_says_nothing_twice() {
        let chain = |error: &Error| {
            let mut text = error.to_string();
            let mut next = std::error::Error::source(error);
            while let Some(error) = next {
                text += &format!(" <- {error}");
                next = error.source();
            }
            text
        };
        let cause = || std::io::Error::other("disk on fire");
        assert_eq!(chain(&Error::from(cause()).within("a.b2frame")), "a.b2frame: disk on fire");
        let told = error!(Io, "a.b2frame: {}", cause()).with_source(cause());
        assert_eq!(chain(&told), "a.b2frame: disk on fire");
        let untold = error!(Corrupt, "chunk 3: its file is not there").with_source(cause());
        assert_eq!(chain(&untold), "chunk 3: its file is not there <- disk on fire");
    }
}
