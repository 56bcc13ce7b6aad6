//! `-1` to `-9`, as other compressors have them.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// The names of the options, from level 1 on.
pub(crate) const IDS: [&str; 9] =
    ["level-1", "level-2", "level-3", "level-4", "level-5", "level-6", "level-7", "level-8", "level-9"];

/// The level that was asked for by a digit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Digit(pub(crate) Option<u8>);

impl FromArgMatches for Digit {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self((1_u8..).zip(IDS).find(|(_, id)| matches.get_flag(id)).map(|(level, _)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Digit {
    /// Nine flags, of which the last on the line wins.
    fn augment_args(command: Command) -> Command {
        IDS.into_iter().zip('1'..='9').fold(command, |command, (id, digit)| {
            let flag = Arg::new(id).short(digit).action(ArgAction::SetTrue).hide(true);
            command.arg(flag.overrides_with_all(IDS).overrides_with("level"))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
