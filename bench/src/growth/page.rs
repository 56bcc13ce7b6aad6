//! The curves as a page that needs nothing else.

use super::{Cost, Curve, seconds};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 80.0;
const BOTTOM: f64 = 30.0;
const COLORS: [&str; 7] = ["#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#975a16", "#4a5568"];

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
svg { max-width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: #444 }
svg polyline { fill: none; stroke-width: 2 } svg .line { stroke: #8885 } svg .linear { stroke: #888; stroke-dasharray: 5 5 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #16181b } svg text { fill: #aaa } }";

/// The page.
pub(super) fn page(curves: &[Curve], verdict: &str) -> String {
    let time = |cost: &Cost| Some(cost.seconds);
    let memory = |cost: &Cost| cost.memory.filter(|&bytes| bytes > 0).map(|bytes| bytes as f64);
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>How frames grow</title><style>{STYLE}</style>\
         <h1>How frames grow</h1><p>Both axes are logarithmic; the dashed line is linear growth. {verdict}</p>\
         <h2>Time</h2>{}<h2>Memory</h2><p>The most that the process had, above what it had before.</p>{}</html>\n",
        plot(curves, time, seconds),
        plot(curves, memory, |bytes| format!("{:.1} MiB", bytes / f64::from(1 << 20))),
    )
}

/// Where a value is between the lowest and the highest power of ten, from 0 to 1.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::MAX, f64::min).log10().floor();
        let high = values.fold(f64::MIN_POSITIVE, f64::max).log10().ceil();
        Self { low, high: high.max(low + 1.0) }
    }

    fn at(&self, value: f64) -> f64 {
        (value.log10() - self.low) / (self.high - self.low)
    }

    fn powers(&self) -> impl Iterator<Item = f64> + use<> {
        (self.low as i32..=self.high as i32).map(|power| 10_f64.powi(power))
    }
}

fn plot(curves: &[Curve], value: impl Fn(&Cost) -> Option<f64>, label: impl Fn(f64) -> String) -> String {
    let points = |curve: &Curve| -> Vec<(f64, f64)> {
        curve.points.iter().filter_map(|(nchunks, cost)| Some((*nchunks as f64, value(cost)?))).collect()
    };
    let all: Vec<(f64, f64)> = curves.iter().flat_map(&points).collect();
    if all.is_empty() {
        return "<p>Not known on this system.</p>".to_owned();
    }
    let (across, up) = (Scale::of(all.iter().map(|point| point.0)), Scale::of(all.iter().map(|point| point.1)));
    let x = |nchunks: f64| LEFT + across.at(nchunks) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| (1.0 - up.at(value)) * (HEIGHT - BOTTOM - 10.0) + 10.0;
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\">");
    for power in up.powers() {
        let (at, end) = (y(power), WIDTH - RIGHT);
        let _ = write!(svg, "<line class=\"line\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
        let _ =
            write!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", LEFT - 6.0, at + 4.0, label(power));
    }
    for power in across.powers() {
        let (at, below) = (x(power), HEIGHT - 8.0);
        let _ = write!(svg, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{power}</text>");
    }
    let _ = write!(svg, "{}", linear(&across, &up, x, y));
    for (curve, color) in curves.iter().zip(COLORS.iter().cycle()) {
        svg.push_str(&line(curve.operation, &points(curve), color, x, y));
    }
    svg + "</svg>"
}

/// From the lower right end of the plot back to the left, a tenth for a tenth.
fn linear(across: &Scale, up: &Scale, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let decades = (across.high - across.low).min(up.high - up.low);
    let (right, top) = (across.high, up.low + decades);
    let end = |powers: f64| (x(10_f64.powf(right - powers)), y(10_f64.powf(top - powers)));
    let ((x1, y1), (x2, y2)) = (end(0.0), end(decades));
    format!("<line class=\"linear\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
}

fn line(name: &str, points: &[(f64, f64)], color: &str, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let Some(&(last, value)) = points.last() else { return String::new() };
    let corners: Vec<String> = points.iter().map(|&(n, value)| format!("{:.1},{:.1}", x(n), y(value))).collect();
    let (right, middle) = (x(last) + 6.0, y(value) + 4.0);
    format!(
        "<polyline points=\"{}\" stroke=\"{color}\"><title>{name}</title></polyline>\
         <text x=\"{right:.1}\" y=\"{middle:.1}\" style=\"fill:{color}\">{name}</text>",
        corners.join(" ")
    )
}
