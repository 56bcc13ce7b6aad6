//! The measurements for people to read.

use super::candidate::Candidate;
use super::measure::Measurement;
use super::verdict::{Verdict, is_on_front};
use crate::arguments::size;
use std::fmt::Write as _;

/// A line for each measurement, the smallest result first; of those that others beat in every way,
/// none unless `has_all`.
pub(crate) fn table(found: &[Measurement], verdict: &Verdict, has_all: bool) -> String {
    let mut places: Vec<usize> = (0..found.len())
        .filter(|&place| has_all || is_on_front(place, found) || !verdict.marks(place).is_empty())
        .collect();
    places.sort_by_key(|&place| found[place].cbytes);
    let mut text = format!(
        "{:<8} {:>5} {:<24} {:>10} {:>8} {:>12} {:>12}  best for\n",
        "codec", "level", "filters", "block", "ratio", "compress", "decompress"
    );
    for place in places {
        let measurement = &found[place];
        let candidate = &measurement.candidate;
        let block = candidate.blocksize.map_or_else(|| "auto".to_owned(), |size| size::display(size as u64));
        let line = format!(
            "{:<8} {:>5} {:<24} {block:>10} {:>8.2} {:>7.0} MB/s {:>7.0} MB/s  {}",
            candidate.codec.to_string(),
            candidate.level,
            candidate.filter_names(),
            measurement.ratio(),
            measurement.speed(measurement.compress),
            measurement.speed(measurement.decompress),
            verdict.marks(place).join(", ")
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The command line that compresses with this choice; what is compressed already is converted to
/// `output`.
pub(crate) fn command_line(candidate: &Candidate, typesize: usize, input: &str, output: Option<&str>) -> String {
    let command = if output.is_some() { "convert" } else { "compress" };
    let mut line =
        format!("blosc {command} --codec {} --level {} --typesize {typesize}", candidate.codec, candidate.level);
    if candidate.filters.is_empty() {
        line.push_str(" --filter none");
    }
    for filter in &candidate.filters {
        let _ = write!(line, " --filter {filter}");
    }
    if let Some(blocksize) = candidate.blocksize {
        let _ = write!(line, " --block-size {}K", blocksize >> 10);
    }
    line.push(' ');
    line.push_str(&quoted(input));
    if let Some(output) = output {
        line.push(' ');
        line.push_str(&quoted(output));
    }
    line
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./+,".contains(c));
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_oxide::{Codec, Filter};

    #[test]
    fn a_command_line_can_be_pasted() {
        let candidate =
            Candidate::new(Codec::Zstd, 5, &[Filter::Shuffle, Filter::ByteDelta(0)]).with_blocksize(128 << 10);
        assert_eq!(
            command_line(&candidate, 8, "my file.bin", None),
            "blosc compress --codec zstd --level 5 --typesize 8 --filter shuffle --filter bytedelta --block-size 128K 'my file.bin'"
        );
        let plain = Candidate::new(Codec::Lz4, 1, &[]);
        assert_eq!(
            command_line(&plain, 1, "a.txt", None),
            "blosc compress --codec lz4 --level 1 --typesize 1 --filter none a.txt"
        );
    }
}
