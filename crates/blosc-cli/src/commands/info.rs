//! `blosc info`

use crate::cli::Global;
use crate::facts::{Examined, Facts};
use crate::failure::{At, Failure, Outcome};
use crate::info_text;
use crate::input;
use crate::json::Json;
use crate::output;
use crate::reading::unpickled;
use crate::size;
use crate::source::Opening;
use crate::store::{self, Store};
use crate::terminal;
use clap::Args;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Tell what files are: format, sizes, codec, filters, metadata.
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// The files; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Print an object for each file, with documented keys
    #[arg(long)]
    json: bool,
    /// List every chunk
    #[arg(long)]
    chunks: bool,
    /// The frame or file starts at this byte of its file
    #[arg(long, value_name = "N", default_value = "0", value_parser = size::parse)]
    offset: u64,
}

impl Info {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let mut out = BufWriter::new(output::stdout()?);
        let mut worst = Ok(());
        for path in &self.inputs {
            match self.describe(path, global, &mut out).map_err(|failure| failure.or_repair(path)) {
                // The others are still worth a look.
                Err(failure) if self.inputs.len() > 1 && !matches!(failure, Failure::ClosedPipe) => {
                    failure.report_among(&mut worst);
                }
                other => other?,
            }
        }
        out.flush()?;
        worst
    }

    fn describe(&self, path: &Path, global: &Global, out: &mut impl Write) -> Outcome {
        let place = input::shown(path);
        let opening = Opening::new(global).at_offset(self.offset).unchecked();
        if self.offset == 0 && !input::is_stream(path) && path.exists() && store::is_store(path)? {
            return self.describe_store(path, &place, &opening, out);
        }
        let source = opening.open(path)?;
        let missing = source.check_has_data().err().map(|error| error.to_string());
        // What a damaged chunk holds cannot be told; that it is damaged, others tell.
        let pickled = unpickled(&source).ok().flatten();
        let (mut facts, examined) = Facts::of(source).in_data(&place)?;
        if let Some((array, _)) = &pickled {
            facts.take_numpy(array);
        }
        if self.json {
            return self.print_json(&place, &facts, &examined, missing, out);
        }
        write!(out, "{}", info_text::summary(&place, &facts))?;
        if let Some(missing) = missing {
            writeln!(out, "  no data       {}", terminal::printable(&missing))?;
        }
        if terminal::stdout_has_colour()
            && let Some(bar) = info_text::bar(&facts, &examined).in_data(&place)?
        {
            writeln!(out, "{bar}")?;
        }
        if self.chunks {
            writeln!(out, "{}", info_text::chunk_heading())?;
            for index in 0..facts.nchunks {
                writeln!(out, "{}", info_text::chunk_line(&examined.chunk(index).in_data(&place)?))?;
            }
        }
        Ok(())
    }

    fn describe_store(&self, path: &Path, place: &str, opening: &Opening, out: &mut impl Write) -> Outcome {
        let store = Store::open(path, opening)?;
        if self.json {
            return Ok(writeln!(out, "{:#}", store.to_json(place, opening)?)?);
        }
        Ok(write!(out, "{}", store.summary(place, opening)?)?)
    }

    fn print_json(
        &self,
        place: &str,
        facts: &Facts,
        examined: &Examined,
        missing: Option<String>,
        out: &mut impl Write,
    ) -> Outcome {
        let mut members = vec![("file", Json::from(place))];
        members.extend(facts.to_json());
        members.push(("missing_data", missing.into()));
        members.push(("members", Json::Null));
        if self.chunks {
            let list = (0..facts.nchunks).map(|index| examined.chunk(index).map(|chunk| chunk.to_json()));
            members.push(("chunk_list", Json::List(list.collect::<blosc_oxide::Result<_>>().in_data(place)?)));
        }
        Ok(writeln!(out, "{:#}", Json::Object(members))?)
    }
}
