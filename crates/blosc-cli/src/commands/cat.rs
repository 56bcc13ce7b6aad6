//! `blosc cat`

use crate::arguments::cli::Global;
use crate::arguments::names::standard_input;
use crate::failure::{At, Outcome};
use crate::inputs::input;
use crate::inputs::reading::Plain;
use crate::inputs::source::Opening;
use crate::inputs::steady::read_steadily;
use crate::outputs::output;
use crate::process::progress::{Progress, Task};
use clap::Args;
use std::path::{Path, PathBuf};

/// Decompress files one after the other to standard output.
#[derive(Debug, Args)]
pub(crate) struct Cat {
    /// The files; `-` is standard input, which is also read if nothing is named and it is no
    /// terminal
    #[arg(value_name = "INPUT")]
    files: Vec<PathBuf>,
}

impl Cat {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let files = if self.files.is_empty() { vec![standard_input()?] } else { self.files.clone() };
        for path in &files {
            read_steadily(path, || write(path, global))?;
        }
        Ok(())
    }
}

fn write(path: &Path, global: &Global) -> Outcome {
    let place = input::shown(path);
    let plain = Plain::new(Opening::new(global).open(path)?).in_data(&place)?;
    let total = Some(plain.nbytes().in_data(&place)?);
    let progress = Progress::start(Task { verb: "decompressing", total, compressed: None }, global.shows_progress());
    plain.write_to(progress.writing(output::stdout()?)).in_data(&place)
}
