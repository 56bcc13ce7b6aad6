//! One page that needs nothing else.

use super::goals::GOALS;
use super::{Run, larger};
use crate::measure::geomean;
use crate::rows::Row;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const LINE: f64 = 18.0;
const LABELS: f64 = 250.0;

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .7rem .15rem 0; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child, td:last-child, th:last-child { text-align: left }
.short { color: #b00020 } .met { color: #0a7d33 }
svg text { font: 12px system-ui, sans-serif; fill: #444 }
svg .dot { fill: #2b6cb0; fill-opacity: .45 } svg .slow { fill: #b00020; fill-opacity: .7 } svg .mean { fill: #111 }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181b } td, th { border-color: #333 } svg text { fill: #aaa } svg .mean { fill: #eee }
  .short { color: #ff6b81 } .met { color: #5ad08a }
}";

/// The page.
pub(crate) fn page(run: &Run) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>blosc-oxide against C-Blosc2</title>\
         <style>{STYLE}</style><h1>blosc-oxide against C-Blosc2</h1>\
         <p>{}. Each figure is how many times as fast ours is, the median of ratios of neighbouring measurements in one run; \
         a dot is a row, the black bar the geometric mean.</p><p>The limit, memcpy: {}.</p>",
        escape(&run.machine),
        super::memcpy(run)
    );
    goals(&run.rows, &mut page);
    for (area, groups) in by_area(&run.rows) {
        let _ = write!(page, "<h2>{}</h2>{}", escape(area), plot(&groups));
    }
    sizes(&run.rows, &mut page);
    page.push_str("</html>\n");
    page
}

fn goals(rows: &[Row], page: &mut String) {
    page.push_str("<table><tr><th>what<th>mean<th>goal<th>slowest<th>goal<th>rows<th>the slowest</tr>");
    for goal in GOALS {
        let Some(reached) = goal.reached(rows) else { continue };
        let class = if goal.is_reached(&reached) { "met" } else { "short" };
        let _ = write!(
            page,
            "<tr class=\"{class}\"><td>{}<td>{:.2}<td>{}<td>{:.2}<td>{}<td>{}<td>{}</tr>",
            escape(goal.what),
            reached.mean,
            goal.mean,
            reached.worst,
            goal.worst,
            reached.rows,
            escape(&reached.slowest)
        );
    }
    page.push_str("</table>");
}

/// The rows of each area by the group that they are in.
fn by_area(rows: &[Row]) -> BTreeMap<&str, BTreeMap<&str, Vec<&Row>>> {
    let mut areas: BTreeMap<&str, BTreeMap<&str, Vec<&Row>>> = BTreeMap::new();
    for row in rows {
        areas.entry(row.area).or_default().entry(&row.group).or_default().push(row);
    }
    areas
}

/// A line of dots for each group, on a logarithmic scale.
fn plot(groups: &BTreeMap<&str, Vec<&Row>>) -> String {
    let ratios = || groups.values().flatten().map(|row| row.pair.ratio.log2());
    let low = ratios().fold(-1.0_f64, f64::min).floor();
    let high = ratios().fold(1.0_f64, f64::max).ceil();
    let x = |ratio: f64| LABELS + (ratio.log2() - low) / (high - low) * WIDTH;
    let height = LINE * (groups.len() as f64 + 2.0);
    let mut svg = format!("<svg viewBox=\"0 0 {} {height}\" width=\"100%\" role=\"img\">", LABELS + WIDTH + 20.0);
    for power in low as i32..=high as i32 {
        let at = x(2_f64.powi(power));
        let color = if power == 0 { "#888" } else { "#8884" };
        let label = if power < 0 { format!("1/{}", 1 << -power) } else { format!("{}", 1_u64 << power) };
        let _ = write!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{LINE}\" y2=\"{height}\" stroke=\"{color}\"/>\
             <text x=\"{at:.1}\" y=\"12\" text-anchor=\"middle\">{label}</text>"
        );
    }
    for (line, (group, rows)) in groups.iter().enumerate() {
        let y = LINE * (line as f64 + 1.7);
        let _ = write!(svg, "<text x=\"0\" y=\"{:.1}\">{}</text>", y + 4.0, escape(group));
        for row in rows {
            let class = if row.pair.ratio < 0.95 { "slow" } else { "dot" };
            let _ = write!(
                svg,
                "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}: {:.2}</title></circle>",
                x(row.pair.ratio),
                escape(&row.name),
                row.pair.ratio
            );
        }
        let mean = geomean(rows.iter().map(|row| row.pair.ratio));
        let _ = write!(
            svg,
            "<rect class=\"mean\" x=\"{:.1}\" y=\"{:.1}\" width=\"3\" height=\"14\"><title>{mean:.2}</title></rect>",
            x(mean) - 1.5,
            y - 7.0
        );
    }
    svg.push_str("</svg>");
    svg
}

fn sizes(rows: &[Row], page: &mut String) {
    let larger = larger(rows);
    let of = rows.iter().filter(|row| row.size.is_some()).count();
    if of == 0 {
        return;
    }
    let _ =
        write!(page, "<h2>sizes</h2><p>{} of {of} chunks are more than 1 % larger than C's.</p><table>", larger.len());
    for row in larger {
        let _ = write!(page, "<tr><td>{}<td>{:.3}</tr>", escape(&row.name), row.size.unwrap_or(1.0));
    }
    page.push_str("</table>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
