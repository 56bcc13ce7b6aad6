//! Shapes of chunks and blocks, measured by what will be read of an array.

use crate::arguments::slice::Taken;
use crate::failure::Outcome;
use blosc_oxide::{ArrayOptions, AxisSelection, NdArray, NpyHeader, Options, storage::ReadAt};
use std::time::{Duration, Instant};

/// How much of an array is tried with.
const ROOM: u64 = 16 << 20;
/// How much data blocks have in the shapes that are tried, and how much their chunks.
const BLOCKS: [u64; 3] = [32 << 10, 128 << 10, 512 << 10];
const CHUNK: u64 = 4 << 20;
/// How often reading is tried.
const REPEATS: usize = 3;

/// A part of an array, in C order.
pub(crate) struct Part {
    lengths: Vec<u64>,
    bytes: Vec<u8>,
}

impl Part {
    /// The first items along each axis, of the longest axes fewer; no bytes if an item alone is too
    /// large.
    pub(crate) fn of(array: &NpyHeader, file: &dyn ReadAt) -> Outcome<Self> {
        let itemsize = array.itemsize() as u64;
        let mut lengths = array.shape().to_vec();
        while lengths.iter().fold(itemsize, |product, &length| product.saturating_mul(length)) > ROOM {
            let Some(longest) = lengths.iter_mut().max().filter(|longest| **longest > 1) else {
                return Ok(Self { lengths, bytes: Vec::new() });
            };
            *longest = longest.div_ceil(2);
        }
        let row = lengths.last().copied().unwrap_or(1) * itemsize;
        let rows: u64 = lengths.iter().rev().skip(1).product();
        let mut bytes = vec![0; usize::try_from(rows * row).unwrap_or_default()];
        for (number, part) in (0..rows).zip(bytes.chunks_mut(usize::try_from(row).unwrap_or(1).max(1))) {
            let (mut at, mut rest, mut step) = (0, number, array.shape().last().copied().unwrap_or(1) * itemsize);
            for axis in (0..lengths.len().saturating_sub(1)).rev() {
                at += rest % lengths[axis].max(1) * step;
                rest /= lengths[axis].max(1);
                step *= array.shape()[axis];
            }
            file.read_at(at, part)?;
        }
        Ok(Self { lengths, bytes })
    }
}

/// Shapes of chunks and blocks, and what they cost on a part of the array.
struct Found {
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    cbytes: u64,
    time: Duration,
}

/// The shapes with which what `access` takes is read fastest for the size that they have; `None` if
/// those that the library chooses are the best.
pub(crate) fn best_shapes(
    array: &NpyHeader,
    part: &Part,
    access: &[Taken],
    options: &Options,
) -> Outcome<Option<(Vec<u64>, Vec<u64>)>> {
    if part.bytes.is_empty() {
        return Ok(None);
    }
    let usual = ArrayOptions::new(array.shape(), options.clone()).geometry()?;
    let mut shapes = vec![(usual.chunks().to_vec(), usual.blocks().to_vec())];
    for nbytes in BLOCKS {
        let blocks = grown(&vec![1; array.shape().len()], array, access, nbytes);
        let chunks = grown(&blocks, array, access, CHUNK);
        shapes.push((chunks, blocks));
    }
    let mut found = Vec::new();
    for (chunks, blocks) in shapes {
        let (cbytes, time) = measure(part, access, &chunks, &blocks, options)?;
        found.push(Found { chunks, blocks, cbytes, time });
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes are compared, not counted")]
    let score = |found: &Found| found.cbytes as f64 * found.time.as_secs_f64().max(1e-9).sqrt();
    let best = (0..found.len()).min_by(|&one, &other| score(&found[one]).total_cmp(&score(&found[other])));
    Ok(best.filter(|&best| best > 0).map(|best| {
        let Found { chunks, blocks, .. } = found.swap_remove(best);
        (chunks, blocks)
    }))
}

/// A shape with so much data at the most: longer by factors of two, first along the axes of which
/// more is read, from the last on.
fn grown(from: &[u64], array: &NpyHeader, access: &[Taken], nbytes: u64) -> Vec<u64> {
    let mut lengths = from.to_vec();
    let size = |lengths: &[u64]| {
        lengths.iter().fold(array.itemsize() as u64, |product, &length| product.saturating_mul(length))
    };
    for is_read in [true, false] {
        loop {
            let before = lengths.clone();
            for axis in (0..lengths.len()).rev() {
                let wanted = if is_read { access[axis].count } else { array.shape()[axis] };
                let longer = (lengths[axis] * 2).min(wanted.max(1)).max(lengths[axis]);
                let old = std::mem::replace(&mut lengths[axis], longer);
                if size(&lengths) > nbytes {
                    lengths[axis] = old;
                }
            }
            if lengths == before {
                break;
            }
        }
    }
    // A chunk is whole blocks, or as long as the array.
    lengths
        .iter()
        .zip(from)
        .zip(array.shape())
        .map(|((&length, &of), &all)| if length >= all { all.max(1) } else { length / of * of })
        .collect()
}

/// How large the part becomes, and how long what is read of it takes.
fn measure(
    part: &Part,
    access: &[Taken],
    chunks: &[u64],
    blocks: &[u64],
    options: &Options,
) -> Outcome<(u64, Duration)> {
    let fitted = |shape: &[u64]| -> Vec<u64> {
        shape.iter().zip(&part.lengths).map(|(&length, &all)| length.min(all.max(1))).collect()
    };
    let (chunks, blocks) = (fitted(chunks), fitted(blocks));
    let options = ArrayOptions::new(&part.lengths, options.clone()).with_chunks(&chunks).with_blocks(&blocks);
    let array = NdArray::from_data(&options, &part.bytes)?;
    let selections: Vec<AxisSelection> = access
        .iter()
        .zip(&part.lengths)
        .map(|(taken, &length)| match taken.is_index {
            true => AxisSelection::Index(taken.start.min(length.saturating_sub(1))),
            false => AxisSelection::from(0..taken.count.min(length)),
        })
        .collect();
    let mut best = Duration::MAX;
    for _ in 0..REPEATS {
        let start = Instant::now();
        array.slice(&selections)?;
        best = best.min(start.elapsed());
    }
    Ok((array.super_chunk().cbytes(), best))
}

#[cfg(test)]
mod tests {
    use super::grown;
    use crate::arguments::slice::parse;
    use blosc_oxide::{ItemOrder, NpyHeader};

    #[test]
    fn blocks_lie_along_what_is_read() {
        let array = NpyHeader::new("<f4", [1000, 500, 300], ItemOrder::C).unwrap();
        let of = |text: &str, nbytes| {
            let access = parse(text, array.shape()).unwrap();
            grown(&[1, 1, 1], &array, &access, nbytes)
        };
        assert_eq!(of("0,:,:", 32 << 10)[0], 1, "one layer is read");
        let column = of(":,0,0", 32 << 10);
        assert_eq!(column[0], 1000, "all of the first axis is read: {column:?}");
    }
}
