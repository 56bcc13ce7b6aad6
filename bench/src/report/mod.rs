//! What the measurements come to: a table, JSON, a page.

mod goals;
mod page;

pub(crate) use page::page;

use crate::rows::Row;
use goals::GOALS;
use serde_json::{Value, json};

/// Everything as JSON.
pub(crate) fn to_json(rows: &[Row], machine: &str, memcpy: &[(usize, f64)]) -> Value {
    json!({
        "machine": machine,
        "memcpy_gb_per_s": memcpy.iter().map(|(len, speed)| json!({ "nbytes": len, "speed": speed })).collect::<Vec<_>>(),
        "rows": rows.iter().map(Row::to_json).collect::<Vec<_>>(),
    })
}

/// A line of a table in Markdown for each goal that something was measured for.
pub(crate) fn table(rows: &[Row]) -> String {
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
pub(crate) fn behind(rows: &[Row]) -> String {
    let mut list = String::new();
    for goal in GOALS {
        let behind = goal.behind(rows);
        if !behind.is_empty() {
            let shown: Vec<String> = behind.iter().map(|row| format!("{} {:.2}", row.name, row.pair.ratio)).collect();
            list.push_str(&format!("* {}, below {}: {}\n", goal.what, goal.worst, shown.join("; ")));
        }
    }
    list
}

/// How much larger our chunks are, at the most: those of more than 1 %.
pub(crate) fn larger(rows: &[Row]) -> Vec<&Row> {
    let mut larger: Vec<&Row> = rows.iter().filter(|row| row.size.is_some_and(|size| size > 1.01)).collect();
    larger.sort_by(|a, b| b.size.unwrap_or(1.0).total_cmp(&a.size.unwrap_or(1.0)));
    larger
}
