//! `blosc compact`

use crate::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::output;
use crate::size;
use crate::source::{Opening, Source};
use blosc_oxide::Frame;
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
        if !matches!(Opening::new(global).open(&self.file)?, Source::Frame(_)) {
            return Err(Failure::usage(format!("{place}: only frames and arrays have dead bytes")));
        }
        let mut frame = Frame::open_writable_with(&self.file, Opening::new(global).frame_options()).in_data(&place)?;
        let before = frame.dead_bytes().in_data(&place)?;
        frame.compact().at(&place)?;
        let after = frame.dead_bytes().in_data(&place)?;
        if !global.quiet {
            writeln!(output::stdout()?, "{place}: {} given back", size::display(before.saturating_sub(after)))?;
        }
        Ok(())
    }
}
