//! `blosc cat`

use crate::cli::Global;
use crate::failure::{At, Outcome};
use crate::input;
use crate::output;
use crate::reading::Plain;
use crate::source::Opening;
use clap::Args;
use std::path::PathBuf;

/// Decompress files one after the other to standard output.
#[derive(Debug, Args)]
pub(crate) struct Cat {
    /// The files; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

impl Cat {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        for path in &self.files {
            let place = input::shown(path);
            let plain = Plain::new(Opening::new(global).open(path)?).in_data(&place)?;
            plain.write_to(output::stdout()?).in_data(&place)?;
        }
        Ok(())
    }
}
