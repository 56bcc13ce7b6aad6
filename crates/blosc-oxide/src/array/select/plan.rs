//! Selections of all axes together: which chunks and blocks they touch, and where the items go.

use super::axis::{AxisBlock, AxisPlan, AxisSelection, CheckedSelection, Group};
use crate::array::geometry::Geometry;
use crate::array::geometry::coordinates::advance;
use crate::array::geometry::copy::{Dims, c_strides};
use crate::error::{Result, bail, error};
use crate::limits::Limits;
use blosc_kernels::boxes::BoxMut;

/// The selection of each axis.
pub(in crate::array) struct Selection {
    pub(in crate::array) axes: Vec<AxisPlan>,
    /// The size of the result.
    pub(in crate::array) nbytes: usize,
}

impl Selection {
    /// Checks `selections`, and finds the chunks and blocks that they touch; `limits` bound how
    /// many these can be along an axis.
    pub(in crate::array) fn new(geometry: &Geometry, selections: &[AxisSelection], limits: Limits) -> Result<Self> {
        let checked = checked(geometry, selections)?;
        let counts = checked.iter().map(CheckedSelection::count);
        let nbytes = if counts.clone().any(|count| count == 0) {
            Some(0)
        } else {
            counts.clone().try_fold(geometry.typesize(), usize::checked_mul)
        };
        let nbytes = nbytes.ok_or_else(|| error!(LimitExceeded, "a slice has more bytes than can be counted"))?;
        let lengths = geometry.shape().iter().zip(geometry.chunks()).zip(geometry.blocks());
        let plans = checked.iter().zip(lengths);
        // Of nothing there are no parts, though an axis may be as long as a header can say.
        let plans = plans.map(|(selection, ((&length, &chunk), &block))| match nbytes {
            0 => Ok(AxisPlan::empty(selection)),
            _ => AxisPlan::new(selection, length, chunk, block, limits),
        });
        Ok(Self { axes: plans.collect::<Result<_>>()?, nbytes })
    }

    /// How many items are selected along each axis.
    pub(in crate::array) fn counts(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.count).collect()
    }

    /// The shape of the result: an axis with a single index is dropped.
    pub(in crate::array) fn shape(&self) -> Vec<usize> {
        self.axes.iter().filter(|axis| axis.keeps_axis).map(|axis| axis.count).collect()
    }

    /// Bytes from one item to the next along each axis of the result, in C order.
    pub(in crate::array) fn c_strides(&self, typesize: usize) -> Vec<usize> {
        c_strides(self.axes.iter().map(|axis| axis.count), typesize)
    }

    /// How many chunks are touched along each axis.
    pub(in crate::array) fn chunk_counts(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.chunks.len()).collect()
    }

    /// How many blocks are touched.
    pub(in crate::array) fn nblocks(&self) -> usize {
        self.axes.iter().fold(1, |nblocks, axis| nblocks.saturating_mul(axis.nblocks()))
    }

    /// The number of a chunk that is touched, by which one it is along each axis.
    pub(in crate::array) fn chunk_index(&self, geometry: &Geometry, which: &[usize]) -> usize {
        let place = self.axes.iter().zip(which).map(|(axis, &at)| axis.chunks[at].place);
        usize::try_from(geometry.number_of(place)).unwrap_or(usize::MAX)
    }

    /// The parts of each axis that are worked on by themselves, so many that `workers` have enough
    /// to do.
    pub(in crate::array) fn groups(&self, workers: usize) -> Vec<Vec<Group>> {
        let mut groups: Vec<Vec<Group>> = self.axes.iter().map(|axis| axis.groups(false)).collect();
        if workers < 2 {
            return groups;
        }
        let enough = 4 * workers;
        for axis in 0..groups.len() {
            let jobs = groups.iter().fold(1_usize, |jobs, groups| jobs.saturating_mul(groups.len()));
            if jobs >= enough {
                break;
            }
            groups[axis] = self.axes[axis].groups(true);
        }
        groups
    }
}

/// The selections of all axes, checked against their lengths.
pub(in crate::array) fn checked(geometry: &Geometry, selections: &[AxisSelection]) -> Result<Vec<CheckedSelection>> {
    if selections.len() != geometry.ndim() {
        bail!(InvalidArgument, "{} selections are given for {} dimensions", selections.len(), geometry.ndim());
    }
    let axes = selections.iter().zip(geometry.shape()).enumerate();
    axes.map(|(axis, (selection, &length))| CheckedSelection::new(selection, axis, length)).collect()
}

/// Hands out the parts of the selection, each with its own part of the result.
pub(in crate::array) struct Parts<'a> {
    groups: &'a [Vec<Group>],
    /// The next group along each axis.
    next: Vec<usize>,
    /// The rest of the result along each axis, within one group of every axis before it.
    rest: Vec<Option<BoxMut<'a>>>,
    /// The axis that is being cut, or `None` when all is handed out.
    axis: Option<usize>,
}

/// A part: which group of each axis, and its box of the result.
pub(in crate::array) struct Part<'a> {
    pub(in crate::array) groups: Vec<&'a Group>,
    pub(in crate::array) target: BoxMut<'a>,
}

impl<'a> Parts<'a> {
    pub(in crate::array) fn new(groups: &'a [Vec<Group>], target: BoxMut<'a>) -> Self {
        let mut rest: Vec<Option<BoxMut<'a>>> = groups.iter().map(|_| None).collect();
        match rest.first_mut() {
            Some(first) => *first = Some(target),
            None => rest.push(Some(target)),
        }
        Self { groups, next: vec![0; groups.len()], rest, axis: Some(0) }
    }

    /// Hands out nothing more.
    pub(in crate::array) fn stop(&mut self) {
        self.axis = None;
    }

    fn take_one_group(&mut self, axis: usize) -> Option<BoxMut<'a>> {
        let group = self.groups[axis].get(self.next[axis])?;
        let (part, rest) = self.rest[axis].take()?.split_at(axis, group.places.len());
        self.rest[axis] = Some(rest);
        self.next[axis] += 1;
        Some(part)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let mut axis = self.axis?;
        if self.groups.is_empty() {
            self.stop();
            return Some(Part { groups: Vec::new(), target: self.rest[0].take()? });
        }
        loop {
            match self.take_one_group(axis) {
                Some(target) if axis + 1 == self.groups.len() => {
                    self.axis = Some(axis);
                    let groups = self.groups.iter().zip(&self.next).map(|(groups, &next)| &groups[next - 1]);
                    return Some(Part { groups: groups.collect(), target });
                }
                Some(part) => {
                    axis += 1;
                    self.next[axis] = 0;
                    self.rest[axis] = Some(part);
                }
                None if axis == 0 => {
                    self.stop();
                    return None;
                }
                None => axis -= 1,
            }
        }
    }
}

/// Items of a block that form a box, and where they go.
pub(in crate::array) struct BoxCopy {
    /// Where the first one is in the block, and bytes from one to the next along each axis.
    pub(in crate::array) start: usize,
    pub(in crate::array) strides: Dims<isize>,
    /// The place of the first one in the result.
    pub(in crate::array) to: Dims<usize>,
    pub(in crate::array) shape: Dims<usize>,
}

/// Calls `copy` for each box of selected items of a block, given by its selection along each axis.
pub(in crate::array) fn each_box(blocks: &[&AxisBlock], strides: &[usize], mut copy: impl FnMut(&BoxCopy)) {
    let mut which = vec![0; blocks.len()];
    loop {
        let mut found = BoxCopy {
            start: 0,
            strides: Dims::new(blocks.len()),
            to: Dims::new(blocks.len()),
            shape: Dims::new(blocks.len()),
        };
        for (axis, (block, &stride)) in blocks.iter().zip(strides).enumerate() {
            let span = block.spans[which[axis]];
            found.start += span.from * stride;
            // The step of a single item leads nowhere, and may be longer than memory.
            found.strides[axis] = if span.count == 1 { 0 } else { span.step * stride.cast_signed() };
            found.to[axis] = span.to;
            found.shape[axis] = span.count;
        }
        copy(&found);
        if !advance(&mut which, |axis| blocks[axis].spans.len()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_result_is_handed_out_once() {
        let geometry = Geometry::new(1, &[10, 9], &[4, 5], &[2, 2]).unwrap();
        let selections = [AxisSelection::slice(9, None, -1), (1..9).into()];
        let selection = Selection::new(&geometry, &selections, Limits::new()).unwrap();
        for workers in [1, 8] {
            let groups = selection.groups(workers);
            let mut out = vec![0; selection.nbytes];
            let target = BoxMut::new(&mut out, 1, &selection.counts(), &selection.c_strides(1)).unwrap();
            for mut part in Parts::new(&groups, target) {
                let shape = part.target.shape().to_vec();
                let lens: Vec<usize> = part.groups.iter().map(|group| group.places.len()).collect();
                assert_eq!(shape, lens);
                let one = blosc_kernels::boxes::Source { bytes: &[1], start: 0, strides: &[0, 0] };
                part.target.copy_from(&[0, 0], &shape, one);
            }
            assert_eq!(out, [1; 80]);
        }
    }
}
