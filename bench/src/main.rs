//! blosc-oxide against C-Blosc2, measured side by side in one run.
#![expect(clippy::print_stdout, reason = "a table is what this program is for")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "figures of a benchmark, and data made by formula"
)]

mod data;
mod measure;
mod peer;
mod rows;

use measure::{Effort, geomean};
use peer::Peer;
use rows::Row;
use rows::chunks::{CODECS, Case, FILTERS};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: bench compare [--quick] [--peer PATH/libblosc2.so] [--only AREA] [--json FILE]

  --quick      fewer rows and shorter samples
  --peer PATH  the C library; else the variable BLOSC2_LIBRARY names it
  --only AREA  one of chunks, filters, items, frames
  --json FILE  writes all rows as JSON";

struct Arguments {
    effort: Effort,
    is_quick: bool,
    peer: PathBuf,
    only: Option<String>,
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(problem) => {
            println!("{problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let peer = match Peer::load(&arguments.peer) {
        Ok(peer) => peer,
        Err(problem) => {
            println!("{}: {problem}", arguments.peer.display());
            return ExitCode::from(2);
        }
    };
    let rows = measure_all(&peer, &arguments);
    print_groups(&rows);
    if let Some(path) = &arguments.json {
        let rows: Vec<_> = rows.iter().map(Row::to_json).collect();
        if let Err(problem) = std::fs::write(path, serde_json::Value::from(rows).to_string()) {
            println!("{}: {problem}", path.display());
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args().skip(1);
    if given.next().as_deref() != Some("compare") {
        return Err("the command is missing".to_owned());
    }
    let mut arguments = Arguments {
        effort: Effort::FULL,
        is_quick: false,
        peer: std::env::var_os("BLOSC2_LIBRARY").map_or_else(|| PathBuf::from("libblosc2.so"), PathBuf::from),
        only: None,
        json: None,
    };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--quick" => (arguments.effort, arguments.is_quick) = (Effort::QUICK, true),
            "--peer" => arguments.peer = PathBuf::from(value()?),
            "--only" => arguments.only = Some(value()?),
            "--json" => arguments.json = Some(PathBuf::from(value()?)),
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(arguments)
}

fn measure_all(peer: &Peer, arguments: &Arguments) -> Vec<Row> {
    let wants = |area: &str| arguments.only.as_deref().is_none_or(|only| only == area);
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        print_row(&row);
        rows.push(row);
    };
    if wants("filters") {
        filter_rows(peer, arguments, &mut add);
    }
    if wants("chunks") {
        chunk_rows(peer, arguments, &mut add);
    }
    if wants("items") {
        item_rows(peer, arguments, &mut add);
    }
    if wants("frames") {
        frame_rows(peer, arguments, &mut add);
    }
    rows
}

fn filter_rows(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    for name in rows::filters::NAMES {
        for typesize in [1, 2, 3, 4, 8, 12, 16, 24, 32] {
            for len in [32 << 10, 256 << 10] {
                add(rows::filters::row(peer, arguments.effort, name, typesize, len));
            }
        }
    }
}

fn chunk_rows(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    let lens: &[usize] = if arguments.is_quick { &[2 << 20] } else { &[4 << 10, 64 << 10, 2 << 20, 16 << 20] };
    let levels: &[u8] = if arguments.is_quick { &[5] } else { &[1, 5, 9] };
    for &len in lens {
        for name in data::NAMES {
            let data = data::data_set(name, len);
            for codec in CODECS {
                for &level in levels {
                    for filter in FILTERS {
                        for threads in [1, 2] {
                            let case = Case { codec, level, filter, threads };
                            rows::chunks::rows(peer, arguments.effort, &data, case).into_iter().for_each(&mut *add);
                        }
                    }
                }
            }
        }
    }
}

fn item_rows(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    for name in ["linspace_f64", "i32_sequence", "f32_walk", "field3d_f32"] {
        let data = data::data_set(name, 2 << 20);
        for codec in ["blosclz", "lz4", "zstd"] {
            for count in [1, 16, 1024] {
                add(rows::items::row(peer, arguments.effort, &data, codec, count));
            }
        }
    }
}

fn frame_rows(peer: &Peer, arguments: &Arguments, add: &mut impl FnMut(Row)) {
    let nchunks: &[usize] = if arguments.is_quick { &[10_000] } else { &[10_000, 100_000] };
    for &nchunks in nchunks {
        for len in [4 << 10, 64 << 10] {
            rows::frames::rows(peer, arguments.effort, len, nchunks).into_iter().for_each(&mut *add);
        }
    }
    add(rows::frames::to_file(peer, 4 << 10, if arguments.is_quick { 2_000 } else { 100_000 }));
}

fn print_row(row: &Row) {
    let size = row.size.map_or_else(String::new, |size| format!("  size {size:.3}"));
    println!("{:10} {:44} {:8.2} GB/s  {:6.2} x{size}", row.area, row.name, row.speed(), row.pair.ratio);
}

fn print_groups(rows: &[Row]) {
    println!("\ngeometric means of how many times as fast as C-Blosc2, and the slowest of each group");
    let mut groups: Vec<(&str, &str)> = rows.iter().map(|row| (row.area, row.group.as_str())).collect();
    groups.sort_unstable();
    groups.dedup();
    for (area, group) in groups {
        let in_group = || rows.iter().filter(|row| row.area == area && row.group == group);
        let mean = geomean(in_group().map(|row| row.pair.ratio));
        let worst = in_group().map(|row| row.pair.ratio).fold(f64::INFINITY, f64::min);
        println!("{area:10} {group:28} {mean:6.2} x  worst {worst:6.2} x  of {}", in_group().count());
    }
}
