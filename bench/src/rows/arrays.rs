//! Arrays of three dimensions in memory: made, read whole, in slices and item by item, and written into.
//!
//! Both libraries have the same chunks and blocks: those that python-blosc2 chooses for the shape, which are whole rows, and
//! those of ours, which are about as long one way as the other.

use super::Row;
use crate::data::data_set;
use crate::measure::{Effort, Pair, compare};
use crate::peer::{Cut, Params, Peer, PeerArray};
use blosc_oxide::{ArrayOptions, Codec, Filter, NdArray, Options, Pick, Threads};

const TYPESIZE: usize = 4;
/// How many single items are read.
const POINTS: usize = 1000;
/// What thin slices are taken at, along each axis.
const AT: u64 = 173;

/// An array in both libraries, and what it holds.
struct Arrays<'p> {
    what: String,
    cut: Cut,
    data: Vec<u8>,
    ours: NdArray,
    theirs: PeerArray<'p>,
}

/// What the arrays of one group of rows are made with.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) codec: Codec,
    pub(crate) level: u8,
    pub(crate) threads: i16,
    /// Whether chunks are those that python-blosc2 chooses.
    pub(crate) is_rows: bool,
    /// How long the array is along each axis.
    pub(crate) side: u64,
}

impl Case {
    fn options(self) -> ArrayOptions {
        let threads = Threads::at_most(usize::try_from(self.threads).unwrap_or(1));
        let options = Options::new(TYPESIZE).codec(self.codec).level(self.level).threads(threads);
        let options = ArrayOptions::new(&[self.side; 3], options.filters([Filter::Shuffle])).dtype("<f4");
        if self.is_rows {
            // What `blosc2.compute_chunks_blocks` answers for 512 x 512 x 512 items of 4 bytes.
            return options.chunks(&[8, self.side, self.side]).blocks(&[1, 128, self.side]);
        }
        options
    }

    fn params(self) -> Params {
        let filter = Filter::Shuffle.id();
        Params { codec: self.codec.code(), level: self.level, filter, typesize: TYPESIZE, threads: self.threads }
    }
}

fn cut(array: &NdArray) -> Cut {
    let three = |lengths: &[u64]| lengths.try_into().expect("three dimensions");
    let geometry = array.geometry();
    Cut { shape: three(geometry.shape()), chunks: three(geometry.chunks()), blocks: three(geometry.blocks()) }
}

impl<'p> Arrays<'p> {
    fn new(peer: &'p Peer, case: Case, data: Vec<u8>) -> Self {
        let ours = NdArray::from_data(&case.options(), &data).expect("good options");
        let cut = cut(&ours);
        let theirs = peer.array(case.params(), cut, &data);
        let shape = if case.is_rows { "rows" } else { "cubes" };
        let what = format!("{shape}, {}{}, {}T", case.codec, case.level, case.threads);
        Self { what, cut, data, ours, theirs }
    }

    fn row(&self, what: &str, nbytes: usize, pair: Pair) -> Row {
        Row { area: "arrays", name: format!("{what}, {}", self.what), group: what.to_owned(), nbytes, pair, size: None }
    }
}

/// Measures everything that is done to an array.
pub(crate) fn rows(peer: &Peer, effort: Effort, case: Case) -> Vec<Row> {
    // One run takes as long as a whole row of others.
    let effort = if case.threads > 1 { effort.with_rest() } else { effort }.with_budget(10);
    let nbytes = usize::try_from(case.side.pow(3)).expect("memory for it") * TYPESIZE;
    let mut arrays = Arrays::new(peer, case, data_set("field3d_f32", nbytes).bytes);
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
        || drop(NdArray::from_data(&options, &arrays.data).expect("good options")),
        || drop(peer.array(case.params(), arrays.cut, &arrays.data)),
    );
    arrays.row("create", arrays.data.len(), pair)
}

fn read_whole(effort: Effort, arrays: &Arrays<'_>) -> Row {
    let (mut ours, mut theirs) = (vec![1; arrays.data.len()], vec![2; arrays.data.len()]);
    let picks = [Pick::All, Pick::All, Pick::All];
    let pair = compare(
        effort,
        || arrays.ours.slice_into(&picks, &mut ours).expect("a good array"),
        || arrays.theirs.read(&mut theirs),
    );
    assert!(ours == arrays.data && theirs == arrays.data);
    arrays.row("read whole", arrays.data.len(), pair)
}

fn read_slice(effort: Effort, arrays: &Arrays<'_>, axis: usize) -> Row {
    let shape = arrays.cut.shape;
    let at = AT.min(shape[axis] - 1);
    let mut picks = [Pick::All, Pick::All, Pick::All];
    picks[axis] = (at..at + 1).into();
    let (mut start, mut stop) = ([0; 3], shape);
    (start[axis], stop[axis]) = (at, at + 1);
    let nbytes = arrays.data.len() / usize::try_from(shape[axis]).expect("memory for it");
    let (mut ours, mut theirs) = (vec![1; nbytes], vec![2; nbytes]);
    let pair = compare(
        effort,
        || arrays.ours.slice_into(&picks, &mut ours).expect("a good array"),
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
        let at = usize::try_from(position(arrays.cut.shape, place)).expect("memory for it") * TYPESIZE;
        let item = number * TYPESIZE..(number + 1) * TYPESIZE;
        assert_eq!(ours[item.clone()], arrays.data[at..at + TYPESIZE], "ours at {place:?}");
        assert_eq!(theirs[item], arrays.data[at..at + TYPESIZE], "C-Blosc2 at {place:?}");
    }
}

/// One call for each item.
fn read_items(effort: Effort, arrays: &Arrays<'_>) -> Row {
    let points = points(arrays.cut.shape);
    let (mut ours, mut theirs) = (vec![1; POINTS * TYPESIZE], vec![2; POINTS * TYPESIZE]);
    let places = || points.as_chunks::<3>().0.iter();
    let pair = compare(
        effort,
        || {
            for (place, item) in places().zip(ours.chunks_mut(TYPESIZE)) {
                arrays.ours.slice_into(&place.map(Pick::At), item).expect("a good array");
            }
        },
        || {
            for (place, item) in places().zip(theirs.chunks_mut(TYPESIZE)) {
                arrays.theirs.slice(*place, place.map(|at| at + 1), item);
            }
        },
    );
    assert_points(arrays, &points, &ours, &theirs);
    arrays.row("1000 items", POINTS * TYPESIZE, pair)
}

/// One call for all items.
fn read_points(effort: Effort, arrays: &Arrays<'_>) -> Row {
    let points = points(arrays.cut.shape);
    let positions: Vec<i64> = points.as_chunks::<3>().0.iter().map(|place| position(arrays.cut.shape, place)).collect();
    let (mut ours, mut theirs) = (Vec::new(), vec![2; POINTS * TYPESIZE]);
    let pair = compare(
        effort,
        || ours = arrays.ours.gather(&points).expect("a good array"),
        || arrays.theirs.points(&positions, &mut theirs),
    );
    assert_points(arrays, &points, &ours, &theirs);
    arrays.row("1000 points at once", POINTS * TYPESIZE, pair)
}

fn set_slice(effort: Effort, arrays: &mut Arrays<'_>) -> Row {
    let shape = arrays.cut.shape;
    let range = |length: u64| (length / 3, length / 3 + length / 8);
    let ranges = shape.map(range);
    let (start, stop) = (ranges.map(|range| range.0), ranges.map(|range| range.1));
    let picks = ranges.map(|(start, stop)| Pick::from(start..stop));
    let nbytes =
        ranges.iter().map(|(start, stop)| usize::try_from(stop - start).expect("memory for it")).product::<usize>()
            * TYPESIZE;
    let data = data_set("f32_walk", nbytes).bytes;
    let Arrays { ours, theirs, .. } = arrays;
    let pair =
        compare(effort, || ours.write(&picks, &data).expect("a good array"), || theirs.set_slice(start, stop, &data));
    arrays.row("set slice", nbytes, pair)
}
