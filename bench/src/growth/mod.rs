//! How time and memory grow with the number of chunks of a frame.

mod commits;
mod operations;
mod page;

use crate::report::replace;
pub(crate) use commits::Commits;
pub(crate) use commits::run as run_commits;
use operations::{Cost, OPERATIONS};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is to be measured.
pub(crate) struct Growth {
    /// The most chunks.
    pub(crate) max: usize,
    /// Where the frames are written.
    pub(crate) directory: PathBuf,
    pub(crate) html: Option<PathBuf>,
    pub(crate) json: Option<PathBuf>,
    /// A file with a marked place for the table.
    pub(crate) markdown: Option<PathBuf>,
}

/// One operation on frames of ten times as many chunks each.
struct Curve {
    operation: &'static str,
    points: Vec<(usize, Cost)>,
}

/// From one number of chunks to ten times as many, so many times the cost.
struct Step {
    operation: &'static str,
    what: &'static str,
    nchunks: usize,
    times: f64,
}

/// Ten times the chunks may cost so many times as much before it is called worse than linear: what
/// was in a cache no longer is.
const LINEAR: f64 = 15.0;
/// What takes less time, or memory, is not looked at: it is the noise of the machine.
const MIN_SECONDS: f64 = 0.005;
const MIN_MEMORY: f64 = 4e6;

/// Measures and reports.
pub(crate) fn run(growth: &Growth) -> Result<(), String> {
    let mut curves: Vec<Curve> =
        OPERATIONS.iter().map(|&(operation, _)| Curve { operation, points: Vec::new() }).collect();
    let scratch = growth.directory.join(format!("blosc-growth-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(|problem| format!("{}: {problem}", scratch.display()))?;
    let result = counts(growth.max).try_for_each(|nchunks| measure(nchunks, &scratch, &mut curves));
    // What cannot be removed is in the directory for temporary files.
    let _ = std::fs::remove_dir_all(&scratch);
    result?;
    report(growth, &curves)
}

fn report(growth: &Growth, curves: &[Curve]) -> Result<(), String> {
    let verdict = verdict(curves);
    let markdown = format!("{}\n{verdict}\n", table(curves));
    println!("\n{markdown}");
    if let Some(path) = &growth.json {
        crate::write(path, &to_json(curves).to_string())?;
    }
    if let Some(path) = &growth.html {
        crate::write(path, &page::page(curves, &verdict))?;
    }
    if let Some(path) = &growth.markdown {
        crate::rewrite(path, |text| replace(text, "growth", &markdown))?;
    }
    Ok(())
}

/// 10, 100 and so on up to `max`.
fn counts(max: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(10), |nchunks: &usize| nchunks.checked_mul(10))
        .take_while(move |&nchunks| nchunks <= max)
}

fn measure(nchunks: usize, directory: &Path, curves: &mut [Curve]) -> Result<(), String> {
    for curve in curves {
        let cost = in_a_process(curve.operation, nchunks, directory)?;
        let busy = cost.busy.map_or_else(String::new, |busy| format!("({busy:.6} busy)"));
        println!("{:8} {nchunks:>10} chunks {:>12.6} s {busy} {:>10}", curve.operation, cost.seconds, mib(&cost));
        curve.points.push((nchunks, cost));
    }
    Ok(())
}

fn mib(cost: &Cost) -> String {
    cost.memory.map_or_else(String::new, |bytes| format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64))
}

fn in_a_process(operation: &str, nchunks: usize, directory: &Path) -> Result<Cost, String> {
    let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
    let mut command = Command::new(program);
    command.args(["growth-step", operation, &nchunks.to_string()]).arg(directory);
    let output = command.output().map_err(|problem| format!("{command:?}: {problem}"))?;
    let cost: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let cost = cost.and_then(|cost| read(&cost));
    cost.ok_or_else(|| format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn read(cost: &Value) -> Option<Cost> {
    Some(Cost { seconds: cost["seconds"].as_f64()?, busy: cost["busy"].as_f64(), memory: cost["memory"].as_u64() })
}

/// What the process of an operation does.
pub(crate) fn step(operation: &str, nchunks: usize, directory: &Path) -> Result<(), String> {
    let cost = operations::run(operation, nchunks, directory)?;
    println!("{}", json!({ "seconds": cost.seconds, "busy": cost.busy, "memory": cost.memory }));
    Ok(())
}

fn to_json(curves: &[Curve]) -> Value {
    let point = |(nchunks, cost): &(usize, Cost)| json!({ "nchunks": nchunks, "seconds": cost.seconds, "busy": cost.busy, "memory": cost.memory });
    let points = |curve: &Curve| curve.points.iter().map(point).collect::<Vec<_>>();
    curves.iter().map(|curve| json!({ "operation": curve.operation, "points": points(curve) })).collect()
}

/// Time and memory by number of chunks, a table in Markdown.
fn table(curves: &[Curve]) -> String {
    let names: Vec<&str> = curves.iter().map(|curve| curve.operation).collect();
    let mut table = format!("| chunks | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    let rows = curves.first().map_or(0, |curve| curve.points.len());
    for row in 0..rows {
        let cell = |curve: &Curve| format!("{} {}", seconds(curve.points[row].1.seconds), mib(&curve.points[row].1));
        let cells: Vec<String> = curves.iter().map(cell).collect();
        table.push_str(&format!("| {} | {} |\n", curves[0].points[row].0, cells.join(" | ")));
    }
    table
}

fn seconds(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-3.. => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

/// The steps that cost more than they would if the cost were linear, by the time that a processor
/// was busy where that is known.
fn worse_than_linear(curves: &[Curve]) -> Vec<Step> {
    let mut steps = Vec::new();
    for Curve { operation, points } in curves {
        for pair in points.windows(2) {
            let [(nchunks, before), (_, after)] = pair else { continue };
            let time = |cost: &Cost| cost.busy.unwrap_or(cost.seconds);
            let memory = |cost: &Cost| cost.memory.unwrap_or(0) as f64;
            let costs = [
                ("time", time(before), time(after), MIN_SECONDS),
                ("memory", memory(before), memory(after), MIN_MEMORY),
            ];
            for (what, before, after, least) in costs {
                let times = after / before.max(least / 10.0);
                if after > least && times > LINEAR {
                    steps.push(Step { operation, what, nchunks: *nchunks, times });
                }
            }
        }
    }
    steps
}

/// What is worse than linear, in words.
fn verdict(curves: &[Curve]) -> String {
    let steps = worse_than_linear(curves);
    if steps.is_empty() {
        return format!("Nothing takes more than {LINEAR} times the time or memory for ten times the chunks.");
    }
    let words = |Step { operation, what, nchunks, times }: &Step| {
        format!("{operation}: {times:.0} times the {what} from {nchunks} to {} chunks", nchunks * 10)
    };
    format!("Worse than linear: {}.", steps.iter().map(words).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(seconds: &[f64]) -> Vec<Curve> {
        let cost = |&seconds: &f64| Cost { seconds, busy: None, memory: None };
        vec![Curve { operation: "open", points: counts(usize::MAX).zip(seconds.iter().map(cost)).collect() }]
    }

    #[test]
    fn what_grows_with_the_square_is_worse_than_linear() {
        let steps = worse_than_linear(&curve(&[0.001, 0.1, 10.0]));
        assert_eq!(steps.iter().map(|step| step.nchunks).collect::<Vec<_>>(), [10, 100]);
    }

    #[test]
    fn linear_growth_and_noise_are_not() {
        assert!(worse_than_linear(&curve(&[1e-6, 1e-4, 0.006, 0.06, 0.7])).is_empty());
    }

    #[test]
    fn counts_are_powers_of_ten() {
        assert_eq!(counts(10_000_000).collect::<Vec<_>>(), [10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]);
    }
}
