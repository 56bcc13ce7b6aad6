//! What the measurements come to: a table, JSON, a page.

mod goals;
mod markdown;
mod page;

pub(crate) use markdown::{markdown, put_into, replace};
pub(crate) use page::page;

use crate::rows::Row;
use goals::GOALS;
use serde_json::{Value, json};

/// What one run has measured.
pub(crate) struct Run {
    pub(crate) machine: String,
    /// Lengths, and the speed of copying so much in gigabytes a second.
    pub(crate) memcpy: Vec<(usize, f64)>,
    pub(crate) rows: Vec<Row>,
    pub(crate) seconds: u64,
    /// Whether other programs computed meanwhile.
    pub(crate) is_busy: bool,
}

/// Everything as JSON.
pub(crate) fn to_json(run: &Run) -> Value {
    let memcpy = run.memcpy.iter().map(|(len, speed)| json!({ "nbytes": len, "speed": speed }));
    json!({
        "machine": run.machine,
        "seconds": run.seconds,
        "is_busy": run.is_busy,
        "memcpy_gb_per_s": memcpy.collect::<Vec<_>>(),
        "rows": run.rows.iter().map(Row::to_json).collect::<Vec<_>>(),
    })
}

/// Runs that `to_json` has written, as one: of the same machine and libraries.
pub(crate) fn from_json(runs: &[Value]) -> Option<Run> {
    let first = runs.first()?;
    let memcpy = |run: &Value| {
        let pairs = run["memcpy_gb_per_s"].as_array()?.iter();
        let pair = |pair: &Value| Some((usize::try_from(pair["nbytes"].as_u64()?).ok()?, pair["speed"].as_f64()?));
        pairs.map(pair).collect::<Option<Vec<_>>>()
    };
    let rows = |run: &Value| run["rows"].as_array()?.iter().map(Row::from_json).collect::<Option<Vec<_>>>();
    Some(Run {
        // Libraries that only some of them need are named by these.
        machine: runs.iter().filter_map(|run| run["machine"].as_str()).max_by_key(|machine| machine.len())?.to_owned(),
        memcpy: memcpy(first)?,
        rows: runs.iter().map(rows).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect(),
        seconds: runs.iter().map(|run| run["seconds"].as_u64()).sum::<Option<u64>>()?,
        is_busy: first["is_busy"].as_bool()?,
    })
}

/// The speeds of copying in words.
fn memcpy(run: &Run) -> String {
    let speeds = run.memcpy.iter().map(|(len, speed)| format!("{speed:.0} GB/s at {} KiB", len >> 10));
    speeds.collect::<Vec<_>>().join(", ")
}

/// A line of a table in Markdown for each goal that something was measured for.
fn table(rows: &[Row]) -> String {
    let mut table =
        "| what | mean | goal | slowest | goal | rows | the slowest |\n|---|---|---|---|---|---|---|\n".to_owned();
    for goal in GOALS {
        let Some(reached) = goal.reached(rows) else { continue };
        let mark = if goal.is_reached(&reached) { "" } else { " ✗" };
        table.push_str(&format!(
            "| {}{mark} | {:.2} | {} | {:.2} | {} | {} | {} |\n",
            goal.what, reached.mean, goal.mean, reached.worst, goal.worst, reached.rows, reached.slowest
        ));
    }
    table
}

/// Every row that is slower than its goal lets one be.
fn behind(rows: &[Row]) -> String {
    let mut list = String::new();
    for goal in GOALS {
        let behind = goal.behind(rows);
        if !behind.is_empty() {
            let shown: Vec<String> = behind.iter().map(|row| format!("{} {:.2}", row.name, row.pair.ratio)).collect();
            list.push_str(&format!("* {}, below {} ({}): {}\n", goal.what, goal.worst, shown.len(), shown.join("; ")));
        }
    }
    list
}

/// An error that names every row that is behind its goal.
pub(crate) fn check(run: &Run) -> Result<(), String> {
    let behind = behind(&run.rows);
    if behind.is_empty() { Ok(()) } else { Err(format!("rows are behind their goals:\n{behind}")) }
}

/// How much larger our chunks are, at the most: those of more than 1 %.
fn larger(rows: &[Row]) -> Vec<&Row> {
    let mut larger: Vec<&Row> = rows.iter().filter(|row| row.size.is_some_and(|size| size > 1.01)).collect();
    larger.sort_by(|a, b| b.size.unwrap_or(1.0).total_cmp(&a.size.unwrap_or(1.0)));
    larger
}
