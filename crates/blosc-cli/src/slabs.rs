//! An array cut into slabs that follow each other in C order, each small enough for memory.

use blosc_oxide::{Geometry, Pick};
use std::ops::Range;

/// How an array is cut: along one axis, for each index of the axes before it.
#[derive(Debug, Clone)]
pub(crate) struct Slabs {
    shape: Vec<u64>,
    axis: usize,
    /// How many indices of the axis a slab takes.
    run: u64,
    /// How many bytes an index of the axis takes.
    row_nbytes: u64,
}

/// A part of an array that is one run of bytes in C order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Slab {
    /// Where it starts among the bytes of the whole array.
    pub(crate) start: u64,
    /// How many bytes it has.
    #[cfg(test)]
    nbytes: u64,
    /// What it takes of each axis.
    pub(crate) picks: Vec<Pick>,
}

impl Slabs {
    /// Slabs of about `room` bytes at the most, made of whole chunks where that is possible.
    pub(crate) fn new(geometry: &Geometry, room: u64) -> Self {
        let shape = geometry.shape().to_vec();
        let row_nbytes = |axis: usize| {
            let inner = shape.iter().skip(axis + 1).fold(1_u64, |product, &length| product.saturating_mul(length));
            inner.saturating_mul(geometry.typesize() as u64).max(1)
        };
        let slab_nbytes = |axis: usize| row_nbytes(axis).saturating_mul(geometry.chunks()[axis].max(1));
        let last = shape.len().saturating_sub(1);
        let axis = (0..shape.len()).find(|&axis| slab_nbytes(axis) <= room).unwrap_or(last);
        let (run, row_nbytes) = match geometry.chunks().get(axis) {
            Some(&chunk) => (chunk.max(1).saturating_mul((room / slab_nbytes(axis)).max(1)), row_nbytes(axis)),
            None => (1, geometry.typesize() as u64),
        };
        Self { shape, axis, run, row_nbytes }
    }

    /// All slabs.
    pub(crate) fn all(&self) -> impl Iterator<Item = Slab> + '_ {
        (0..self.count()).map(|number| self.slab(number))
    }

    /// The slabs that have any of these bytes.
    pub(crate) fn covering(&self, range: Range<u64>) -> impl Iterator<Item = Slab> + '_ {
        let axis_nbytes = self.axis_length().saturating_mul(self.row_nbytes).max(1);
        let inside = range.start % axis_nbytes / self.row_nbytes / self.run;
        let first = range.start / axis_nbytes * self.runs() + inside;
        (first..self.count()).map(|number| self.slab(number)).take_while(move |slab| slab.start < range.end)
    }

    fn axis_length(&self) -> u64 {
        self.shape.get(self.axis).copied().unwrap_or(1)
    }

    fn runs(&self) -> u64 {
        self.axis_length().div_ceil(self.run)
    }

    fn count(&self) -> u64 {
        if self.shape.contains(&0) {
            return 0;
        }
        self.shape.iter().take(self.axis).fold(self.runs(), |product, &length| product.saturating_mul(length))
    }

    fn slab(&self, number: u64) -> Slab {
        let (outer, run) = (number / self.runs().max(1), number % self.runs().max(1));
        let from = run * self.run;
        let rows = self.run.min(self.axis_length() - from);
        let start = (outer * self.axis_length() + from) * self.row_nbytes;
        let mut picks = vec![Pick::All; self.shape.len()];
        let mut rest = outer;
        for axis in (0..self.axis).rev() {
            picks[axis] = Pick::At(rest % self.shape[axis]);
            rest /= self.shape[axis];
        }
        if let Some(pick) = picks.get_mut(self.axis) {
            *pick = (from..from + rows).into();
        }
        Slab {
            start,
            #[cfg(test)]
            nbytes: rows * self.row_nbytes,
            picks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slabs(shape: &[u64], chunks: &[u64], room: u64) -> Slabs {
        let blocks = vec![1; shape.len()];
        Slabs::new(&Geometry::new(2, shape, chunks, &blocks).unwrap(), room)
    }

    #[test]
    fn slabs_follow_each_other_and_cover_everything() {
        for (shape, chunks) in [(&[7][..], &[3][..]), (&[4, 5, 6], &[2, 2, 6]), (&[3, 1, 2], &[1, 1, 1]), (&[], &[])] {
            for room in [1, 10, 40, 1000] {
                let slabs = slabs(shape, chunks, room);
                let mut at = 0;
                for slab in slabs.all() {
                    assert_eq!(slab.start, at, "{shape:?}, {room}");
                    at += slab.nbytes;
                }
                assert_eq!(at, 2 * shape.iter().product::<u64>(), "{shape:?}, {room}");
            }
        }
    }

    #[test]
    fn a_range_is_covered_by_its_slabs_only() {
        let slabs = slabs(&[10, 4], &[2, 4], 16);
        assert_eq!(slabs.all().count(), 5);
        let starts: Vec<u64> = slabs.covering(17..33).map(|slab| slab.start).collect();
        assert_eq!(starts, [16, 32]);
        let slabs = self::slabs(&[2, 3, 5], &[2, 3, 5], 4);
        for at in 0..60 {
            let first = slabs.covering(at..60).next().unwrap();
            assert!((first.start..first.start + first.nbytes).contains(&at));
        }
    }

    #[test]
    fn an_array_without_items_has_no_slabs() {
        assert_eq!(slabs(&[3, 0], &[1, 1], 100).all().count(), 0);
    }
}
