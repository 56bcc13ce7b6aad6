//! `blosc info`

use crate::arguments::cli::Global;
use crate::arguments::inputs::Inputs;
use crate::arguments::size;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::input;
use crate::inputs::reading::unpickled;
use crate::inputs::source::{Opening, Source};
use crate::inputs::steady::read_steadily;
use crate::outputs::output;
use crate::process::terminal;
use crate::show::facts::{Examined, Facts};
use crate::show::info_text;
use crate::show::json;
use crate::store::{self, Store};
use clap::Args;
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What an object of the list of chunks takes in memory, about.
const CHUNK_OBJECT: usize = 1 << 10;
/// The longest pickle that is looked into.
const MAX_PICKLE: usize = 64 << 20;

/// Show format, shape, sizes, codec, filters and metadata of files.
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    inputs: Inputs,
    /// Print an object for each file, with documented keys
    #[arg(long)]
    json: bool,
    /// List every chunk
    #[arg(long)]
    chunks: bool,
    /// Show the content of this variable-length metalayer too; of the others, names and sizes are
    /// shown
    #[arg(long, value_name = "NAME")]
    vlmeta: Option<String>,
    /// The frame or file starts at this byte of its file
    #[arg(long, value_name = "N", value_parser = size::parse)]
    offset: Option<u64>,
}

impl Info {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let mut out = BufWriter::new(output::stdout()?);
        let mut worst = Ok(());
        let files = self.inputs.files()?;
        for path in &files {
            match read_steadily(path, || self.describe(path, global, &mut out))
                .map_err(|failure| failure.or_repair(path))
            {
                Ok(()) => {}
                Err(Failure::ClosedPipe) => break,
                // The others are still worth a look.
                Err(failure) if files.len() > 1 => failure.report_among(&mut worst),
                Err(failure) => return Err(failure),
            }
        }
        match out.flush().map_err(Failure::from) {
            // That nobody reads any more does not make anything good that was found damaged.
            Ok(()) | Err(Failure::ClosedPipe) => worst,
            Err(failure) => Err(failure),
        }
    }

    fn describe(&self, path: &Path, global: &Global, out: &mut impl Write) -> Outcome {
        let place = input::shown(path);
        let opening = Opening::new(global).at_offset(self.offset).unchecked();
        if self.offset.is_none() && !input::is_stream(path) && path.exists() && store::is_store(path)? {
            return self.describe_store(path, &place, &opening, out);
        }
        let source = opening.open(path)?;
        let behind = if let Source::Chunk(chunk) = &source { chunk.behind } else { 0 };
        let missing = source.check_has_data().err().map(|error| error.to_string());
        // What a damaged chunk holds cannot be told; that it is damaged, others tell. A look takes
        // little memory and time.
        let is_small = matches!(&source, Source::Chunk(chunk) if chunk.header.nbytes() <= MAX_PICKLE);
        let pickled = if is_small { unpickled(&source).ok().flatten() } else { None };
        let (mut facts, examined) = Facts::of(source).in_data(&place)?;
        let is_file = self.offset.is_none() && !input::is_stream(path) && path.exists();
        facts.file_bytes = is_file.then(|| size::of_path(path));
        if let Some((array, _)) = &pickled {
            facts.take_numpy(array);
        }
        let vlmeta = self.vlmeta.as_deref().map(|name| content_of(name, &examined, &place)).transpose()?;
        let behind = if self.offset.is_none() { behind } else { 0 };
        let extras = Extras { missing, behind, vlmeta };
        let printed = if self.json {
            self.check_list(&facts, global).at(&place)?;
            self.print_json(&place, &facts, extras, &examined, out)
        } else {
            self.print_text(&place, &facts, extras, &examined, out)
        };
        let more = match facts.damaged {
            0 | 1 => String::new(),
            damaged => format!(", and {} more", damaged - 1),
        };
        facts.damage.map_or(printed, |damage| Err(Failure::Damaged(format!("{place}: {damage}{more}"))))
    }

    fn describe_store(&self, path: &Path, place: &str, opening: &Opening, out: &mut impl Write) -> Outcome {
        let store = Store::open(path, opening)?;
        if self.json {
            return Ok(writeln!(out, "{}", json::lines(&store.to_json(place, opening)?))?);
        }
        Ok(write!(out, "{}", store.summary(place, opening)?)?)
    }

    /// Whether there is memory for an object for each chunk.
    fn check_list(&self, facts: &Facts, global: &Global) -> blosc_oxide::Result<()> {
        let chunks = if self.chunks { facts.nchunks } else { 0 };
        let bytes = usize::try_from(chunks).unwrap_or(usize::MAX).saturating_mul(CHUNK_OBJECT);
        global.limits().check("the list of chunks", bytes)
    }

    fn print_text(
        &self,
        place: &str,
        facts: &Facts,
        extras: Extras,
        examined: &Examined,
        out: &mut impl Write,
    ) -> Outcome {
        write!(out, "{}", info_text::summary(place, facts))?;
        if extras.behind > 0 {
            writeln!(out, "  behind        {} bytes that are not of the chunk", extras.behind)?;
        }
        if let Some(missing) = extras.missing {
            writeln!(out, "  no data       {}", terminal::printable(&missing))?;
        }
        if let (Some(name), Some(content)) = (&self.vlmeta, extras.vlmeta) {
            write!(out, "{}", info_text::vlmeta(name, &content))?;
        }
        if terminal::stdout_has_colour()
            && let Some(bar) = info_text::bar(facts, examined).in_data(place)?
        {
            writeln!(out, "{bar}")?;
        }
        if self.chunks {
            writeln!(out, "{}", info_text::chunk_heading())?;
            for index in 0..facts.nchunks {
                writeln!(out, "{}", info_text::chunk_line(&examined.chunk(index).in_data(place)?))?;
            }
        }
        Ok(())
    }

    fn print_json(
        &self,
        place: &str,
        facts: &Facts,
        extras: Extras,
        examined: &Examined,
        out: &mut impl Write,
    ) -> Outcome {
        let mut members = vec![("file", Value::from(place))];
        members.extend(facts.to_json());
        members.push(("missing_data", extras.missing.into()));
        members.push(("members", Value::Null));
        if let (Some(name), Some(content)) = (&self.vlmeta, extras.vlmeta) {
            let text = String::from_utf8_lossy(&content).into_owned();
            members.push(("vlmeta", json::object(vec![("name", name.as_str().into()), ("text", text.into())])));
        }
        if self.chunks {
            let list = (0..facts.nchunks).map(|index| examined.chunk(index).map(|chunk| chunk.to_json()));
            members.push(("chunk_list", Value::Array(list.collect::<blosc_oxide::Result<_>>().in_data(place)?)));
        }
        Ok(writeln!(out, "{}", json::lines(&json::object(members)))?)
    }
}

/// What is shown besides the facts.
struct Extras {
    /// Why the file has no data, if it has none.
    missing: Option<String>,
    /// How many bytes follow a chunk that are not of it.
    behind: u64,
    /// The content of the variable-length metalayer that was asked for.
    vlmeta: Option<Vec<u8>>,
}

/// The content of a variable-length metalayer.
fn content_of(name: &str, examined: &Examined, place: &str) -> Outcome<Vec<u8>> {
    let content = match examined {
        Examined::Array(array) => array.super_chunk().vlmetalayers().get(name).in_data(place)?,
        Examined::Flat(Source::Frame(frame)) => frame.vlmetalayers().get(name).in_data(place)?,
        Examined::Flat(_) => None,
    };
    content.ok_or_else(|| Failure::usage(format!("{place}: there is no variable-length metalayer {name:?}")))
}
