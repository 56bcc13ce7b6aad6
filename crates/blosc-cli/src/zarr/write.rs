//! A Zarr array made of the items of a b2nd array.

use super::{Description, LAYER, Version, attributes};
use crate::arguments::array::description;
use crate::failure::{At, Failure, Outcome};
use crate::outputs::encoding::Recipe;
use crate::zarr::chunks::{Coding, Packing};
use blosc_oxide::{AxisSelection, Codec, Compressor, Filter, Format, ItemOrder, NdArray, NpyHeader};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Writes the items of `array` to a new directory at `path`, chunk by chunk. Chunks that have
/// nothing but the fill value are left out, as zarr-python does it; what items are in those that
/// have none is not said.
pub(crate) fn write(array: &NdArray, recipe: &Recipe, version: Version, path: &Path) -> Outcome {
    let described = description(array, array.shape())?;
    let described = NpyHeader::new(&described.dtype(), described.shape(), ItemOrder::C)?;
    let target = target(array, recipe, version, described)?;
    let fill = target.fill()?;
    fs::create_dir(path).at_path(path)?;
    for (name, content) in target.files(&codec(recipe, version)?)? {
        let file = path.join(name);
        fs::write(&file, content + "\n").at_path(&file)?;
    }
    let mut compressor = Compressor::new(recipe.options.clone().with_format(Format::Blosc1))?;
    let (grid, shape) = (target.grid(), target.array.shape().to_vec());
    let nchunks = grid.iter().try_fold(1_u64, |product, &count| product.checked_mul(count)).unwrap_or(u64::MAX);
    let mut index = vec![0; grid.len()];
    for _ in 0..nchunks {
        let spans = index.iter().zip(&target.chunks).zip(&shape);
        let spans: Vec<(u64, u64)> = spans.map(|((&index, &chunk), &length)| span(index, chunk, length)).collect();
        let selections: Vec<AxisSelection> =
            spans.iter().map(|&(start, end)| AxisSelection::from(start..end)).collect();
        let items = array.slice(&selections)?;
        let is_empty = !target.fill_value.is_null() && items.chunks_exact(fill.len().max(1)).all(|item| item == fill);
        if !is_empty {
            let kept: Vec<u64> = spans.iter().map(|(start, end)| end - start).collect();
            let file = path.join(target.key(&index));
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent).at_path(parent)?;
            }
            fs::write(&file, compressor.compress(&padded(items, &target.chunks, &kept, &fill))?).at_path(&file)?;
        }
        step(&mut index, &grid);
    }
    Ok(())
}

/// What a chunk covers along an axis.
pub(super) fn span(index: u64, chunk: u64, length: u64) -> (u64, u64) {
    let start = index.saturating_mul(chunk);
    (start, start.saturating_add(chunk).min(length))
}

/// The next place in a grid.
pub(super) fn step(index: &mut [u64], grid: &[u64]) {
    for axis in (0..grid.len()).rev() {
        index[axis] += 1;
        if index[axis] < grid[axis] {
            return;
        }
        index[axis] = 0;
    }
}

/// What the directory is to say: what a metalayer has kept of it, and the rest as usual.
fn target(array: &NdArray, recipe: &Recipe, version: Version, described: NpyHeader) -> Outcome<Description> {
    let text = array.super_chunk().vlmetalayers().get(LAYER)?.unwrap_or_default();
    let kept: Value = serde_json::from_slice(&text).unwrap_or_default();
    let fill_value = match kept.get("fill_value") {
        Some(value) if super::fill::bytes(value, &described, version).is_ok() => value.clone(),
        _ => usual_fill(&described, version)?,
    };
    Ok(Description {
        version,
        fill_value,
        chunks: recipe.chunks.clone().unwrap_or_else(|| array.geometry().chunks().to_vec()),
        coding: Coding { packings: vec![Packing::Blosc], transposed: None },
        separator: if version == Version::V2 { '.' } else { '/' },
        has_prefix: version == Version::V3,
        attributes: attributes::of(&text),
        dimension_names: kept.get("dimension_names").cloned().unwrap_or_default(),
        array: described,
    })
}

fn usual_fill(array: &NpyHeader, version: Version) -> Outcome<Value> {
    let choices = [Value::from(0), Value::from(false), serde_json::json!([0, 0]), Value::Null];
    let is_bool = array.dtype().ends_with("b1");
    let mut choices = choices.into_iter().filter(|choice| !is_bool || choice.is_boolean());
    let fits =
        |choice: &Value| super::fill::bytes(choice, array, version).is_ok_and(|_| is_bool || !choice.is_boolean());
    choices
        .find(fits)
        .ok_or_else(|| Failure::usage(format!("Zarr has no fill value for items of type {}", array.dtype())))
}

/// How the chunks are compressed, in the words of Zarr.
fn codec(recipe: &Recipe, version: Version) -> Outcome<Value> {
    let name = match recipe.codec {
        Codec::Snappy | Codec::Lizard => return Err(Failure::usage(format!("Zarr has no codec {}", recipe.codec))),
        codec => codec.to_string(),
    };
    let (number, word) = match recipe.filters.as_slice() {
        [] => (0, "noshuffle"),
        [Filter::Shuffle] => (1, "shuffle"),
        [Filter::BitShuffle] => (2, "bitshuffle"),
        others => {
            let names: Vec<String> = others.iter().map(ToString::to_string).collect();
            return Err(Failure::usage(format!("Zarr has no filters {}; give --filter shuffle", names.join(", "))));
        }
    };
    Ok(match version {
        Version::V2 => {
            serde_json::json!({ "id": "blosc", "cname": name, "clevel": recipe.level, "shuffle": number, "blocksize": 0 })
        }
        Version::V3 => serde_json::json!({ "name": "blosc", "configuration": {
            "typesize": recipe.typesize, "cname": name, "clevel": recipe.level, "shuffle": word, "blocksize": 0 } }),
    })
}

/// A whole chunk of the items that are inside of the array.
fn padded(items: Vec<u8>, chunks: &[u64], kept: &[u64], fill: &[u8]) -> Vec<u8> {
    if chunks == kept {
        return items;
    }
    let size = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
    let mut whole = fill.repeat(chunks.iter().map(|&length| size(length)).product());
    let row = kept.last().map_or(fill.len(), |&length| size(length) * fill.len());
    for (number, part) in items.chunks(row.max(1)).enumerate() {
        let (mut at, mut rest, mut step) = (0, number, chunks.last().map_or(1, |&length| size(length)) * fill.len());
        for axis in (0..kept.len().saturating_sub(1)).rev() {
            let length = size(kept[axis]).max(1);
            at += rest % length * step;
            rest /= length;
            step *= size(chunks[axis]);
        }
        whole[at..at + part.len()].copy_from_slice(part);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::padded;

    #[test]
    fn what_is_outside_of_the_array_is_the_fill_value() {
        assert_eq!(padded(b"abcefg".to_vec(), &[2, 4], &[2, 3], b"."), b"abc.efg.");
        assert_eq!(padded(b"ac".to_vec(), &[2, 2, 2], &[1, 2, 1], b"."), b"a.c.....");
    }
}
