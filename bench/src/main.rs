//! blosc-oxide against C-Blosc2, measured side by side in one run.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "figures of a benchmark, and data made by formula"
)]

mod arguments;
mod data;
mod guard;
mod install;
mod machine;
mod measure;
mod peer;
mod report;
mod rows;
mod suite;

use arguments::{Arguments, Command, USAGE};
use peer::Peer;
use rows::Row;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let result = arguments::parse(std::env::args().skip(1)).map_err(|problem| format!("{problem}\n\n{USAGE}"));
    let result = result.and_then(|command| match command {
        Command::Compare(arguments) => compare(&arguments),
        Command::Guard { update } => guard::check(update),
        Command::Operation(name) => guard::run(&name),
        Command::Install => install::install().map(|library| println!("{}", library.display())),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn compare(arguments: &Arguments) -> Result<(), String> {
    let peer = Peer::load(&arguments.peer)
        .map_err(|problem| format!("{}: {problem}\n`bench install` gets it", arguments.peer.display()))?;
    let machine = machine::describe(peer.version());
    println!("{machine}");
    let memcpy = suite::memcpy(arguments);
    for (len, speed) in &memcpy {
        println!("{:10} {:52} {speed:8.2} GB/s", "memcpy", format!("{} KiB", len >> 10));
    }
    let (start, mut rows) = (Instant::now(), Vec::new());
    suite::run(&peer, arguments, |row| {
        print_row(&row);
        rows.push(row);
    });
    println!("\n{} rows in {} s", rows.len(), start.elapsed().as_secs());
    println!("\nhow many times as fast as C-Blosc2\n\n{}", report::table(&rows));
    println!("every row that is slower than its goal lets one be\n\n{}", report::behind(&rows));
    for row in report::larger(&rows).iter().take(20) {
        println!("larger than C's: {} {:.3}", row.name, row.size.unwrap_or(1.0));
    }
    if let Some(path) = &arguments.json {
        write(path, &report::to_json(&rows, &machine, &memcpy).to_string())?;
    }
    if let Some(path) = &arguments.html {
        write(path, &report::page(&rows, &machine, &memcpy))?;
    }
    Ok(())
}

fn write(path: &Path, content: &str) -> Result<(), String> {
    std::fs::write(path, content).map_err(|problem| format!("{}: {problem}", path.display()))
}

fn print_row(row: &Row) {
    let size = row.size.map_or_else(String::new, |size| format!("  size {size:.3}"));
    println!("{:10} {:52} {:8.2} GB/s  {:6.2} x{size}", row.area, row.name, row.speed(), row.pair.ratio);
}
