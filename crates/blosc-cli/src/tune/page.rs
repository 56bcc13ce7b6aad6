//! The measurements as one page with a plot, that needs nothing else.

use super::measure::Measurement;
use super::sample::Sample;
use super::table::command_line;
use super::verdict::{LINK, Verdict, is_on_front};
use crate::arguments::size;
use crate::show::json;
use serde_json::Value;

const TEMPLATE: &str = include_str!("page.html");

/// The page for what was found in a sample of the data of `input`.
pub(crate) fn page(input: &str, sample: &Sample, found: &[Measurement], verdict: &Verdict) -> String {
    let points = (0..found.len()).map(|place| point(place, found, verdict, sample, input));
    // Inside a script, a tag in a name must not end it.
    let data = json::line(&Value::Array(points.collect())).replace('<', "\\u003c");
    TEMPLATE
        .replace("{{SAMPLE}}", &size::display(sample.bytes.len() as u64))
        .replace("{{TYPESIZE}}", &sample.typesize.to_string())
        .replace("{{LINK}}", &format!("{LINK:.0}"))
        .replace("{{DATA}}", &data)
        .replace("{{INPUT}}", &escaped(input))
}

fn point(place: usize, found: &[Measurement], verdict: &Verdict, sample: &Sample, input: &str) -> Value {
    let measurement = &found[place];
    let candidate = &measurement.candidate;
    let block = candidate.blocksize.map_or_else(|| "automatic".to_owned(), |size| size::display(size as u64));
    json::object(vec![
        ("codec", candidate.codec.to_string().into()),
        ("level", u64::from(candidate.level).into()),
        ("filters", candidate.filter_names().into()),
        ("block", block.into()),
        ("ratio", Value::from(measurement.ratio())),
        ("compress", Value::from(measurement.speed(measurement.compress))),
        ("decompress", Value::from(measurement.speed(measurement.decompress))),
        ("both", Value::from(measurement.both_speeds())),
        ("front", is_on_front(place, found).into()),
        ("best", verdict.marks(place).into()),
        ("command", command_line(candidate, sample.typesize, input, sample.converted.as_deref()).into()),
    ])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
