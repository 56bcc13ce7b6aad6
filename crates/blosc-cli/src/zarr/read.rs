//! Chunks of a Zarr array, and a b2nd array made of them.

use super::chunks::transposed;
use super::write::{span, step};
use super::{Description, LAYER, plain};
use crate::failure::{At, Outcome};
use crate::outputs::encoding::Recipe;
use crate::outputs::sink;
use crate::process::progress::Progress;
use blosc_oxide::{AxisSelection, Fill, Limits, NdArray};
use std::path::{Path, PathBuf};

/// An array in a directory.
pub(crate) struct Zarr {
    directory: PathBuf,
    pub(crate) description: Description,
    /// The item that missing chunks consist of.
    fill: Vec<u8>,
    limits: Limits,
}

impl Zarr {
    /// Whether there is a Zarr array or group in a directory.
    pub(crate) fn is_at(directory: &Path) -> bool {
        super::Version::of(directory).is_some()
    }

    /// Opens the array in a directory.
    pub(crate) fn open(directory: &Path, limits: Limits) -> Outcome<Self> {
        let description = Description::open(directory)?;
        limits.check("an item", description.array.itemsize()).at_path(directory)?;
        let fill = description.fill().at(directory.display())?;
        Ok(Self { directory: directory.to_owned(), description, fill, limits })
    }

    /// The items of a chunk in C order, those outside of the array included; `None` if it is not
    /// there.
    fn chunk(&self, index: &[u64]) -> Outcome<Option<Vec<u8>>> {
        let key = self.description.key(index);
        let Some(bytes) = plain::read(&self.directory, &key, "a chunk", self.limits)? else { return Ok(None) };
        let path = self.directory.join(key);
        let nbytes = usize::try_from(self.description.chunk_nbytes()).unwrap_or(usize::MAX);
        self.limits.check("the data of a chunk", nbytes).at_path(&path)?;
        let coding = &self.description.coding;
        let items = coding.undone(bytes, nbytes, self.limits).in_data(path.display())?;
        let Some(order) = &coding.transposed else { return Ok(Some(items)) };
        let lengths: Vec<usize> =
            self.description.chunks.iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        let order = order.clone().unwrap_or_else(|| (0..lengths.len()).rev().collect());
        Ok(Some(transposed(&items, &lengths, &order, self.description.array.itemsize())))
    }

    /// Writes the items to a new b2nd array at `path`, chunk by chunk.
    pub(crate) fn write_to(&self, recipe: &Recipe, path: &Path, progress: &Progress) -> Outcome {
        let description = &self.description;
        let shape = description.array.shape();
        let options =
            sink::array_options(recipe, shape, sink::frame_options(recipe)).with_dtype(description.array.dtype());
        let is_zero = self.fill.iter().all(|&byte| byte == 0);
        let fill = if is_zero { Fill::Zeros } else { Fill::Value(self.fill.clone()) };
        let mut edit = NdArray::create(path, &options, &fill)?;
        let grid = description.grid();
        let mut index = vec![0; grid.len()];
        let nchunks = grid.iter().try_fold(1_u64, |product, &count| product.checked_mul(count)).unwrap_or(u64::MAX);
        for _ in 0..nchunks {
            if let Some(items) = self.chunk(&index)? {
                let spans: Vec<(u64, u64)> = index
                    .iter()
                    .zip(&description.chunks)
                    .zip(shape)
                    .map(|((&index, &chunk), &length)| span(index, chunk, length))
                    .collect();
                let selections: Vec<AxisSelection> =
                    spans.iter().map(|&(start, end)| AxisSelection::from(start..end)).collect();
                let kept: Vec<u64> = spans.iter().map(|(start, end)| end - start).collect();
                let items = cropped(items, &description.chunks, &kept, description.array.itemsize());
                edit.write(&selections, &items)?;
            }
            progress.add(description.chunk_nbytes());
            step(&mut index, &grid);
        }
        let vlmetalayers = edit.vlmetalayers_mut();
        vlmetalayers.add(LAYER, description.layer().as_bytes())?;
        for (name, content) in recipe.metadata.vllayers.iter().filter(|(name, _)| name != LAYER) {
            edit.vlmetalayers_mut().add(name, content)?;
        }
        for (name, content) in &recipe.metadata.layers {
            edit.metalayers_mut().add(name, content.as_slice())?;
        }
        edit.commit()?;
        Ok(())
    }
}

/// The items of a chunk that are inside of the array: the first `kept` along each axis.
fn cropped(items: Vec<u8>, chunks: &[u64], kept: &[u64], itemsize: usize) -> Vec<u8> {
    if chunks == kept {
        return items;
    }
    let size = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
    let row = kept.last().map_or(itemsize, |&length| size(length) * itemsize);
    let rows: usize = kept.iter().rev().skip(1).map(|&length| size(length)).product();
    let mut inside = Vec::with_capacity(rows * row);
    for number in 0..rows {
        let (mut at, mut rest, mut step) = (0, number, chunks.last().map_or(1, |&length| size(length)) * itemsize);
        for axis in (0..kept.len().saturating_sub(1)).rev() {
            let length = size(kept[axis]).max(1);
            at += rest % length * step;
            rest /= length;
            step *= size(chunks[axis]);
        }
        inside.extend(&items[at..at + row]);
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::cropped;

    #[test]
    fn what_is_outside_of_the_array_is_cut_off() {
        assert_eq!(cropped(b"abcdefgh".to_vec(), &[2, 4], &[2, 3], 1), b"abcefg");
        assert_eq!(cropped(b"abcdefgh".to_vec(), &[2, 2, 2], &[1, 2, 1], 1), b"ac");
        assert_eq!(cropped(b"abcdefgh".to_vec(), &[4], &[3], 2), b"abcdef");
    }
}
