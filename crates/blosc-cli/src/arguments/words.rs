//! Values that are read by a function, with words for completions to offer.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;

/// How a value is read, and what it can be.
#[derive(Clone, Copy)]
pub(crate) struct Words<T: 'static> {
    pub(crate) parse: fn(&str) -> Result<T, String>,
    pub(crate) words: &'static [&'static str],
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Words<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let text = value.to_string_lossy();
        (self.parse)(&text).map_err(|why| {
            let name = argument.map(ToString::to_string).unwrap_or_default();
            let mut error =
                Error::raw(ErrorKind::ValueValidation, format!("invalid value '{text}' for '{name}': {why}\n"));
            error.insert(ContextKind::InvalidArg, ContextValue::String(name));
            error.with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(PossibleValue::new)))
    }
}
