//! The chunks of a new array.

use super::edit::ArrayEdit;
use super::encoder::{Fill as FillChunk, Filled};
use crate::array::geometry::copy::{Plain, c_strides, put_into_blocks, size};
use crate::array::options::Fill;
use crate::chunk::{Special, fill_chunk};
use crate::error::{Result, bail};
use crate::schunk::{Source, Staged};

impl ArrayEdit {
    pub(in crate::array) fn fill(&mut self, fill: &Fill) -> Result<()> {
        let special = match fill {
            Fill::Zeros => Special::Zeros,
            Fill::NaN => Special::NaN,
            Fill::Uninit => Special::Uninit,
            Fill::Value(value) => return self.fill_value(value),
        };
        if special == Special::NaN && !matches!(self.array.geometry.typesize(), 4 | 8) {
            bail!(InvalidArgument, "items of {} bytes cannot be NaN", self.array.geometry.typesize());
        }
        let (nchunks, size) = (self.array.geometry.nchunks(), self.array.geometry.chunk_nbytes());
        if nchunks == 0 || size == 0 {
            return self.fill_with(Vec::new());
        }
        self.array.sc.fill(special, nchunks.saturating_mul(size as u64), size)
    }

    fn fill_value(&mut self, value: &[u8]) -> Result<()> {
        let typesize = self.array.geometry.typesize();
        if value.len() != typesize {
            bail!(InvalidArgument, "a value of {} bytes is given for items of {typesize}", value.len());
        }
        let chunk = fill_chunk(value, self.array.geometry.chunk_nbytes(), self.array.sc.options())?;
        let staged = (0..self.array.geometry.nchunks()).map(|_| self.array.sc.stage(chunk.clone()));
        let staged = staged.collect::<Result<_>>()?;
        self.fill_with(staged)
    }

    pub(in crate::array) fn fill_with_data(&mut self, data: &[u8]) -> Result<()> {
        let geometry = self.array.geometry.clone();
        let expected = geometry.nitems().checked_mul(geometry.typesize() as u64);
        if expected != Some(data.len() as u64) {
            bail!(
                InvalidArgument,
                "{} bytes are given for an array of {} items of {}",
                data.len(),
                geometry.nitems(),
                geometry.typesize()
            );
        }
        let strides = c_strides(geometry.shape().iter().map(|&length| size(length)), geometry.typesize());
        self.fill_chunks(&|_, number, chunk, _| {
            let spans = geometry.spans_of_chunk(number as u64);
            let start: usize = spans.iter().zip(&strides).map(|(span, stride)| size(span.start) * stride).sum();
            let shape: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
            if geometry.has_padding(&spans) {
                chunk.fill(0);
            } else if geometry.keeps_order() {
                return Ok(Filled::Ready(&data[start..start + chunk.len()]));
            }
            put_into_blocks(&geometry, &shape, Plain { bytes: data, start, strides: &strides }, chunk);
            Ok(Filled::Whole)
        })
    }

    /// Makes all chunks of a new array.
    pub(in crate::array) fn fill_chunks(&mut self, fill: &FillChunk<'_>) -> Result<()> {
        let geometry = self.array.geometry.clone();
        let staged = self.encode(&geometry, size(geometry.nchunks()), fill)?;
        self.fill_with(staged)
    }

    /// Makes `staged` the chunks of a new array.
    fn fill_with(&mut self, staged: Vec<Staged>) -> Result<()> {
        let sources = staged.into_iter().map(Source::New).collect();
        self.array.sc.arrange(0, sources, self.array.geometry.chunk_nbytes(), self.array.geometry.block_nbytes().max(1))
    }
}
