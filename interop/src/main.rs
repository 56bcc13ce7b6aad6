//! Our side of the interop test: chunks (`write`, `read`), Bloscpack files (`write-bloscpack`,
//! `append-bloscpack`, `convert-npy`), frames that both sides change in turn (`frames`, `turn`,
//! `serve`) and at the same time (`append`), and arrays that they change in turn (`arrays`,
//! `turn-arrays`, `read-arrays`, `serve`).
#![expect(clippy::print_stdout, reason = "a command that reports its counts")]

mod arrays;
mod bloscpack;
mod cases;
mod chunk_set;
mod frames;
mod turns;

use std::process::ExitCode;

const LEAST_WRITTEN: usize = 3000;
const LEAST_READ: usize = 1000;
const LEAST_BLOSCPACK: usize = 100;
const LEAST_FRAMES: usize = 60;
const LEAST_ARRAYS: usize = 50;
const LEAST_NDLZ: usize = 12;

const USAGE: &str = "usage: interop write DIRECTORY
       interop read DIRECTORY...
       interop write-bloscpack|append-bloscpack|convert-npy DIRECTORY
       interop frames DIRECTORY
       interop turn DIRECTORY NUMBER disk|memory
       interop arrays DIRECTORY
       interop turn-arrays DIRECTORY NUMBER
       interop read-arrays DIRECTORY
       interop append FRAME WRITER COUNT
       interop serve PATH
       interop path";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first().map(|(command, rest)| (command.as_str(), rest)) {
        Some(("write", [directory])) => write(directory),
        Some(("read", directories)) if !directories.is_empty() => read(directories),
        Some(("write-bloscpack", [directory])) => write_bloscpack(directory),
        Some(("append-bloscpack", [directory])) => append_bloscpack(directory),
        Some(("convert-npy", [directory])) => convert_npy(directory),
        Some(("frames", [directory])) => {
            let count = frames::create(directory);
            println!("blosc-oxide wrote {count} frames");
            success(count >= LEAST_FRAMES)
        }
        Some(("turn", [directory, number, via])) => {
            let number = number.parse().expect("the number of the turn");
            let via = if via == "memory" { frames::Via::Memory } else { frames::Via::Disk };
            let count = frames::turn(directory, number, via);
            println!("theirs read and changed by blosc-oxide: {count} frames");
            success(count >= LEAST_FRAMES)
        }
        Some(("arrays", [directory])) => {
            let count = arrays::create(directory);
            println!("blosc-oxide wrote {count} arrays");
            success(count >= LEAST_ARRAYS)
        }
        Some(("turn-arrays", [directory, number])) => {
            let count = arrays::turn(directory, number.parse().expect("the number of the turn"));
            println!("theirs read and changed by blosc-oxide: {count} arrays");
            success(count >= LEAST_ARRAYS)
        }
        Some(("read-arrays", [directory])) => {
            let count = arrays::read(directory);
            println!("theirs read by blosc-oxide: {count} arrays of ndlz");
            success(count >= LEAST_NDLZ)
        }
        Some(("path", [])) => {
            println!("{}", std::env::current_exe().expect("a program that runs").display());
            ExitCode::SUCCESS
        }
        Some(("serve", [path])) => success(turns::serve(path) > 0),
        Some(("append", [path, writer, count])) => {
            let (writer, count) = (writer.parse().expect("a number"), count.parse().expect("a number"));
            let result = frames::append_with_lock(path, writer, count);
            result.as_ref().err().iter().for_each(|error| println!("{error}"));
            success(result.is_ok())
        }
        _ => {
            println!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn write(directory: &str) -> ExitCode {
    let mut writer = chunk_set::Writer::default();
    for case in cases::all() {
        writer.add(&case);
    }
    let written = writer.finish(directory);
    println!("blosc-oxide wrote {written} chunks");
    success(written >= LEAST_WRITTEN)
}

fn read(directories: &[String]) -> ExitCode {
    let mut enough = true;
    let mut failures = Vec::new();
    for directory in directories {
        let rows = chunk_set::read(directory);
        failures.extend(rows.iter().filter_map(chunk_set::Row::problem));
        println!("theirs read by blosc-oxide: {} chunks of {directory}", rows.len());
        enough &= rows.len() >= LEAST_READ;
    }
    failures.iter().take(40).for_each(|failure| println!("{failure}"));
    println!("{} of theirs differ", failures.len());
    success(enough && failures.is_empty())
}

fn write_bloscpack(directory: &str) -> ExitCode {
    let written = bloscpack::write(directory);
    println!("blosc-oxide wrote {written} Bloscpack files");
    success(written >= LEAST_BLOSCPACK)
}

fn append_bloscpack(directory: &str) -> ExitCode {
    let (read, problems) = bloscpack::read_and_append(directory);
    problems.iter().take(40).for_each(|problem| println!("{problem}"));
    println!("files of {directory} read and appended to by blosc-oxide: {read}, {} differ", problems.len());
    success(read >= LEAST_BLOSCPACK / 2 && problems.is_empty())
}

fn convert_npy(directory: &str) -> ExitCode {
    success(bloscpack::convert_npy(directory) > 0)
}

fn success(is_success: bool) -> ExitCode {
    if is_success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
