//! `blosc repair`

use crate::arguments::cli::Global;
use crate::arguments::size;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::source::Opening;
use crate::inputs::{format, input};
use crate::outputs::changing::Alone;
use crate::outputs::output::{self, Output, Writing};
use crate::process::progress::{Progress, Task};
use crate::process::terminal::printable;
use crate::store;
use blosc_oxide::bloscpack::{Recovery, recover};
use blosc_oxide::{
    Container, Frame, FrameLayout, NdArray,
    repair::RepairReport,
    storage::{Durability, FileDirectory, FileStorage},
};
use clap::Args;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Save what is left of a damaged frame or array into a new file, and tell what is not.
///
/// The file itself is never changed or replaced, but for a Bloscpack file without OUTPUT: there, a
/// change that was interrupted is brought to its end or, if it had not come far enough, taken back.
#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// The damaged file or directory
    file: PathBuf,
    /// Where to write what is left [default: FILE with `.repaired` before its extension]
    output: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

impl Repair {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let place = self.file.display();
        self.file.symlink_metadata().at(&place)?;
        self.check_apart().at(&place)?;
        match Container::detect_path(&self.file).at_path(&self.file)? {
            Some(Container::Bloscpack) => self.finish_bloscpack(global).at(&place),
            Some(Container::Packed | Container::Chunk) => {
                Err(Failure::usage(format!("{place}: only frames, arrays and Bloscpack files can be mended")))
            }
            None if store::is_store(&self.file)? => Err(Failure::usage(format!(
                "{place}: a store is repaired member by member; `blosc verify` names those that are damaged"
            ))),
            _ => self.repair_frame(global).at(&place),
        }
    }

    /// Refuses to replace FILE: what cannot be saved today may be tomorrow.
    fn check_apart(&self) -> Outcome {
        match &self.output {
            Some(output) if output.exists() && input::is_same_file(output, &self.file)? => {
                Err(Failure::usage("OUTPUT is the damaged file itself, which stays as it is; give another OUTPUT"))
            }
            _ => Ok(()),
        }
    }

    fn target(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| repaired_name(&self.file))
    }

    fn repair_frame(&self, global: &Global) -> Outcome {
        let target = self.target();
        output::check_free(&target, self.writing)?;
        let options = Opening::new(global).frame_options();
        // Chunks are read to examine and to copy them, and in a file, large ones not all, to find
        // them.
        let is_sparse = self.file.metadata()?.is_dir();
        let times = if is_sparse { 2 } else { 3 };
        let total = Some(size::of_path(&self.file).saturating_mul(times));
        let progress = Progress::start(Task { verb: "repairing", total, compressed: None }, global.shows_progress());
        let repair = if is_sparse {
            Frame::repair_directory(progress.reading(FileDirectory::new(&self.file)), options)?
        } else {
            Frame::repair(progress.reading(FileStorage::open(&self.file)?), options)?
        };
        let report = repair.report();
        if report.nchunks == 0 {
            return Err(Failure::data("no chunk was found in it; nothing can be saved"));
        }
        let layout = if is_sparse { FrameLayout::Sparse } else { FrameLayout::Contiguous };
        let new = repair.frame_options().with_layout(layout).with_durability(Durability::None);
        let output = Output::to(&target, self.writing)?.like(&self.file);
        let mut edit = Frame::create(output.path(), new)?;
        repair.write_to(&mut edit)?;
        let frame = edit.commit()?;
        let is_array = format::is_array(&frame);
        let array = if is_array { NdArray::from_frame(frame).map(drop) } else { Ok(()) };
        drop(progress);
        output.finish()?;
        let told = if global.quiet { Ok(()) } else { tell_report(report, &target) };
        let (chunks, layers) = (report.damaged_chunks, report.damaged_metalayers);
        let lost = [
            (chunks > 0).then(|| format!("{chunks} of {} chunks are damaged; they are zeros", report.nchunks)),
            (layers > 0).then(|| format!("{layers} of the metalayers are damaged; they are not there")),
            array.err().map(|error| format!("an array is not whole ({error})")),
            report.may_be_incomplete().then(|| "something may be missing (see `not known`)".to_owned()),
        ];
        match lost.into_iter().flatten().reduce(|all, more| format!("{all}; {more}")) {
            None => told,
            // That nobody has read the report does not bring anything back.
            Some(lost) => Err(Failure::data(format!("{lost} in what was written"))),
        }
    }

    fn finish_bloscpack(&self, global: &Global) -> Outcome {
        let (path, recovery) = match &self.output {
            Some(target) => (target, self.recover_copy(target, global)?),
            None => {
                let _alone = Alone::at(&self.file)?;
                (&self.file, recover(&mut FileStorage::open_writable(&self.file)?, global.limits())?)
            }
        };
        if !global.quiet {
            let found = match recovery {
                Recovery::Completed => "an interrupted change was brought to its end",
                Recovery::TakenBack => "what an interrupted change had left behind the last chunk was cut off",
                _ => "no change was interrupted",
            };
            writeln!(
                output::stdout()?,
                "{}: {found}; `blosc verify` tells whether its chunks are good",
                printable(&path.display().to_string())
            )?;
        }
        Ok(())
    }

    fn recover_copy(&self, target: &Path, global: &Global) -> Outcome<Recovery> {
        let output = Output::to(target, self.writing)?.like(&self.file);
        let mut copy = output.create()?;
        io::copy(&mut File::open(&self.file)?, &mut copy)?;
        let recovery = recover(&mut FileStorage::from(copy), global.limits())?;
        output.finish()?;
        Ok(recovery)
    }
}

fn tell_report(report: &RepairReport, target: &Path) -> Outcome {
    let mut out = output::stdout()?;
    write!(out, "{report}")?;
    Ok(writeln!(out, "written to {}", printable(&target.display().to_string()))?)
}

/// `data.b2frame` becomes `data.repaired.b2frame`.
fn repaired_name(path: &Path) -> PathBuf {
    let mut name = path.with_extension("").into_os_string();
    name.push(".repaired");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    PathBuf::from(name)
}
