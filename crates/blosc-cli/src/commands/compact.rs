//! `blosc compact`

use crate::arguments::cli::Global;
use crate::arguments::size;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::source::{Opening, Source};
use crate::outputs::changing;
use crate::outputs::output;
use crate::process::progress::{Progress, Task};
use crate::process::terminal::printable;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Give back the room of what no longer counts in a frame or an array.
#[derive(Debug, Args)]
pub(crate) struct Compact {
    /// The frame
    file: PathBuf,
}

impl Compact {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let place = self.file.display();
        let Source::Frame(frame) = Opening::new(global).open(&self.file)? else {
            return Err(Failure::usage(format!("{place}: only frames and arrays have dead bytes")));
        };
        // Every chunk is moved twice: behind the end, and to where it stays.
        let total = 2 * frame.cbytes().saturating_sub(frame.dead_bytes().at(&place)?);
        drop(frame);
        let task = Task { verb: "compacting", total: Some(total), compressed: None };
        let progress = Progress::start(task, global.shows_progress());
        let given_back = changing::change_shown(&self.file, &progress, global, |frame| {
            let before = frame.dead_bytes()?;
            frame.compact()?;
            Ok(before.saturating_sub(frame.dead_bytes()?))
        });
        drop(progress);
        let given_back = given_back.at(&place)?;
        if !global.quiet {
            let place = printable(&place.to_string());
            writeln!(output::stdout()?, "{place}: {} given back", size::display(given_back))?;
        }
        Ok(())
    }
}
