//! Which settings suit the user's own data: they are tried out on a sample of it.

mod candidate;
mod choice;
mod measure;
mod page;
mod sample;
mod shapes;
mod table;
mod verdict;

pub(crate) use candidate::Candidate;
pub(crate) use choice::Wishes;
pub(crate) use measure::{Measurement, Trial};
pub(crate) use page::page;
pub(crate) use sample::{Sample, sample_of};
pub(crate) use shapes::{Part, best_shapes};
pub(crate) use table::{command_line, table};
pub(crate) use verdict::Verdict;

use crate::failure::Outcome;
use blosc_oxide::{Codec, Filter};
use candidate::{BLOCKSIZES, FILTER_PROBES, filter_choices, levels, quick_levels};
use std::time::Duration;

/// A setting that takes longer than this on the sample is not tried with higher levels.
const PATIENCE: Duration = Duration::from_millis(2500);
/// With how many of the filters all codecs are tried.
const KEPT_FILTERS: usize = 2;

/// Tries out the settings that a goal can choose from, fewer than `tune` does; `fits` is whether
/// the format can have filters.
pub(crate) fn quick(
    trial: &mut Trial<'_>,
    wishes: &Wishes,
    fits: &dyn Fn(&[Filter]) -> bool,
) -> Outcome<Vec<Measurement>> {
    let mut found = vec![trial.measure(&Candidate::usual())?];
    let mut choices = Vec::new();
    for filters in filter_choices(trial.typesize()).into_iter().filter(|filters| fits(filters)) {
        let measurement = trial.measure(&Candidate::new(Codec::Zstd, 1, &filters))?;
        choices.push((measurement.cbytes, filters));
        found.push(measurement);
    }
    choices.sort_by_key(|(cbytes, _)| *cbytes);
    for (codec, level) in quick_levels(wishes) {
        for (_, filters) in choices.iter().take(KEPT_FILTERS) {
            let candidate = Candidate::new(codec, level, filters);
            if codec.is_built_in() && !found.iter().any(|known| known.candidate == candidate) {
                found.push(trial.measure(&candidate)?);
            }
        }
    }
    Ok(found)
}

/// Tries out codecs, levels, filters and block sizes; `tell` hears how far it has come.
pub(crate) fn tune(trial: &mut Trial<'_>, mut tell: impl FnMut(usize)) -> Outcome<Vec<Measurement>> {
    let mut found: Vec<Measurement> = Vec::new();
    let mut add = |measurement: Measurement, found: &mut Vec<Measurement>| {
        found.push(measurement);
        tell(found.len());
    };
    // What the others are compared with.
    add(trial.measure(&Candidate::usual())?, &mut found);
    let mut choices = Vec::new();
    for filters in filter_choices(trial.typesize()) {
        let mut cbytes = 0;
        for (codec, level) in FILTER_PROBES {
            let measurement = trial.measure(&Candidate::new(codec, level, &filters))?;
            cbytes += measurement.cbytes;
            add(measurement, &mut found);
        }
        choices.push((cbytes, filters));
    }
    choices.sort_by_key(|(cbytes, _)| *cbytes);
    for (_, filters) in choices.iter().take(KEPT_FILTERS) {
        for (codec, levels) in levels() {
            for &level in levels {
                let candidate = Candidate::new(codec, level, filters);
                if found.iter().any(|known| known.candidate == candidate) {
                    continue;
                }
                let measurement = trial.measure(&candidate)?;
                let is_slow = measurement.compress > PATIENCE;
                add(measurement, &mut found);
                if is_slow {
                    break;
                }
            }
        }
    }
    let len = trial.len();
    let blocksizes = BLOCKSIZES.into_iter().filter(|&size| size <= len);
    for candidate in Verdict::of(&found).map_or_else(Vec::new, |verdict| verdict.candidates(&found)) {
        let is_slow = found.iter().any(|known| known.candidate == candidate && known.compress > PATIENCE);
        // Where it takes long, only the one is tried that can make the result smaller.
        for blocksize in blocksizes.clone().skip(if is_slow { BLOCKSIZES.len() - 1 } else { 0 }) {
            let measurement = trial.measure(&candidate.with_blocksize(blocksize))?;
            add(measurement, &mut found);
        }
    }
    Ok(found)
}
