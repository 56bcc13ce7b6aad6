//! Arrays of three dimensions in memory: made, read whole, in slices and item by item, and written
//! into.
//!
//! Both libraries have the same chunks and blocks: those that python-blosc2 chooses for the shape,
//! and those of ours, which are about as long one way as the other.

use super::Row;
use crate::data::DataSet;
use crate::measure::{Effort, Pair, compare};
use crate::peer::{Cut, Params, Peer, PeerArray};
use blosc_oxide::{ArrayEdit, ArrayOptions, ArrayReader, AxisSelection, Codec, Filter, NdArray, Options, Threads};

/// How many single items are read.
const POINTS: usize = 1000;
/// What thin slices are taken at, along each axis.
const AT: u64 = 173;

/// A data set that is an array.
#[derive(Clone, Copy)]
pub(crate) struct Set {
    pub(crate) name: &'static str,
    typesize: usize,
    dtype: &'static str,
    shape: [u64; 3],
    /// What `blosc2.compute_chunks_blocks` of python-blosc2 answers for it.
    peers_chunks: [u64; 3],
    peers_blocks: [u64; 3],
}

/// Real arrays.
pub(crate) const SETS: [Set; 2] = [
    Set {
        name: "volume_u8",
        typesize: 1,
        dtype: "|u1",
        shape: [189, 233, 197],
        peers_chunks: [180, 233, 197],
        peers_blocks: [3, 233, 197],
    },
    Set {
        name: "temperature_f32",
        typesize: 4,
        dtype: "<f4",
        shape: [12, 241, 481],
        peers_chunks: [12, 241, 481],
        peers_blocks: [1, 136, 481],
    },
];

/// An array of 512 MiB, which is made by formula.
pub(crate) const LARGE: Set = Set {
    name: "field3d_f32",
    typesize: 4,
    dtype: "<f4",
    shape: [512; 3],
    peers_chunks: [8, 512, 512],
    peers_blocks: [1, 128, 512],
};

impl Set {
    /// How many bytes it has.
    pub(crate) fn nbytes(&self) -> usize {
        self.shape.iter().map(|&length| usize::try_from(length).expect("memory for it")).product::<usize>()
            * self.typesize
    }
}

/// An array in both libraries, and what it holds.
struct Arrays<'p> {
    what: String,
    cut: Cut,
    typesize: usize,
    data: &'p [u8],
    ours: ArrayEdit,
    theirs: PeerArray<'p>,
}

/// What the arrays of one group of rows are made with.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) set: Set,
    pub(crate) codec: Codec,
    pub(crate) level: u8,
    pub(crate) threads: i16,
    /// Whether chunks are those that python-blosc2 chooses.
    pub(crate) is_peers_cut: bool,
}

impl Case {
    fn options(self) -> ArrayOptions {
        let threads = Threads::at_most(usize::try_from(self.threads).unwrap_or(1));
        let options =
            Options::new(self.set.typesize).with_codec(self.codec).with_level(self.level).with_threads(threads);
        let options =
            ArrayOptions::new(&self.set.shape, options.with_filters([Filter::Shuffle])).with_dtype(self.set.dtype);
        if self.is_peers_cut {
            return options.with_chunks(&self.set.peers_chunks).with_blocks(&self.set.peers_blocks);
        }
        options
    }

    fn params(self) -> Params {
        let (filter, typesize) = (Filter::Shuffle.id(), self.set.typesize);
        Params { codec: self.codec.code(), level: self.level, filter, typesize, threads: self.threads }
    }
}

fn cut(array: &ArrayReader) -> Cut {
    let three = |lengths: &[u64]| lengths.try_into().expect("three dimensions");
    let geometry = array.geometry();
    Cut { shape: three(geometry.shape()), chunks: three(geometry.chunks()), blocks: three(geometry.blocks()) }
}

impl<'p> Arrays<'p> {
    fn new(peer: &'p Peer, case: Case, data: &'p [u8]) -> Self {
        let ours = NdArray::from_data(&case.options(), data).and_then(|array| array.edit()).expect("good options");
        let cut = cut(&ours);
        let theirs = peer.array(case.params(), cut, data);
        let chunks = if case.is_peers_cut { "C's chunks" } else { "our chunks" };
        let what = format!("{}, {chunks}, {}{}, {}T", case.set.name, case.codec, case.level, case.threads);
        Self { what, cut, typesize: case.set.typesize, data, ours, theirs }
    }

    fn row(&self, what: &str, nbytes: usize, pair: Pair) -> Row {
        Row { area: "arrays", name: format!("{what}, {}", self.what), group: what.to_owned(), nbytes, pair, size: None }
    }
}

/// Measures everything that is done to an array.
pub(crate) fn rows(peer: &Peer, effort: Effort, case: Case, data: &DataSet) -> Vec<Row> {
    // One run with the large array takes as long as a whole row of others.
    let effort = if case.threads > 1 { effort.with_rest() } else { effort };
    let effort = if case.set.nbytes() > 64 << 20 { effort.with_budget(10) } else { effort };
    let mut arrays = Arrays::new(peer, case, &data.bytes);
    let mut rows = vec![create(peer, effort, case, &arrays), read_whole(effort, &arrays)];
    rows.extend((0..3).map(|axis| read_slice(effort, &arrays, axis)));
    rows.push(read_items(effort, &arrays));
    rows.push(read_points(effort, &arrays));
    rows.push(set_slice(effort, &mut arrays));
    rows
}

fn create(peer: &Peer, effort: Effort, case: Case, arrays: &Arrays<'_>) -> Row {
    let options = case.options();
    let pair = compare(
        effort,
        || drop(NdArray::from_data(&options, arrays.data).expect("good options")),
        || drop(peer.array(case.params(), arrays.cut, arrays.data)),
    );
    arrays.row("create", arrays.data.len(), pair)
}

fn read_whole(effort: Effort, arrays: &Arrays<'_>) -> Row {
    let (mut ours, mut theirs) = (vec![1; arrays.data.len()], vec![2; arrays.data.len()]);
    let selections = [AxisSelection::All, AxisSelection::All, AxisSelection::All];
    let pair = compare(
        effort,
        || arrays.ours.slice_into(&selections, &mut ours).expect("a good array"),
        || arrays.theirs.read(&mut theirs),
    );
    assert!(ours == arrays.data && theirs == arrays.data);
    arrays.row("read whole", arrays.data.len(), pair)
}

fn read_slice(effort: Effort, arrays: &Arrays<'_>, axis: usize) -> Row {
    let shape = arrays.cut.shape;
    let at = AT.min(shape[axis] - 1);
    let mut selections = [AxisSelection::All, AxisSelection::All, AxisSelection::All];
    selections[axis] = (at..at + 1).into();
    let (mut start, mut stop) = ([0; 3], shape);
    (start[axis], stop[axis]) = (at, at + 1);
    let nbytes = arrays.data.len() / usize::try_from(shape[axis]).expect("memory for it");
    let (mut ours, mut theirs) = (vec![1; nbytes], vec![2; nbytes]);
    let pair = compare(
        effort,
        || arrays.ours.slice_into(&selections, &mut ours).expect("a good array"),
        || arrays.theirs.slice(start, stop, &mut theirs),
    );
    assert!(ours == theirs);
    arrays.row(&format!("slice along axis {axis}"), nbytes, pair)
}

/// Places all over the array, the same for both libraries.
fn points(shape: [u64; 3]) -> Vec<u64> {
    let mut state = 1_u64;
    let mut next = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    (0..POINTS).flat_map(|_| shape.map(&mut next)).collect()
}

/// The position of an item, counted in C order.
fn position(shape: [u64; 3], place: &[u64; 3]) -> i64 {
    let position = place.iter().zip(shape).fold(0, |at: u64, (index, length)| at * length + index);
    i64::try_from(position).expect("memory for it")
}

/// Both have read what is there.
fn assert_points(arrays: &Arrays<'_>, points: &[u64], ours: &[u8], theirs: &[u8]) {
    for (number, place) in points.as_chunks::<3>().0.iter().enumerate() {
        let at = usize::try_from(position(arrays.cut.shape, place)).expect("memory for it") * arrays.typesize;
        let item = number * arrays.typesize..(number + 1) * arrays.typesize;
        assert_eq!(ours[item.clone()], arrays.data[at..at + arrays.typesize], "ours at {place:?}");
        assert_eq!(theirs[item], arrays.data[at..at + arrays.typesize], "C-Blosc2 at {place:?}");
    }
}

/// One call for each item.
fn read_items(effort: Effort, arrays: &Arrays<'_>) -> Row {
    let points = points(arrays.cut.shape);
    let (mut ours, mut theirs) = (vec![1; POINTS * arrays.typesize], vec![2; POINTS * arrays.typesize]);
    let places = || points.as_chunks::<3>().0.iter();
    let pair = compare(
        effort,
        || {
            for (place, item) in places().zip(ours.chunks_mut(arrays.typesize)) {
                arrays.ours.slice_into(&place.map(AxisSelection::Index), item).expect("a good array");
            }
        },
        || {
            for (place, item) in places().zip(theirs.chunks_mut(arrays.typesize)) {
                arrays.theirs.slice(*place, place.map(|at| at + 1), item);
            }
        },
    );
    assert_points(arrays, &points, &ours, &theirs);
    arrays.row("1000 items", POINTS * arrays.typesize, pair)
}

/// One call for all items.
fn read_points(effort: Effort, arrays: &Arrays<'_>) -> Row {
    let points = points(arrays.cut.shape);
    let positions: Vec<i64> = points.as_chunks::<3>().0.iter().map(|place| position(arrays.cut.shape, place)).collect();
    let (mut ours, mut theirs) = (Vec::new(), vec![2; POINTS * arrays.typesize]);
    let pair = compare(
        effort,
        || ours = arrays.ours.gather(&points).expect("a good array"),
        || arrays.theirs.points(&positions, &mut theirs),
    );
    assert_points(arrays, &points, &ours, &theirs);
    arrays.row("1000 points at once", POINTS * arrays.typesize, pair)
}

fn set_slice(effort: Effort, arrays: &mut Arrays<'_>) -> Row {
    let shape = arrays.cut.shape;
    let range = |length: u64| (length / 3, length / 3 + length / 8);
    let ranges = shape.map(range);
    let (start, stop) = (ranges.map(|range| range.0), ranges.map(|range| range.1));
    let selections = ranges.map(|(start, stop)| AxisSelection::from(start..stop));
    let nbytes =
        ranges.iter().map(|(start, stop)| usize::try_from(stop - start).expect("memory for it")).product::<usize>()
            * arrays.typesize;
    let Arrays { ours, theirs, data, .. } = &mut *arrays;
    let data = &data[..nbytes];
    let pair = compare(
        effort,
        || ours.write(&selections, data).expect("a good array"),
        || theirs.set_slice(start, stop, data),
    );
    arrays.row("set slice", nbytes, pair)
}
