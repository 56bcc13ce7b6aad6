//! blosc-oxide against the C libraries, measured side by side in one run.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "figures of a benchmark, and data made by formula"
)]

mod abi;
mod arguments;
mod busy;
mod capped;
mod data;
mod dependent;
mod grid;
mod growth;
mod guard;
mod install;
mod machine;
mod measure;
mod peer;
mod report;
mod rows;
mod suite;

use arguments::{Arguments, Command, USAGE};
use busy::BusyLoops;
use peer::{Blosc1, Peer};
use report::Run;
use rows::Row;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let result = arguments::parse(std::env::args().skip(1)).map_err(|problem| format!("{problem}\n\n{USAGE}"));
    let result = result.and_then(|command| match command {
        Command::Compare(arguments) => compare(&arguments),
        Command::Chunks { data, arguments } => chunks(&arguments, &data),
        Command::Report { files, arguments } => put_together(&files, &arguments),
        Command::Abi(abi) => abi::run(&abi),
        Command::Abi2(abi) => abi::run_blosc2(&abi),
        Command::Sizes(arguments) => rows::sizes::run(&arguments, &load(&arguments)?),
        Command::Growth(growth) => growth::run(&growth),
        Command::Commits(commits) => run_commits(&commits),
        Command::GrowthStep { operation, nchunks, directory } => growth::step(&operation, nchunks, &directory),
        Command::Guard { update } => guard::check(update),
        Command::Operation { name, frame } => guard::run(&name, &frame),
        Command::Install => install(),
        Command::Spin => {
            busy::spin();
            Ok(())
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn install() -> Result<(), String> {
    install::install()?;
    for library in capped::install()? {
        println!("{}", library.display());
    }
    Ok(())
}

fn missing(path: &Path, problem: &libloading::Error) -> String {
    format!("{}: {problem}\n`bench install` gets it", path.display())
}

fn load(arguments: &Arguments) -> Result<Peer, String> {
    Peer::load(&arguments.peer).map_err(|problem| missing(&arguments.peer, &problem))
}

fn run_commits(commits: &growth::Commits) -> Result<(), String> {
    let peer = Peer::load(&commits.peer).map_err(|problem| missing(&commits.peer, &problem))?;
    println!("{}", machine::describe(peer.version(), None));
    growth::run_commits(commits, &peer)
}

fn load_blosc1(arguments: &Arguments) -> Result<Option<Blosc1>, String> {
    let load = || Blosc1::load(&arguments.blosc1).map_err(|problem| missing(&arguments.blosc1, &problem));
    arguments.wants("blosc1").then(load).transpose()
}

fn compare(arguments: &Arguments) -> Result<(), String> {
    let (peer, mut blosc1) = (load(arguments)?, load_blosc1(arguments)?);
    if arguments.wants("dependent") {
        // Before anything is measured, so that the compiler disturbs nothing.
        dependent::build()?;
    }
    let machine = machine::describe(peer.version(), blosc1.as_ref().map(Blosc1::version));
    println!("{machine}");
    let memcpy = suite::memcpy(arguments);
    for (len, speed) in &memcpy {
        println!("{:17} {:60} {speed:8.2} GB/s", "memcpy", format!("{} KiB", len >> 10));
    }
    let loops = arguments.is_busy.then(BusyLoops::start).transpose()?;
    let machine = match &loops {
        Some(loops) => format!("{machine}; beside {} busy loops", loops.count()),
        None => machine,
    };
    let (start, mut rows) = (Instant::now(), Vec::new());
    suite::run(&peer, blosc1.as_mut(), arguments, |row| {
        print_row(&row);
        rows.push(row);
    })?;
    drop(loops);
    let run = Run { machine, memcpy, rows, seconds: start.elapsed().as_secs(), is_busy: arguments.is_busy };
    write_reports(arguments, &run)?;
    if run.is_busy { report::check(&run) } else { Ok(()) }
}

fn write_reports(arguments: &Arguments, run: &Run) -> Result<(), String> {
    println!("\n{}", report::markdown(run));
    if let Some(path) = &arguments.json {
        write(path, &report::to_json(run).to_string())?;
    }
    if let Some(path) = &arguments.html {
        write(path, &report::page(run))?;
    }
    if let Some(path) = &arguments.markdown {
        rewrite(path, |text| report::put_into(text, run))?;
    }
    Ok(())
}

fn put_together(files: &[PathBuf], arguments: &Arguments) -> Result<(), String> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|problem| format!("{}: {problem}", path.display()))?;
        serde_json::from_str(&text).map_err(|problem| format!("{}: {problem}", path.display()))
    };
    let runs = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let run = report::from_json(&runs).ok_or("these files are not what `compare --json` writes")?;
    write_reports(arguments, &run)
}

fn chunks(arguments: &Arguments, data: &str) -> Result<(), String> {
    println!("{}", dependent::chunks(arguments, &load(arguments)?, data)?);
    Ok(())
}

fn write(path: &Path, content: &str) -> Result<(), String> {
    std::fs::write(path, content).map_err(|problem| format!("{}: {problem}", path.display()))
}

fn rewrite(path: &Path, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    write(path, &change(&text).map_err(|problem| format!("{}: {problem}", path.display()))?)
}

fn print_row(row: &Row) {
    let size = row.size.map_or_else(String::new, |size| format!("  size {size:.3}"));
    println!("{:17} {:60} {:8.2} GB/s  {:6.2} x{size}", row.area, row.name, row.speed(), row.pair.ratio);
}
