//! Tables for `bench/README.md`, where comments mark their places.

use super::{Run, behind, larger, memcpy, table};
use crate::data::real;
use crate::grid::CODECS;
use crate::measure::geomean;
use crate::rows::Row;
use std::fmt::Write;

/// The tables of a run.
pub(crate) fn markdown(run: &Run) -> String {
    let (rows, minutes, seconds) = (run.rows.len(), run.seconds / 60, run.seconds % 60);
    let mut text = format!("{}; memcpy {}. {rows} rows in {minutes} min {seconds} s. ", run.machine, memcpy(run));
    let _ = write!(text, "✗ marks what is not reached.\n\n{}", table(&run.rows));
    for (title, lines) in [("data set", by_set(&run.rows)), ("level", by_level(&run.rows))] {
        if !lines.is_empty() {
            let _ = write!(text, "\nGeometric means by {title}, shuffle, one thread, compress / decompress:\n\n");
            let _ = write!(text, "| {title} | {} |\n|---{}|\n{lines}", CODECS.join(" | "), "|---".repeat(CODECS.len()));
        }
    }
    let _ = write!(text, "\n{}", sizes(&run.rows));
    let behind = behind(&run.rows);
    if !behind.is_empty() {
        let _ = write!(text, "\nEvery row that is slower than its goal lets one be:\n\n{behind}");
    }
    text
}

/// `text` with the tables of a run, and that of the data sets, in their places.
pub(crate) fn put_into(text: &str, run: &Run) -> Result<String, String> {
    let text = replace(text, "data sets", &real::table())?;
    let place = match run.is_busy {
        true => "compare, busy",
        false if cfg!(feature = "zstd-pure") => "compare, zstd-pure",
        false => "compare",
    };
    replace(&text, place, &markdown(run))
}

/// Replaces what is between the two comments of a place.
pub(crate) fn replace(text: &str, place: &str, content: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {place}: begin -->\n"), format!("<!-- {place}: end -->"));
    let parts = text.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
    let (head, tail) = parts.ok_or_else(|| format!("there is no place for {place}: {begin}…{end}"))?;
    Ok(format!("{head}{begin}\n{content}\n{end}{tail}"))
}

/// Shuffled chunks on one thread, 64 KiB and more.
fn is_usual(row: &&Row) -> bool {
    let has = |word| row.name.split(' ').any(|part| part == word);
    matches!(row.area, "compress" | "decompress") && has("shuffle") && has("1T") && row.nbytes.div_ceil(1024) >= 64
}

fn by_set(rows: &[Row]) -> String {
    lines(rows, &real::names().map(str::to_owned).collect::<Vec<_>>(), 0)
}

fn by_level(rows: &[Row]) -> String {
    lines(rows, &(1..=9).map(|level| level.to_string()).collect::<Vec<_>>(), 2)
}

/// A line for each of `keys` that rows have as the word at `place` of their names.
fn lines(rows: &[Row], keys: &[String], place: usize) -> String {
    let mut lines = String::new();
    for key in keys {
        let of: Vec<&Row> =
            rows.iter().filter(is_usual).filter(|row| row.name.split(' ').nth(place) == Some(key)).collect();
        if !of.is_empty() {
            let _ = writeln!(lines, "| {key} | {} |", CODECS.map(|codec| cell(&of, codec)).join(" | "));
        }
    }
    lines
}

fn cell(rows: &[&Row], codec: &str) -> String {
    let means = ["compress", "decompress"].map(|area| {
        let of = rows.iter().filter(|row| row.area == area && row.name.split(' ').nth(1) == Some(codec));
        geomean(of.map(|row| row.pair.ratio))
    });
    if means[0].is_nan() { String::new() } else { format!("{:.2} / {:.2}", means[0], means[1]) }
}

/// How our compressed sizes compare.
fn sizes(rows: &[Row]) -> String {
    let sizes = || rows.iter().filter_map(|row| row.size);
    if sizes().count() == 0 {
        return String::new();
    }
    let (low, high) = (sizes().fold(f64::MAX, f64::min), sizes().fold(f64::MIN, f64::max));
    let larger = larger(rows);
    let shown: Vec<String> =
        larger.iter().take(20).map(|row| format!("{} {} {:.3}", row.area, row.name, row.size.unwrap_or(1.0))).collect();
    let mut text = format!("Compressed sizes are {low:.3} to {high:.3} of C's, {:.3} by mean", geomean(sizes()));
    let _ = write!(text, "; {} of {} rows are above 1.01", larger.len(), sizes().count());
    if shown.is_empty() { text + ".\n" } else { format!("{text}: {}.\n", shown.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let before = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let after = "a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n";
        assert_eq!(replace(before, "x", "new\n").as_deref(), Ok("a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n"));
        assert_eq!(replace(after, "x", "new\n").as_deref(), Ok(after));
    }

    #[test]
    fn a_file_without_the_marks_is_refused() {
        assert!(replace("a\nb\n", "x", "new").is_err_and(|problem| problem.contains("<!-- x: begin -->")));
    }
}
