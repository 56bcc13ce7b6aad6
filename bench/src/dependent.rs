//! The build that a crate gets which depends on ours: cargo's default release profile, where ours
//! has link-time optimization.
//!
//! Both builds of this program measure the same chunks against C-Blosc2, one data set after the
//! other, each in a process of its own. C-Blosc2 is the same in both, so that the quotient of the
//! two ratios is how the builds compare.

use crate::arguments::Arguments;
use crate::data::real;
use crate::grid;
use crate::measure::Pair;
use crate::peer::Peer;
use crate::rows::{self, Row};
use blosc_oxide::Format;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the profile in Cargo.toml.
const PROFILE: &str = "dependent";

/// Builds the program with cargo's default profile; its path.
pub(crate) fn build() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|problem| problem.to_string())?;
    let target = program.ancestors().nth(2).ok_or("the program is in no target directory")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package=bench", "--profile", PROFILE]).arg("--target-dir").arg(target);
    command.arg("--manifest-path").arg(real::repository().join("Cargo.toml"));
    if cfg!(feature = "zstd-pure") {
        command.arg("--features=zstd-pure");
    }
    let status = command.status().map_err(|problem| format!("{command:?}: {problem}"))?;
    if status.success() { Ok(target.join(PROFILE).join("bench")) } else { Err(format!("{command:?}: {status}")) }
}

/// Measures both builds.
pub(crate) fn rows(arguments: &Arguments, add: &mut dyn FnMut(Row)) -> Result<(), String> {
    let theirs = build()?;
    let ours = std::env::current_exe().map_err(|problem| problem.to_string())?;
    let every = if arguments.is_quick { 4 } else { 1 };
    for name in real::names().step_by(every).filter(|name| arguments.matches(&[name])) {
        let [ours, theirs] = [&ours, &theirs].map(|program| measure(program, arguments, name));
        for (ours, theirs) in ours?.into_iter().zip(theirs?) {
            pair_of_rows(&ours, &theirs).into_iter().for_each(&mut *add);
        }
    }
    Ok(())
}

/// A row for each of what the build is compared with.
fn pair_of_rows(ours: &Row, theirs: &Row) -> [Row; 2] {
    let row = |against: &str, pair| Row {
        area: PROFILE,
        name: format!("{} {}, against {against}", theirs.area, theirs.name),
        group: format!("{}, against {against}", theirs.area),
        nbytes: theirs.nbytes,
        pair,
        size: None,
    };
    let builds = Pair { ours: theirs.pair.ours, theirs: ours.pair.ours, ratio: theirs.pair.ratio / ours.pair.ratio };
    [row("C-Blosc2", theirs.pair), row("our profile", builds)]
}

fn measure(program: &Path, arguments: &Arguments, data: &str) -> Result<Vec<Row>, String> {
    let mut command = Command::new(program);
    command.args(["chunks", data]).arg("--peer").arg(&arguments.peer);
    if arguments.is_quick {
        command.arg("--quick");
    }
    let output = command.output().map_err(|problem| format!("{command:?}: {problem}"))?;
    let rows: Value =
        serde_json::from_slice(&output.stdout).map_err(|problem| format!("{command:?} prints no JSON: {problem}"))?;
    let rows = rows.as_array().ok_or_else(|| format!("{command:?} prints no rows"))?;
    rows.iter().map(|row| Row::from_json(row).ok_or_else(|| format!("{command:?} prints {row}"))).collect()
}

/// What each of the two processes does: the rows of one data set, as JSON.
pub(crate) fn chunks(arguments: &Arguments, peer: &Peer, data: &str) -> Result<Value, String> {
    let data = real::load(data)?;
    let measured = grid::dependent(arguments.is_quick).into_iter().flat_map(|case| {
        rows::chunks::rows(arguments.effort, &data, case, Format::Blosc2, &mut peer.contexts(case, data.typesize))
    });
    Ok(measured.map(|row| row.to_json()).collect())
}
