//! `blosc tune`

use crate::arguments::cli::Global;
use crate::arguments::size;
use crate::failure::{At, Outcome};
use crate::inputs::input;
use crate::outputs::output::{self, Output, Writing};
use crate::process::terminal;
use crate::tune::{self, Sample, Trial, Verdict};
use clap::Args;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Find the settings that suit your data: codecs, levels, filters and block sizes are tried out on
/// a sample of it.
///
/// Speeds are of this machine, in memory, with as many threads as --threads says. Best for size is
/// the smallest result, for speed the least time to compress and decompress, and for balance the
/// least time to compress, move at 100 MB/s, and decompress.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// The data, compressed or not; `-` is standard input
    input: PathBuf,
    /// How much of the data to try with, taken from all over it
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = size::parse_memory)]
    sample: usize,
    /// The size of an item in bytes [default: found out from the data]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    typesize: Option<u32>,
    /// Print everything that was tried, also what something else beats in every way
    #[arg(long)]
    all: bool,
    /// Write a page with a plot of ratio against speed
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

impl Tune {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        if let Some(html) = &self.html {
            output::check_free(html, self.writing)?;
        }
        let typesize = self.typesize.map(|size| size as usize);
        let room = self.sample.clamp(1 << 10, blosc_oxide::limits::MAX_NBYTES);
        let sample = Sample::of(&self.input, typesize, room, global)?;
        let mut trial = Trial::new(&sample.bytes, sample.typesize, global.threads());
        let shows = global.shows_progress() && terminal::stderr_is_terminal();
        let found = tune::tune(&mut trial, |count| {
            if shows {
                // A terminal that cannot be written to shows nothing.
                let _ = write!(io::stderr().lock(), "\r\x1b[K{count} settings tried");
            }
        });
        if shows {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
        let found = found?;
        let Some(verdict) = Verdict::of(&found) else { return Ok(()) };
        // Before the table: the page is to be there also if nobody reads that to its end.
        if let Some(html) = &self.html {
            self.write_page(html, &sample, &found, &verdict)?;
        }
        self.print(&sample, &found, &verdict)
    }

    fn print(&self, sample: &Sample, found: &[tune::Measurement], verdict: &Verdict) -> Outcome {
        let mut out = io::BufWriter::new(output::stdout()?);
        let name = terminal::printable(&input::shown(&self.input));
        let of = sample.total.map_or_else(String::new, |total| format!(" of {}", size::display(total)));
        let sampled = size::display(sample.bytes.len() as u64);
        writeln!(out, "{name}: {} settings tried on {sampled}{of}, items of {} bytes\n", found.len(), sample.typesize)?;
        writeln!(out, "{}", tune::table(found, verdict, self.all))?;
        for (place, best) in [(verdict.size, "size"), (verdict.speed, "speed"), (verdict.balance, "balance")] {
            let (input, output) = (self.input.display().to_string(), sample.converted.as_deref());
            let line = tune::command_line(&found[place].candidate, sample.typesize, &input, output);
            writeln!(out, "best for {best:<8} {line}")?;
        }
        Ok(out.flush()?)
    }

    fn write_page(&self, html: &Path, sample: &Sample, found: &[tune::Measurement], verdict: &Verdict) -> Outcome {
        let page = tune::page(&input::shown(&self.input), sample, found, verdict);
        let output = Output::to(html, self.writing)?;
        output.create()?.write_all(page.as_bytes()).at_path(html)?;
        output.finish()
    }
}
