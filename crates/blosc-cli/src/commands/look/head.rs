//! `blosc head`

use crate::arguments::cli::Global;
use crate::arguments::dtype::Dtype;
use crate::arguments::slice::{self, Taken};
use crate::failure::{At, Failure, Outcome};
use crate::inputs::input;
use crate::inputs::values::Values;
use crate::outputs::output;
use crate::show::values::{hex, printed, texts};
use blosc_oxide::NpyHeader;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// How many rows are printed.
const ROWS: u64 = 10;
/// An array with more items is printed by its edges, with so many items at each.
const MANY: u64 = 1000;
const EDGE: u64 = 3;
/// How many bytes are on a line of hex.
const LINE: u64 = 16;

/// Print values: of arrays as NumPy does, of other data in hex.
///
/// Of more than a thousand items, those at the edges are printed, with dots between them.
#[derive(Debug, Args)]
pub(crate) struct Head {
    /// The file, FILE/member of a store, or an .npy file; `-` is standard input
    input: PathBuf,
    /// How many rows to print, or lines of bytes [default: 10, or all of --slice]
    #[arg(long, short = 'n', value_name = "N")]
    rows: Option<u64>,
    /// A part of an array, as in Python: "0:10,5,::2", "...,0"
    #[arg(long, allow_hyphen_values = true)]
    slice: Option<String>,
}

impl Head {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let place = input::shown(&self.input);
        let values = Values::open(&self.input, global)?;
        let text = match &values.described {
            Some(described) => self.array(&values, described).at(&place)?,
            None if self.slice.is_some() => {
                let why = "--slice is for arrays, and this is none; `blosc decompress --bytes A..B` takes a part of it";
                return Err(Failure::usage(format!("{place}: {why}")));
            }
            None => {
                let end = self.rows.unwrap_or(ROWS).saturating_mul(LINE).min(values.nbytes());
                hex(&values.range(0, end).in_data(&place)?, 0)
            }
        };
        Ok(output::stdout()?.write_all(text.as_bytes())?)
    }

    fn array(&self, values: &Values, described: &NpyHeader) -> Outcome<String> {
        let mut taken = slice::parse(self.slice.as_deref().unwrap_or_default(), described.shape())?;
        let rows = self.rows.or(self.slice.is_none().then_some(ROWS));
        if let (Some(rows), Some(first)) = (rows, taken.iter_mut().find(|taken| !taken.is_index)) {
            first.count = first.count.min(rows);
        }
        let axes: Vec<Taken> = taken.iter().copied().filter(|taken| !taken.is_index).collect();
        let nitems = axes.iter().fold(1_u64, |product, axis| product.saturating_mul(axis.count));
        let is_short = nitems <= MANY;
        let edges = |taken: &Taken| -> Vec<u64> {
            let at = |range: std::ops::Range<u64>| range.map(|at| taken.index(at)).collect();
            if is_short || taken.count <= 2 * EDGE {
                return at(0..taken.count);
            }
            [at(0..EDGE), at(taken.count - EDGE..taken.count)].concat()
        };
        let indices: Vec<Vec<u64>> = taken.iter().map(edges).collect();
        let shown: Vec<usize> =
            taken.iter().zip(&indices).filter(|(taken, _)| !taken.is_index).map(|(_, indices)| indices.len()).collect();
        let dots: Vec<Option<usize>> =
            axes.iter().zip(&shown).map(|(axis, &shown)| (axis.count > shown as u64).then_some(shown / 2)).collect();
        let bytes = values.items_at(described, &indices)?;
        let dtype = Dtype::of(&described.dtype(), described.itemsize());
        let items: Vec<&[u8]> = bytes.chunks(described.itemsize().max(1)).collect();
        Ok(printed(&texts(&dtype, &items), &shown, &dots) + "\n")
    }
}
