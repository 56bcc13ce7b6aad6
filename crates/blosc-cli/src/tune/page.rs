//! The measurements as one page with a plot, that needs nothing else.

use super::measure::Measurement;
use super::table::command_line;
use super::verdict::{LINK, Verdict, is_on_front};
use crate::json::Json;
use crate::size;

const TEMPLATE: &str = include_str!("page.html");

/// The page for what was found in `bytes` of sample of the data of `input`.
pub(crate) fn page(input: &str, typesize: usize, sample: usize, found: &[Measurement], verdict: &Verdict) -> String {
    let points =
        found.iter().enumerate().map(|(place, measurement)| point(place, measurement, found, verdict, typesize, input));
    // Inside a script, a tag in a name must not end it.
    let data = Json::List(points.collect()).to_string().replace('<', "\\u003c");
    TEMPLATE
        .replace("{{SAMPLE}}", &size::display(sample as u64))
        .replace("{{TYPESIZE}}", &typesize.to_string())
        .replace("{{LINK}}", &format!("{LINK:.0}"))
        .replace("{{DATA}}", &data)
        .replace("{{INPUT}}", &escaped(input))
}

fn point(
    place: usize,
    measurement: &Measurement,
    found: &[Measurement],
    verdict: &Verdict,
    typesize: usize,
    input: &str,
) -> Json {
    let candidate = &measurement.candidate;
    let block = candidate.blocksize.map_or_else(|| "automatic".to_owned(), |size| size::display(size as u64));
    Json::Object(vec![
        ("codec", candidate.codec.to_string().into()),
        ("level", u64::from(candidate.level).into()),
        ("filters", candidate.filter_names().into()),
        ("block", block.into()),
        ("ratio", Json::Number(measurement.ratio())),
        ("compress", Json::Number(measurement.speed(measurement.compress))),
        ("decompress", Json::Number(measurement.speed(measurement.decompress))),
        ("both", Json::Number(measurement.both_speeds())),
        ("front", is_on_front(place, found).into()),
        ("best", verdict.marks(place).into()),
        ("command", command_line(candidate, typesize, input).into()),
    ])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
