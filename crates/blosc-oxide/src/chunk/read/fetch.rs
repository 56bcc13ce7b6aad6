//! Which bytes of a stored chunk a part of its data needs, so that the rest need not be read.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::le_i32;
use crate::chunk::format::header::Header;
use crate::chunk::format::plan::Plan;
use crate::error::Result;
use crate::filter::id as filter_id;
use std::ops::Range;

const START_LEN: usize = 4;
const SIZE_LEN: usize = 4;

/// Fills all of a buffer with the bytes of a chunk from a position on.
pub(crate) type ReadPart<'a> = dyn Fn(usize, &mut [u8]) -> Result<()> + 'a;

/// A buffer for chunks of which only what is needed is read. What is not needed is zeros, never
/// what was there before.
#[derive(Debug, Default)]
pub(crate) struct FetchBuffer {
    /// The chunk, and anything after it.
    pub(crate) bytes: Vec<u8>,
    /// The ranges that may be other than zeros.
    dirty: Vec<Range<usize>>,
}

/// A chunk that is being read.
struct Fetch<'a> {
    header: Header,
    /// As long as the chunk.
    bytes: &'a mut [u8],
    dirty: &'a mut Vec<Range<usize>>,
    /// How much has been read from the start on.
    read: usize,
    read_part: &'a ReadPart<'a>,
}

/// Reads what is necessary to decode the ranges `wanted` of a chunk's data, and returns the header.
/// The chunk is then at the start of the buffer, with zeros for what is not needed.
///
/// The buffer holds the first `read` bytes of the chunk, or more than all of it, and at least its
/// header.
pub(crate) fn fetch(
    buffer: &mut FetchBuffer,
    read: usize,
    wanted: &[Range<usize>],
    read_part: &ReadPart<'_>,
) -> Result<Header> {
    let FetchBuffer { bytes, dirty } = buffer;
    let header = Header::parse(bytes.get(..read).unwrap_or_default())?;
    mark(dirty, 0..read);
    if bytes.len() < header.cbytes() {
        // No memory for a chunk that is not there.
        read_part(header.cbytes().saturating_sub(1), &mut [0])?;
        bytes.resize(header.cbytes(), 0);
    }
    let bytes = bytes.get_mut(..header.cbytes()).unwrap_or_default();
    let mut fetch = Fetch { header, bytes, dirty, read, read_part };
    fetch.run(wanted)?;
    Ok(header)
}

impl Fetch<'_> {
    fn run(&mut self, wanted: &[Range<usize>]) -> Result<()> {
        let is_whole = wanted.iter().map(ExactSizeIterator::len).fold(0, usize::saturating_add) >= self.header.nbytes();
        if is_whole || self.header.has_vlblocks() || self.header.special().is_some() {
            self.read_up_to(self.header.cbytes())?;
            self.dirty.retain(|range| range.end > self.bytes.len());
            mark(self.dirty, 0..self.bytes.len());
            return Ok(());
        }
        self.clean();
        if self.header.is_memcpyed() {
            return wanted.iter().try_for_each(|wanted| {
                let start = wanted.start.saturating_add(self.header.header_len());
                self.read_range(start..start.saturating_add(wanted.len()))
            });
        }
        let starts_end = self.header.nblocks().saturating_mul(START_LEN).saturating_add(self.header.header_len());
        self.read_up_to(starts_end)?;
        if self.header.has_dict() {
            let dict_at = starts_end.saturating_add(SIZE_LEN);
            self.read_up_to(dict_at)?;
            let len = le_i32(self.bytes, starts_end).and_then(|len| usize::try_from(len).ok()).unwrap_or_default();
            self.read_up_to(dict_at.saturating_add(len))?;
        }
        self.read_blocks(wanted)
    }

    fn read_blocks(&mut self, wanted: &[Range<usize>]) -> Result<()> {
        let blocksize = self.header.blocksize().max(1);
        let is_delta = self.header.pipeline().contains(filter_id::DELTA);
        let ranges = wanted
            .iter()
            .map(|part| part.start.checked_div(blocksize).unwrap_or_default()..part.end.div_ceil(blocksize));
        let blocks: Vec<usize> = is_delta.then_some(0).into_iter().chain(ranges.flatten()).collect();
        let extents = self.extents(&blocks);
        for extent in merged(extents.clone()) {
            self.read_range(extent)?;
        }
        if blocks.iter().zip(&extents).all(|(&block, extent)| self.is_inside(block, extent)) {
            return Ok(());
        }
        // A block that reaches into the next is damaged, or the start of the next is: decoding all
        // of it shows which.
        self.read_up_to(self.bytes.len())
    }

    /// What each of the blocks takes of the chunk: from where it starts to where the next one in
    /// the chunk does, which need not be the next one in order.
    fn extents(&self, blocks: &[usize]) -> Vec<Range<usize>> {
        let mut starts: Vec<usize> = (0..self.header.nblocks()).map(|block| self.start(block)).collect();
        starts.sort_unstable();
        let extent = |&block: &usize| {
            let start = self.start(block);
            let following = starts.partition_point(|&other| other <= start);
            start..starts.get(following).copied().unwrap_or(self.bytes.len())
        };
        blocks.iter().map(extent).collect()
    }

    /// Whether the streams of a block, which has been read, end where its extent does or before.
    fn is_inside(&self, block: usize, extent: &Range<usize>) -> bool {
        let taken = Plan::new(&self.header, self.bytes).and_then(|plan| plan.block(block)?.cbytes());
        taken.is_ok_and(|taken| taken <= extent.len())
    }

    fn start(&self, block: usize) -> usize {
        let at = block.saturating_mul(START_LEN).saturating_add(self.header.header_len());
        le_i32(self.bytes, at).and_then(|start| usize::try_from(start).ok()).unwrap_or_default()
    }

    fn read_up_to(&mut self, end: usize) -> Result<()> {
        let end = end.min(self.bytes.len());
        if end > self.read {
            self.read_range(self.read..end)?;
            self.read = end;
        }
        Ok(())
    }

    /// Reads a range that may be damaged: what lies outside the chunk is left for the decoder to
    /// report.
    fn read_range(&mut self, range: Range<usize>) -> Result<()> {
        let start = range.start.max(self.read);
        let end = range.end.min(self.bytes.len());
        match self.bytes.get_mut(start..end) {
            Some(part) if !part.is_empty() => {
                mark(self.dirty, start..end);
                (self.read_part)(start, part)
            }
            _ => Ok(()),
        }
    }

    /// Zeros whatever an earlier chunk has left.
    fn clean(&mut self) {
        for range in self.dirty.iter() {
            let left = range.start.max(self.read)..range.end.min(self.bytes.len());
            self.bytes.get_mut(left).unwrap_or_default().fill(0);
        }
        let len = self.bytes.len();
        self.dirty.retain(|range| range.end > len);
        mark(self.dirty, 0..self.read);
    }
}

/// The same bytes, with neighbours in one range.
fn merged(mut extents: Vec<Range<usize>>) -> Vec<Range<usize>> {
    extents.sort_unstable_by_key(|extent| extent.start);
    extents.dedup_by(|next, last| {
        let is_more = next.start <= last.end;
        if is_more {
            last.end = last.end.max(next.end);
        }
        is_more
    });
    extents
}

/// Adds a range to those that are dirty. What one range covers another need not, or the list would
/// grow with every read.
fn mark(dirty: &mut Vec<Range<usize>>, range: Range<usize>) {
    if !dirty.iter().any(|other| other.start <= range.start && range.end <= other.end) {
        dirty.retain(|other| other.start < range.start || range.end < other.end);
        dirty.push(range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_many_small_chunks_marks_little() {
        let chunk = crate::chunk::Compressor::new(crate::chunk::Options::new(1)).unwrap().compress(&[7; 100]).unwrap();
        let mut buffer = FetchBuffer { bytes: chunk.clone(), ..FetchBuffer::default() };
        buffer.bytes.resize(4096, 1);
        for _ in 0..100 {
            for range in [0..100, 5..6] {
                fetch(&mut buffer, 4096, std::slice::from_ref(&range), &|_, _| Ok(())).unwrap();
            }
        }
        assert!(buffer.dirty.len() <= 2, "{:?}", buffer.dirty);
    }
}
