//! What is known about a file, for people to read.

use crate::arguments::dtype::in_words;
use crate::arguments::size;
use crate::outputs::encoding::split_name;
use crate::process::terminal::printable;
use crate::show::facts::{ChunkFacts, Examined, Facts, ambiguity, names, ratio, special_name};
use blosc_oxide::Result;
use std::fmt::Write as _;

/// How many cells the bar has.
const CELLS: u64 = 64;
/// How many chunks are looked at for the bar.
const MAX_LOOKS: u64 = 1024;

/// The summary of a file.
pub(crate) fn summary(name: &str, facts: &Facts) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", printable(name));
    for (label, value) in lines(facts) {
        let _ = writeln!(text, "  {label:<14}{}", printable(&value));
    }
    text
}

fn lines(facts: &Facts) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("format", format_line(facts)),
        ("data", format!("{} bytes ({})", facts.nbytes, size::display(facts.nbytes))),
        ("compressed", compressed_line(facts)),
    ];
    if let (Some(shape), Some(dtype)) = (&facts.shape, &facts.dtype) {
        let order = if facts.order == Some("F") { ", Fortran order" } else { "" };
        lines.push(("array", format!("{} of {}{order}", lengths(shape), in_words(dtype))));
    }
    if let (Some(chunks), Some(blocks)) = (&facts.chunks, &facts.blocks) {
        lines.push(("cut into", format!("chunks of {}, blocks of {}", lengths(chunks), lengths(blocks))));
    }
    lines.push(("items", format!("{} bytes each", facts.typesize)));
    lines.push(("chunks", chunks_line(facts)));
    if let Some(codec) = facts.codec {
        let level = facts.level.map_or_else(String::new, |level| format!(", level {level}"));
        let dict = if facts.has_dict { ", with dictionaries" } else { "" };
        let meta = facts.codec_meta.filter(|&meta| meta > 0).map_or_else(String::new, |meta| format!(", meta {meta}"));
        let version = facts.codec_version.filter(|&version| version != 1);
        let version = version.map_or_else(String::new, |version| format!(", version {version}"));
        lines.push(("codec", format!("{codec}{level}{meta}{version}{dict}")));
    }
    let filters = names(&facts.filters);
    lines.push(("filters", if filters.is_empty() { "none".to_owned() } else { filters.join(", ") }));
    if let Some(split) = facts.split {
        lines.push(("split", split_name(split).to_owned()));
    }
    if facts.ambiguous > 0 {
        lines.push(("ambiguous", ambiguity(&format!("{} of the chunks", facts.ambiguous), facts.bitshuffle)));
    }
    for (name, offset, nbytes, cbytes) in &facts.parts {
        lines.push(("part", format!("{name}: {nbytes} bytes, {cbytes} compressed, at byte {offset}")));
    }
    lines.push(("checksum", facts.checksum.clone().unwrap_or_else(|| "none".to_owned())));
    for (label, layers) in [("metalayers", &facts.metalayers), ("vlmetalayers", &facts.vlmetalayers)] {
        if !layers.is_empty() {
            let size = |nbytes: Option<u64>| nbytes.map_or_else(|| "damaged".to_owned(), |len| format!("{len} bytes"));
            let layers: Vec<String> =
                layers.iter().map(|(name, nbytes)| format!("{name} ({})", size(*nbytes))).collect();
            lines.push((label, layers.join(", ")));
        }
    }
    if let Some(metadata) = &facts.metadata {
        lines.push(("metadata", metadata.clone()));
    }
    if let Some(damage) = &facts.damage {
        lines.push(("damaged", format!("{} of the chunks; the first: {damage}", facts.damaged)));
    }
    if let Some(dead) = facts.dead_bytes.filter(|&dead| dead > 0) {
        lines.push(("dead bytes", format!("{dead} ({}); `blosc compact` reclaims them", size::display(dead))));
    }
    lines
}

/// The content of a variable-length metalayer, as text.
pub(crate) fn vlmeta(name: &str, content: &[u8]) -> String {
    format!("  {:<14}{}: {}\n", "content", printable(name), printable(&String::from_utf8_lossy(content)))
}

fn format_line(facts: &Facts) -> String {
    let layout = if facts.layout == Some("sparse") && facts.format.name() != "sframe" { ", sparse" } else { "" };
    format!("{}, version {}{layout}", facts.format.name(), facts.version)
}

/// The bytes of the file itself, where there is one, and the ratio of the data to them.
fn compressed_line(facts: &Facts) -> String {
    let stored = facts.file_bytes.unwrap_or(facts.cbytes);
    let chunks = if stored == facts.cbytes { String::new() } else { format!(", {} of them chunks", facts.cbytes) };
    format!("{stored} bytes ({}){chunks}, {}", size::display(stored), ratio_in_words(facts.nbytes, stored))
}

/// The ratio of data to what it has become, and what that means if it has grown.
pub(crate) fn ratio_in_words(nbytes: u64, stored: u64) -> String {
    match ratio(nbytes, stored) {
        None => "nothing stored".to_owned(),
        Some(_) if nbytes == 0 => "no data".to_owned(),
        Some(found) if stored > nbytes => {
            let grown = u128::from(stored - nbytes) * 100 / u128::from(nbytes);
            format!("ratio {found:.2}: {grown} % larger than the data")
        }
        Some(found) => format!("ratio {found:.2}"),
    }
}

fn chunks_line(facts: &Facts) -> String {
    let mut line = facts.nchunks.to_string();
    match facts.chunksize {
        Some(size) => {
            let _ = write!(line, " of {size} bytes");
        }
        None if facts.nchunks > 0 => line.push_str(" of different sizes"),
        None => {}
    }
    match facts.blocksize {
        Some(size) => {
            let _ = write!(line, ", blocks of {size}");
        }
        None if facts.has_vlblocks => line.push_str(", blocks of different sizes"),
        None => {}
    }
    for (name, count) in facts.specials.named().into_iter().filter(|(_, count)| *count > 0) {
        let _ = write!(line, ", {count} of {name}");
    }
    let kinds = [("stored", facts.stored), ("instrumented", facts.instrumented), ("big-endian", facts.big_endian)];
    for (name, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
        let _ = write!(line, ", {count} {name}");
    }
    line
}

fn lengths(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "one item".to_owned();
    }
    lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

/// A line for each chunk.
pub(crate) fn chunk_line(chunk: &ChunkFacts) -> String {
    let offset = chunk.offset.map_or_else(|| "-".to_owned(), |offset| offset.to_string());
    let ratio = ratio(chunk.nbytes, chunk.cbytes).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    let codec = chunk.codec.map_or_else(|| "-".to_owned(), |codec| codec.to_string());
    let filters = names(&chunk.filters);
    let filters = if filters.is_empty() { "-".to_owned() } else { filters.join(",") };
    let kinds = [
        (chunk.is_stored, "stored"),
        (chunk.is_instrumented, "instrumented"),
        (chunk.is_big_endian, "big-endian"),
        (chunk.is_ambiguous, "ambiguous"),
        (chunk.damage.is_some(), "damaged"),
    ];
    let kinds = kinds.into_iter().filter(|(is_so, _)| *is_so).map(|(_, name)| name);
    let special: Vec<&str> = chunk.special.map(special_name).into_iter().chain(kinds).collect();
    let special = if special.is_empty() { "-".to_owned() } else { special.join(",") };
    let index = chunk.index;
    format!(
        "  {index:>8} {offset:>12} {:>11} {:>11} {ratio:>8}  {codec:<8} {filters:<20} {special}",
        chunk.nbytes, chunk.cbytes
    )
}

/// What stands above those lines.
pub(crate) fn chunk_heading() -> String {
    let (index, offset, nbytes, cbytes) = ("chunk", "offset", "nbytes", "cbytes");
    format!(
        "  {index:>8} {offset:>12} {nbytes:>11} {cbytes:>11} {:>8}  {:<8} {:<20} special",
        "ratio", "codec", "filters"
    )
}

/// A coloured bar of how well each part of the file is compressed: full and red where it is not,
/// low and green where it is well.
pub(crate) fn bar(facts: &Facts, examined: &Examined) -> Result<Option<String>> {
    let cells = facts.nchunks.min(CELLS);
    if cells < 2 {
        return Ok(None);
    }
    let looks = (MAX_LOOKS / cells).max(1);
    let mut bar = String::from("  ");
    for cell in 0..cells {
        let (from, to) = (cell * facts.nchunks / cells, (cell + 1) * facts.nchunks / cells);
        let step = ((to - from) / looks).max(1);
        let (mut nbytes, mut cbytes) = (0_u64, 0_u64);
        for index in (from..to).step_by(usize::try_from(step).unwrap_or(1)) {
            let chunk = examined.chunk(index)?;
            nbytes += chunk.nbytes;
            cbytes += chunk.cbytes;
        }
        bar.push_str(&cell_text(nbytes, cbytes));
    }
    bar.push_str("\x1b[0m");
    Ok(Some(bar))
}

fn cell_text(nbytes: u64, cbytes: u64) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    // Colours of the usual 256, from green over yellow to red.
    const COLOURS: [u8; 8] = [46, 82, 118, 154, 220, 214, 208, 196];
    let eighth = u128::from(cbytes) * 8 / u128::from(nbytes.max(1));
    let level = usize::try_from(eighth).unwrap_or(7).min(7);
    format!("\x1b[38;5;{}m{}", COLOURS[level], LEVELS[level])
}
