//! Edits of an array against a plain model of it.

use crate::input::Input;
use blosc_oxide::{
    ArrayEdit, ArrayOptions, AxisSelection, Codec, Fill, Frame, Location, NdArray, Options, Threads,
    storage::{MemoryDirectory, MemoryStorage},
};

const MOST_DIMS: usize = 4;
const MOST_LENGTH: usize = 7;
/// Arrays stay small, or an input would take too long.
const MOST_ITEMS: usize = 100;

/// An array as nothing but its items, in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    shape: Vec<usize>,
    items: Vec<u16>,
}

impl Model {
    fn from_fn(shape: Vec<usize>, item: impl Fn(&[usize]) -> u16) -> Self {
        let count = shape.iter().product();
        let items = (0..count).map(|number| item(&place(&shape, number))).collect();
        Self { shape, items }
    }

    /// The item at a place; 0 outside.
    fn at(&self, place: &[usize]) -> u16 {
        let is_inside = place.iter().zip(&self.shape).all(|(at, length)| at < length);
        let number = place.iter().zip(&self.shape).fold(0, |number, (at, length)| number * length + at);
        if is_inside { self.items[number] } else { 0 }
    }

    fn bytes(&self) -> Vec<u8> {
        self.items.iter().flat_map(|item| item.to_le_bytes()).collect()
    }

    fn lengths(&self) -> Vec<u64> {
        self.shape.iter().map(|&length| length as u64).collect()
    }

    /// With `count` layers of `data` put in front of layer `at`.
    fn inserted(&self, axis: usize, at: usize, data: &Self) -> Self {
        let count = data.shape[axis];
        let mut shape = self.shape.clone();
        shape[axis] += count;
        Self::from_fn(shape, |place| {
            let mut place = place.to_vec();
            let here = place[axis];
            if here < at {
                self.at(&place)
            } else if here < at + count {
                place[axis] = here - at;
                data.at(&place)
            } else {
                place[axis] = here - count;
                self.at(&place)
            }
        })
    }

    fn without(&self, axis: usize, start: usize, count: usize) -> Self {
        let mut shape = self.shape.clone();
        shape[axis] -= count;
        Self::from_fn(shape, |place| {
            let mut place = place.to_vec();
            place[axis] += if place[axis] < start { 0 } else { count };
            self.at(&place)
        })
    }
}

/// Lengths of axes for no more items than there may be.
fn shape(input: &mut Input<'_>, ndim: usize) -> Vec<usize> {
    let mut most = MOST_ITEMS;
    let lengths = (0..ndim).map(|_| {
        let length = input.below(MOST_LENGTH).min(most);
        most /= length.max(1);
        length
    });
    lengths.collect()
}

fn place(shape: &[usize], number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut place = vec![0; shape.len()];
    for (at, &length) in place.iter_mut().zip(shape).rev() {
        *at = rest % length;
        rest /= length;
    }
    place
}

struct Trial<'a> {
    input: Input<'a>,
    array: ArrayEdit,
    model: Model,
}

/// Does what the input says, and compares after each step.
pub fn edits(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let ndim = input.below(MOST_DIMS + 1);
    let shape = shape(&mut input, ndim);
    let chunks: Vec<u64> = (0..ndim).map(|_| 1 + input.below(MOST_LENGTH) as u64).collect();
    let blocks: Vec<u64> = chunks.iter().map(|&chunk| 1 + input.below(chunk as usize) as u64).collect();
    let model = Model::from_fn(shape, |_| 0);
    let codec = input.choose(&[Codec::Lz4, Codec::BloscLz]);
    let options = Options::new(2).with_codec(codec).with_threads(Threads::serial());
    let options =
        ArrayOptions::new(&model.lengths(), options).with_dtype("<u2").with_chunks(&chunks).with_blocks(&blocks);
    let place = match input.below(3) {
        0 => Location::Memory,
        1 => Location::storage(MemoryStorage::default()),
        _ => Location::directory(MemoryDirectory::default()),
    };
    let array = NdArray::create(place, &options, &Fill::Zeros).expect("the options are legal");
    let mut trial = Trial { input, array, model };
    for _ in 0..20 {
        if trial.input.is_empty() {
            break;
        }
        trial.step();
        trial.check();
    }
}

impl Trial<'_> {
    fn check(&mut self) {
        assert_eq!(self.array.shape(), self.model.lengths());
        assert_eq!(self.array.to_vec().expect("an array can be read"), self.model.bytes());
    }

    fn step(&mut self) {
        match self.input.below(9) {
            0 | 1 => self.write(),
            2 => self.read(),
            3 => self.resize(),
            4 => self.insert(),
            5 => self.delete(),
            6 => drop(self.array.checkpoint().expect("memory does not fail")),
            7 => self.transpose(),
            _ => self.copy_to_bytes_and_back(),
        }
    }

    fn random(&mut self, shape: Vec<usize>) -> Model {
        let len = 2 * shape.iter().product::<usize>();
        let data = self.input.data(len);
        let items = data.chunks(2).map(|item| u16::from_le_bytes([item[0], item[1]])).collect();
        Model { shape, items }
    }

    /// What is taken along each axis, each index once, and the positions of the items.
    fn selections(&mut self) -> (Vec<AxisSelection>, Vec<usize>) {
        let mut selections = Vec::new();
        let mut positions = vec![0];
        for &length in &self.model.shape {
            let (selection, indices) = selection(&mut self.input, length);
            selections.push(selection);
            positions = positions.iter().flat_map(|at| indices.iter().map(move |index| at * length + index)).collect();
        }
        (selections, positions)
    }

    fn write(&mut self) {
        let (selections, positions) = self.selections();
        let data = self.input.data(2 * positions.len());
        self.array.write(&selections, &data).expect("the selections are legal");
        for (position, item) in positions.into_iter().zip(data.chunks(2)) {
            self.model.items[position] = u16::from_le_bytes([item[0], item[1]]);
        }
    }

    fn read(&mut self) {
        let (selections, positions) = self.selections();
        let expected: Vec<u8> = positions.iter().flat_map(|&at| self.model.items[at].to_le_bytes()).collect();
        assert_eq!(self.array.slice(&selections).expect("the selections are legal"), expected);
    }

    fn resize(&mut self) {
        let shape: Vec<usize> = self.model.shape.iter().map(|_| self.input.below(MOST_LENGTH + 3)).collect();
        if shape.iter().product::<usize>() > MOST_ITEMS {
            return;
        }
        let model = Model::from_fn(shape, |place| self.model.at(place));
        self.array.resize(&model.lengths()).expect("the shape is legal");
        self.model = model;
    }

    fn insert(&mut self) {
        if self.model.shape.is_empty() || self.model.items.len() > MOST_ITEMS / 2 {
            return;
        }
        let axis = self.input.below(self.model.shape.len());
        let at = self.input.below(self.model.shape[axis] + 1);
        let mut shape = self.model.shape.clone();
        shape[axis] = self.input.below(4);
        let data = self.random(shape);
        let result = self.array.insert(axis, at as u64, &data.bytes());
        // Without items nobody can tell how many layers there are.
        let has_nothing = (0..self.model.shape.len()).any(|other| other != axis && self.model.shape[other] == 0);
        if !has_nothing {
            result.expect("the data are legal");
            self.model = self.model.inserted(axis, at, &data);
        }
    }

    fn delete(&mut self) {
        if self.model.shape.is_empty() {
            return;
        }
        let axis = self.input.below(self.model.shape.len());
        let length = self.model.shape[axis];
        let start = self.input.below(length + 1);
        let count = self.input.below(length - start + 1);
        self.array.delete(axis, start as u64..(start + count) as u64).expect("the range is legal");
        self.model = self.model.without(axis, start, count);
    }

    fn transpose(&mut self) {
        let mut axes: Vec<usize> = (0..self.model.shape.len()).collect();
        for at in (1..axes.len()).rev() {
            axes.swap(at, self.input.below(at + 1));
        }
        let options = self.array.options().transposed(&axes).expect("the axes are legal");
        self.array = self
            .array
            .transpose(Location::Memory, &axes, &options)
            .and_then(|array| array.edit())
            .expect("the axes are legal");
        let shape: Vec<usize> = axes.iter().map(|&axis| self.model.shape[axis]).collect();
        self.model = Model::from_fn(shape, |place| {
            let mut own = vec![0; axes.len()];
            axes.iter().zip(place).for_each(|(&axis, &at)| own[axis] = at);
            self.model.at(&own)
        });
    }

    fn copy_to_bytes_and_back(&mut self) {
        let mut frame = Frame::create(MemoryStorage::default(), Options::new(2)).expect("memory does not fail");
        self.array.super_chunk().copy_to(&mut frame).expect("an array can be copied");
        let bytes = frame.commit().and_then(|frame| frame.to_bytes()).expect("memory does not fail");
        self.array = NdArray::open(bytes).and_then(|array| array.edit()).expect("what was written can be opened");
    }
}

fn selection(input: &mut Input<'_>, length: usize) -> (AxisSelection, Vec<usize>) {
    if length == 0 {
        return (AxisSelection::All, Vec::new());
    }
    let at = input.below(length);
    match input.below(5) {
        0 => (AxisSelection::All, (0..length).collect()),
        1 => (AxisSelection::Index(at as u64), vec![at]),
        2 => {
            let (end, step) = (at + input.below(length - at + 1), 1 + input.below(3));
            (AxisSelection::slice(at as u64, end as u64, step as i64), (at..end).step_by(step).collect())
        }
        3 => {
            let step = 1 + input.below(3);
            (AxisSelection::slice(at as u64, None, -(step as i64)), (0..=at).rev().step_by(step).collect())
        }
        _ => {
            let mask = input.byte();
            let mut indices: Vec<usize> = (0..length).filter(|index| mask >> (index % 8) & 1 == 1).collect();
            if input.is_set() {
                indices.reverse();
            }
            (AxisSelection::indices(indices.iter().map(|&index| index as u64)), indices)
        }
    }
}
