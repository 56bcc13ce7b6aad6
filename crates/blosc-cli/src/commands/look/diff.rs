//! `blosc diff`

use crate::arguments::cli::Global;
use crate::arguments::dtype::{Dtype, in_words};
use crate::arguments::size;
use crate::commands::decompress::other_text;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::input;
use crate::inputs::values::{Values, strides};
use crate::outputs::output;
use crate::process::terminal::printable;
use crate::show::metadata::{BLP_NAME, Metadata};
use crate::show::values::texts;
use blosc_oxide::{ItemOrder, NpyHeader};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

/// Say whether two files hold the same: data, shape, type and metadata, and where they first
/// differ.
///
/// The files can have any formats, also .npy and none at all. The exit code is 1 if they differ.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// One file; `-` is standard input
    first: PathBuf,
    /// The other
    second: PathBuf,
}

impl Diff {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        if input::is_stream(&self.first) && input::is_stream(&self.second) {
            return Err(Failure::usage("standard input can be compared with a file, not with itself"));
        }
        let (first, second) = (Values::open_any(&self.first, global)?, Values::open_any(&self.second, global)?);
        let mut differences = Vec::new();
        if let (Some(first), Some(second)) = (&first.described, &second.described) {
            differences.extend(description_differences(first, second));
        } else if let Some(described) = first.described.as_ref().or(second.described.as_ref()) {
            differences.push(("array", described_in_words(described), "bytes".to_owned()));
            if second.described.is_some() {
                let only = differences.pop().map(|(what, one, other)| (what, other, one));
                differences.extend(only);
            }
        }
        if let (Some(first), Some(second)) = (&first.metadata, &second.metadata) {
            differences.extend(metadata_differences(first, second));
        }
        let data = self.first_difference(&first, &second)?;
        self.tell(&differences, data.as_deref(), first.nbytes(), global)
    }

    fn tell(
        &self,
        differences: &[(&str, String, String)],
        data: Option<&str>,
        nbytes: u64,
        global: &Global,
    ) -> Outcome {
        let mut out = output::stdout()?;
        let is_same = differences.is_empty() && data.is_none();
        if !global.quiet {
            let (first, second) = (input::shown(&self.first), input::shown(&self.second));
            let verdict = if is_same { "the same" } else { "different" };
            writeln!(out, "{} and {}: {verdict}", printable(&first), printable(&second))?;
            for (what, one, other) in differences {
                writeln!(out, "  {what:<14}{} and {}", printable(one), printable(other))?;
            }
            let data = data.map_or_else(|| format!("the same, {}", size::display(nbytes)), str::to_owned);
            writeln!(out, "  {:<14}{data}", "data")?;
        }
        if is_same { Ok(()) } else { Err(Failure::Told) }
    }

    /// Where the data first differs, in words.
    fn first_difference(&self, first: &Values, second: &Values) -> Outcome<Option<String>> {
        let (shown, other_shown) = (input::shown(&self.first), input::shown(&self.second));
        let order = match (first.order(), second.order()) {
            (one, other) if one == other => one,
            (_, other) if first.has_any_order() => other,
            (one, _) if second.has_any_order() => one,
            _ => {
                return Err(Failure::usage(
                    "one is in Fortran order, the other in C order; `blosc convert` makes a b2nd of one, which compares with both",
                ));
            }
        };
        let mut sides = [Side::new(first, shown), Side::new(second, other_shown)];
        let mut at = 0_u64;
        loop {
            for side in &mut sides {
                side.fill(at, order)?;
            }
            let [one, other] = &sides;
            let len = one.left().len().min(other.left().len());
            if let Some(place) = (0..len).find(|&place| one.left()[place] != other.left()[place]) {
                return Ok(Some(place_in_words(at + place as u64, first, second, order)?));
            }
            if len == 0 {
                let (one, other) = (first.nbytes(), second.nbytes());
                return Ok((one != other)
                    .then(|| format!("the same up to byte {at}, where one ends: {one} and {other} bytes")));
            }
            at += len as u64;
            sides.iter_mut().for_each(|side| side.used += len);
        }
    }
}

/// One of the files, read piece by piece.
struct Side<'a> {
    values: &'a Values,
    place: String,
    piece: Vec<u8>,
    used: usize,
}

impl<'a> Side<'a> {
    fn new(values: &'a Values, place: String) -> Self {
        Self { values, place, piece: Vec::new(), used: 0 }
    }

    fn left(&self) -> &[u8] {
        &self.piece[self.used..]
    }

    fn fill(&mut self, at: u64, order: ItemOrder) -> Outcome {
        if self.used == self.piece.len() && at < self.values.nbytes() {
            self.piece = self.values.bytes_from(at, order).in_data(&self.place)?;
            self.used = 0;
        }
        Ok(())
    }
}

/// What is at a byte: of arrays of the same kind its index and both values, else the bytes.
fn place_in_words(at: u64, first: &Values, second: &Values, order: ItemOrder) -> Outcome<String> {
    let alike = |one: &NpyHeader, other: &NpyHeader| one.shape() == other.shape() && one.dtype() == other.dtype();
    let described = match (&first.described, &second.described) {
        (Some(one), Some(other)) if alike(one, other) && one.itemsize() > 0 => one,
        _ => return Ok(format!("the first difference is at byte {at}")),
    };
    let ordered = NpyHeader::new(&described.dtype(), described.shape(), order)?;
    let mut rest = at / described.itemsize() as u64;
    let mut index = vec![0; described.shape().len()];
    let mut steps: Vec<(usize, u64)> = strides(&ordered).into_iter().enumerate().collect();
    steps.sort_by_key(|(_, step)| std::cmp::Reverse(*step));
    for (axis, step) in steps {
        index[axis] = rest / step.max(1);
        rest %= step.max(1);
    }
    let axes: Vec<Vec<u64>> = index.iter().map(|&index| vec![index]).collect();
    let dtype = Dtype::of(&described.dtype(), described.itemsize());
    let value = |values: &Values| -> Outcome<String> {
        let own = values.described.as_ref().unwrap_or(described);
        let item = values.items_at(own, &axes)?;
        Ok(texts(&dtype, &[&item]).concat().trim().to_owned())
    };
    let index: Vec<String> = index.iter().map(u64::to_string).collect();
    let (one, other) = (value(first)?, value(second)?);
    Ok(format!("the first difference is at [{}]: {} and {}", index.join(", "), printable(&one), printable(&other)))
}

fn described_in_words(described: &NpyHeader) -> String {
    format!("{} of {}", shape_in_words(described.shape()), in_words(&described.dtype()))
}

fn shape_in_words(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({}{})", lengths.join(", "), if lengths.len() == 1 { "," } else { "" })
}

fn description_differences(first: &NpyHeader, second: &NpyHeader) -> Vec<(&'static str, String, String)> {
    let mut differences = Vec::new();
    if first.shape() != second.shape() {
        differences.push(("shape", shape_in_words(first.shape()), shape_in_words(second.shape())));
    }
    if first.dtype() != second.dtype() {
        differences.push(("dtype", in_words(&first.dtype()), in_words(&second.dtype())));
    }
    differences
}

/// Metalayers and texts that only one has, or that differ.
fn metadata_differences(first: &Metadata, second: &Metadata) -> Vec<(&'static str, String, String)> {
    let layers = |metadata: &Metadata| {
        let text = other_text(metadata).map(|text| (BLP_NAME.to_owned(), text.as_bytes().to_vec()));
        metadata.layers.iter().chain(&metadata.vllayers).cloned().chain(text).collect::<BTreeMap<_, _>>()
    };
    let (one, other) = (layers(first), layers(second));
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let side = |content: Option<&Vec<u8>>, name: &str| match content {
        Some(content) => format!("{name} of {} bytes", content.len()),
        None => format!("no {name}"),
    };
    let differing = names.into_iter().filter(|name| one.get(*name) != other.get(*name));
    differing.map(|name| ("metadata", side(one.get(name), name), side(other.get(name), name))).collect()
}
