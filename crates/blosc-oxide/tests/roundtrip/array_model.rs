//! Arrays against a plain model of them: whatever is written and read, both stay equal.

use blosc_oxide::plugin::Executor;
use blosc_oxide::{
    ArrayEdit, ArrayOptions, ArrayReader, AxisSelection, Codec, ErrorKind, Fill, FrameOptions, ItemOrder, Location,
    NdArray, Options, Threads,
    storage::{MemoryDirectory, MemoryStorage},
};
use std::sync::Arc;
use testkit::Rng;

/// An array as nothing but its items.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    shape: Vec<u64>,
    items: Vec<u32>,
}

impl Model {
    fn new(shape: &[u64]) -> Self {
        let count: u64 = shape.iter().product();
        Self { shape: shape.to_vec(), items: vec![0; usize::try_from(count).unwrap()] }
    }

    /// A model whose item at each place is what `item` says.
    fn from_fn(shape: &[u64], item: impl Fn(&[u64]) -> u32) -> Self {
        let mut model = Self::new(shape);
        for number in 0..model.items.len() {
            model.items[number] = item(&model.place(number));
        }
        model
    }

    fn place(&self, number: usize) -> Vec<u64> {
        let mut rest = number as u64;
        let mut place = vec![0; self.shape.len()];
        for (at, &length) in place.iter_mut().zip(&self.shape).rev() {
            *at = rest % length;
            rest /= length;
        }
        place
    }

    fn at(&self, place: &[u64]) -> Option<u32> {
        let is_inside = place.iter().zip(&self.shape).all(|(at, length)| at < length);
        let number = place.iter().zip(&self.shape).fold(0, |number, (at, length)| number * length + at);
        is_inside.then(|| self.items[usize::try_from(number).unwrap()])
    }

    /// The positions of the items that the indices take, in order.
    fn positions(&self, indices: &[Vec<u64>]) -> Vec<usize> {
        let mut positions = vec![0_u64];
        for (length, indices) in self.shape.iter().zip(indices) {
            positions = positions.iter().flat_map(|at| indices.iter().map(move |index| at * length + index)).collect();
        }
        positions.into_iter().map(|at| usize::try_from(at).unwrap()).collect()
    }

    fn resized(&self, shape: &[u64]) -> Self {
        Self::from_fn(shape, |place| self.at(place).unwrap_or(0))
    }

    fn inserted(&self, axis: usize, at: u64, data: &Self) -> Self {
        let mut shape = self.shape.clone();
        let count = data.shape[axis];
        shape[axis] += count;
        Self::from_fn(&shape, |place| {
            let mut place = place.to_vec();
            if place[axis] < at {
                return self.at(&place).unwrap();
            }
            place[axis] -= at;
            if place[axis] < count {
                return data.at(&place).unwrap();
            }
            place[axis] -= count;
            place[axis] += at;
            self.at(&place).unwrap()
        })
    }

    fn without(&self, axis: usize, range: &std::ops::Range<u64>) -> Self {
        let mut shape = self.shape.clone();
        shape[axis] -= range.end - range.start;
        Self::from_fn(&shape, |place| {
            let mut place = place.to_vec();
            if place[axis] >= range.start {
                place[axis] += range.end - range.start;
            }
            self.at(&place).unwrap()
        })
    }

    fn transposed(&self, axes: &[usize]) -> Self {
        let shape: Vec<u64> = axes.iter().map(|&axis| self.shape[axis]).collect();
        Self::from_fn(&shape, |place| {
            let mut own = vec![0; axes.len()];
            axes.iter().zip(place).for_each(|(&axis, &at)| own[axis] = at);
            self.at(&own).unwrap()
        })
    }

    fn random(rng: &mut Rng, shape: &[u64]) -> Self {
        let mut model = Self::new(shape);
        model.items.iter_mut().for_each(|item| *item = random(rng));
        model
    }

    fn bytes(&self) -> Vec<u8> {
        bytes(self.items.iter().copied())
    }
}

fn random(rng: &mut Rng) -> u32 {
    u32::try_from(rng.below(1 << 20)).unwrap()
}

/// A pick for an axis, and the indices that it stands for.
fn pick(rng: &mut Rng, length: u64) -> (AxisSelection, Vec<u64>) {
    if length == 0 {
        return (AxisSelection::All, Vec::new());
    }
    match rng.below(6) {
        0 => (AxisSelection::All, (0..length).collect()),
        1 => {
            let at = below(rng, length);
            (AxisSelection::Index(at), vec![at])
        }
        2 | 3 => {
            let (a, b) = (below(rng, length + 1), below(rng, length + 1));
            let step = 1 + below(rng, 3);
            let (start, end) = (a.min(b), a.max(b));
            let indices = (start..end).step_by(usize::try_from(step).unwrap()).collect();
            (AxisSelection::slice(start, end, i64::try_from(step).unwrap()), indices)
        }
        4 => {
            let start = below(rng, length);
            let step = 1 + below(rng, 3);
            let indices = (0..=start).rev().step_by(usize::try_from(step).unwrap()).collect();
            (AxisSelection::slice(start, None, -i64::try_from(step).unwrap()), indices)
        }
        _ => {
            // Each index once, since of two values for one item neither is right.
            let mut indices: Vec<u64> = (0..length).filter(|_| rng.below(2) == 0).collect();
            if rng.below(2) == 0 {
                indices.reverse();
            }
            (AxisSelection::indices(indices.clone()), indices)
        }
    }
}

fn bytes(items: impl IntoIterator<Item = u32>) -> Vec<u8> {
    items.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// An array and its model.
struct Pair {
    array: ArrayEdit,
    model: Model,
}

impl Pair {
    fn shape(&self) -> Vec<u64> {
        self.model.shape.clone()
    }

    fn check(&self) {
        assert_eq!(self.array.shape(), self.model.shape);
        assert_eq!(self.array.to_vec().unwrap(), self.model.bytes(), "{:?}", self.array);
    }

    fn selections(&self, rng: &mut Rng) -> (Vec<AxisSelection>, Vec<usize>) {
        let (selections, indices): (Vec<AxisSelection>, Vec<Vec<u64>>) =
            self.model.shape.iter().map(|&length| pick(rng, length)).unzip();
        let positions = self.model.positions(&indices);
        (selections, positions)
    }

    fn read(&mut self, rng: &mut Rng) {
        let (selections, positions) = self.selections(rng);
        let expected = bytes(positions.iter().map(|&position| self.model.items[position]));
        assert_eq!(self.array.slice(&selections).unwrap(), expected, "{:?} {selections:?}", self.array);
        let shape = self.array.slice_shape(&selections).unwrap();
        assert_eq!(shape.iter().product::<usize>() * 4, expected.len());
        // The same with the first axis innermost, and a gap behind each item.
        let mut strides = Vec::new();
        let mut stride = 5;
        for &length in &shape {
            strides.push(stride);
            stride *= length;
        }
        let mut out = vec![0xee; stride];
        self.array.slice_into_strided(&selections, &mut out, &strides).unwrap();
        for (number, item) in expected.chunks(4).enumerate() {
            let (mut rest, mut at) = (number, 0);
            for (&length, stride) in shape.iter().zip(&strides).rev() {
                at += rest % length * stride;
                rest /= length;
            }
            assert_eq!(&out[at..at + 4], item);
            assert_eq!(out[at + 4], 0xee);
        }
    }

    fn write(&mut self, rng: &mut Rng) {
        let (selections, positions) = self.selections(rng);
        if rng.below(4) == 0 {
            // One item everywhere.
            let value = random(rng);
            let strides = vec![0; self.array.slice_shape(&selections).unwrap().len()];
            self.array.write_strided(&selections, &value.to_le_bytes(), &strides).unwrap();
            positions.iter().for_each(|&position| self.model.items[position] = value);
            return;
        }
        let values: Vec<u32> = positions.iter().map(|_| random(rng)).collect();
        self.array.write(&selections, &bytes(values.iter().copied())).unwrap();
        for (&position, value) in positions.iter().zip(values) {
            self.model.items[position] = value;
        }
    }

    fn points(&mut self, rng: &mut Rng) {
        if self.model.items.is_empty() || self.model.shape.is_empty() {
            return;
        }
        let numbers: Vec<usize> = (0..rng.below(20)).map(|_| rng.below(self.model.items.len())).collect();
        let places: Vec<u64> = numbers.iter().flat_map(|&number| self.model.place(number)).collect();
        let expected = bytes(numbers.iter().map(|&number| self.model.items[number]));
        assert_eq!(self.array.gather(&places).unwrap(), expected);
        let values: Vec<u32> = numbers.iter().map(|_| random(rng)).collect();
        self.array.scatter(&places, &bytes(values.iter().copied())).unwrap();
        numbers.iter().zip(values).for_each(|(&number, value)| self.model.items[number] = value);
    }

    fn mask(&mut self, rng: &mut Rng) {
        let mask: Vec<bool> = self.model.items.iter().map(|_| rng.below(3) == 0).collect();
        let taken =
            |model: &Model| bytes(model.items.iter().zip(&mask).filter(|(_, mask)| **mask).map(|(item, _)| *item));
        assert_eq!(self.array.masked(&mask).unwrap(), taken(&self.model));
        self.model.items.iter_mut().zip(&mask).filter(|(_, mask)| **mask).for_each(|(item, _)| *item = random(rng));
        self.array.write_masked(&mask, &taken(&self.model)).unwrap();
    }

    fn resize(&mut self, rng: &mut Rng) {
        let shape: Vec<u64> = self.shape().iter().map(|&length| new_length(rng, length)).collect();
        self.array.resize(&shape).unwrap();
        self.model = self.model.resized(&shape);
    }

    fn insert(&mut self, rng: &mut Rng) {
        let Some(axis) = some_axis(rng, &self.shape()) else { return };
        let length = self.model.shape[axis];
        let chunk = self.array.geometry().chunks()[axis];
        let mut shape = self.shape();
        // Whole chunks at a whole chunk more often than chance would have it.
        let count = if rng.below(2) == 0 { chunk } else { rng.below(4) as u64 };
        let at = match rng.below(3) {
            0 => length,
            1 => length / 2 / chunk * chunk,
            _ => below(rng, length + 1),
        };
        shape[axis] = count;
        let data = Model::random(rng, &shape);
        let result = if at == length {
            self.array.append(axis, &data.bytes())
        } else {
            self.array.insert(axis, at, &data.bytes())
        };
        result.unwrap();
        // Nobody can tell how many layers without items there are: there are none.
        if self.model.shape.iter().enumerate().any(|(other, &length)| other != axis && length == 0) {
            return;
        }
        self.model = self.model.inserted(axis, at, &data);
    }

    fn delete(&mut self, rng: &mut Rng) {
        let Some(axis) = some_axis(rng, &self.shape()) else { return };
        let length = self.model.shape[axis];
        let (a, b) = (below(rng, length + 1), below(rng, length + 1));
        let chunk = self.array.geometry().chunks()[axis];
        let range = if rng.below(2) == 0 {
            a.min(b)..a.max(b)
        } else {
            a / chunk * chunk..(a / chunk * chunk + chunk).min(length)
        };
        self.array.delete(axis, range.clone()).unwrap();
        self.model = self.model.without(axis, &range);
    }

    fn turn(&mut self, rng: &mut Rng) {
        let mut axes: Vec<usize> = (0..self.model.shape.len()).collect();
        for at in (1..axes.len()).rev() {
            axes.swap(at, rng.below(at + 1));
        }
        let options = self.array.options().transposed(&axes).unwrap();
        self.array = self.array.transpose(Location::Memory, &axes, &options).unwrap().edit().unwrap();
        self.model = self.model.transposed(&axes);
    }

    fn rechunk(&mut self, rng: &mut Rng) {
        let (chunks, blocks) = chunks_and_blocks(rng, &self.shape());
        let codec = [Codec::Lz4, Codec::BloscLz, Codec::Zstd][rng.below(3)];
        let options = self
            .array
            .options()
            .with_chunks(&chunks)
            .with_blocks(&blocks)
            .with_compression(Options::new(1).with_codec(codec));
        self.array = self.array.copy(Location::Memory, &options).unwrap().edit().unwrap();
        assert_eq!((self.array.geometry().chunks(), self.array.geometry().blocks()), (&chunks[..], &blocks[..]));
    }

    fn join(&mut self, rng: &mut Rng) {
        let Some(axis) = some_axis(rng, &self.shape()) else { return };
        let mut shape = self.shape();
        shape[axis] = rng.below(4) as u64;
        let other = Model::random(rng, &shape);
        let (chunks, blocks) = chunks_and_blocks(rng, &shape);
        let options =
            ArrayOptions::new(&shape, Options::new(4)).with_dtype("<u4").with_chunks(&chunks).with_blocks(&blocks);
        let array = NdArray::from_data(&options, &other.bytes()).unwrap();
        let joined = NdArray::concatenate(Location::Memory, &[&self.array, &array], axis, &self.array.options());
        self.array = joined.unwrap().edit().unwrap();
        self.model = self.model.inserted(axis, self.model.shape[axis], &other);
    }

    fn add_and_take_an_axis(&mut self, rng: &mut Rng) {
        let axis = rng.below(self.model.shape.len() + 1);
        self.array.expand_dims(axis).unwrap();
        assert_eq!(self.array.shape()[axis], 1);
        assert_eq!(self.array.to_vec().unwrap(), self.model.bytes());
        self.array.squeeze(&[axis]).unwrap();
    }

    fn by_chunks(&mut self) {
        let mut seen = 0;
        for chunk in self.array.chunks() {
            let chunk = chunk.unwrap();
            let indices: Vec<Vec<u64>> = chunk.spans.iter().map(|span| span.clone().collect()).collect();
            let expected = self.model.positions(&indices).into_iter().map(|position| self.model.items[position]);
            assert_eq!(chunk.data, bytes(expected));
            seen += chunk.data.len() / 4;
        }
        assert_eq!(seen, self.model.items.len());
    }
}

fn below(rng: &mut Rng, end: u64) -> u64 {
    rng.below(usize::try_from(end).unwrap()) as u64
}

fn some_axis(rng: &mut Rng, shape: &[u64]) -> Option<usize> {
    (!shape.is_empty()).then(|| rng.below(shape.len()))
}

/// A little longer or shorter, sometimes nothing.
fn new_length(rng: &mut Rng, length: u64) -> u64 {
    match rng.below(12) {
        0 => 0,
        1..=4 => length,
        5..=8 => length + below(rng, 4),
        _ => length - below(rng, length.min(4) + 1),
    }
}

fn chunks_and_blocks(rng: &mut Rng, shape: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let lengths = shape.iter().map(|&length| {
        let length = usize::try_from(length).unwrap();
        // Longer than the chunk by one, more often than chance would have it.
        let chunk = if rng.below(3) == 0 { length.saturating_sub(1).max(1) } else { 1 + rng.below(length.max(1) + 1) };
        (chunk as u64, 1 + rng.below(chunk) as u64)
    });
    lengths.unzip()
}

fn run(rng: &mut Rng, array: ArrayEdit, shape: &[u64]) {
    let mut pair = Pair { array, model: Model::new(shape) };
    pair.write(rng);
    for _ in 0..14 {
        // Shapes stay small.
        let is_large = pair.model.items.len() > 3000;
        match rng.below(12) {
            0 | 1 => pair.write(rng),
            2 => pair.read(rng),
            3 => pair.points(rng),
            4 => pair.mask(rng),
            5 => pair.resize(rng),
            6 if !is_large => pair.insert(rng),
            6 | 7 => pair.delete(rng),
            8 => pair.turn(rng),
            9 => pair.rechunk(rng),
            10 if !is_large => pair.join(rng),
            10 => pair.by_chunks(),
            _ => pair.add_and_take_an_axis(rng),
        }
        pair.check();
        pair.read(rng);
    }
}

#[test]
fn random_operations_agree_with_the_model() {
    let mut rng = Rng::new(11);
    let lengths = [1, 2, 3, 5, 7, 8, 9, 13];
    for round in 0..240 {
        let ndim = round % 6;
        let shape: Vec<u64> = (0..ndim).map(|_| lengths[rng.below(if ndim > 3 { 5 } else { lengths.len() })]).collect();
        let (chunks, blocks) = chunks_and_blocks(&mut rng, &shape);
        let codec = [Codec::Lz4, Codec::BloscLz, Codec::Zstd][round % 3];
        let options = ArrayOptions::new(&shape, Options::new(4).with_codec(codec)).with_dtype("<u4");
        let options = options.with_chunks(&chunks).with_blocks(&blocks);
        let frame = round % 4;
        let array = match frame {
            0 | 1 => NdArray::create(Location::Memory, &options, &Fill::Zeros),
            2 => NdArray::create(Location::storage(MemoryStorage::default()), &options, &Fill::Zeros),
            _ => NdArray::create(Location::directory(MemoryDirectory::default()), &options, &Fill::Zeros),
        };
        run(&mut rng, array.unwrap(), &shape);
    }
}

#[test]
fn several_threads_read_and_write_what_one_does() {
    let shape = [61, 53, 37];
    let mut rng = Rng::new(12);
    let model = Model::random(&mut rng, &shape);
    for (chunks, blocks) in [([20, 30, 37], [7, 10, 13]), ([61, 53, 37], [61, 5, 37]), ([5, 5, 5], [5, 5, 5])] {
        let options = |threads| {
            ArrayOptions::new(&shape, Options::new(4).with_threads(threads)).with_chunks(&chunks).with_blocks(&blocks)
        };
        let mut arrays = [Threads::serial(), Threads::at_most(2), Threads::custom(Arc::new(Scoped))]
            .map(|threads| NdArray::from_data(&options(threads), &model.bytes()).unwrap().edit().unwrap());
        for _ in 0..25 {
            let (selections, indices): (Vec<AxisSelection>, Vec<Vec<u64>>) =
                shape.iter().map(|&length| pick(&mut rng, length)).unzip();
            let positions = model.positions(&indices);
            let data = bytes(positions.iter().map(|_| random(&mut rng)));
            let before: Vec<_> = arrays.iter().map(|array| array.slice(&selections).unwrap()).collect();
            assert!(before.windows(2).all(|two| two[0] == two[1]));
            arrays.iter_mut().for_each(|array| array.write(&selections, &data).unwrap());
        }
        let chunk = |array: &ArrayReader| -> Vec<Vec<u8>> {
            (0..array.super_chunk().nchunks()).map(|index| array.super_chunk().chunk(index).unwrap()).collect()
        };
        let [serial, others @ ..] = &arrays;
        assert!(others.iter().all(|array| chunk(array) == chunk(serial)));
        assert!(others.iter().all(|array| array.to_vec().unwrap() == serial.to_vec().unwrap()));
    }
}

/// Three threads of its own.
struct Scoped;

impl Executor for Scoped {
    fn threads(&self) -> usize {
        3
    }

    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| (0..workers).for_each(|worker| drop(scope.spawn(move || job(worker)))));
    }
}

#[test]
fn a_dimension_of_no_length_is_fine() {
    let options = ArrayOptions::new(&[3, 0, 2], Options::new(4)).with_dtype("<u4");
    let mut array = NdArray::create(Location::Memory, &options, &Fill::Zeros).unwrap();
    assert!(array.to_vec().unwrap().is_empty());
    array.write(&[AxisSelection::All, AxisSelection::All, AxisSelection::All], &[]).unwrap();
    assert_eq!(array.slice_shape(&[AxisSelection::Index(1), AxisSelection::All, AxisSelection::All]).unwrap(), [0, 2]);
}

#[test]
fn nothing_appended_to_layers_without_items_is_no_layers() {
    let options = ArrayOptions::new(&[5, 0], Options::new(4)).with_dtype("<u4");
    let mut array = NdArray::create(Location::Memory, &options, &Fill::Zeros).unwrap();
    array.append(0, &[]).unwrap();
    array.append_from(0, &MemoryStorage::default(), ItemOrder::C).unwrap();
    assert_eq!(array.shape(), [5, 0]);
    assert_eq!(array.append(0, &[0; 4]).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn arrays_are_filled_with_what_is_asked_for() {
    let options = ArrayOptions::new(&[10, 10], Options::new(4)).with_chunks(&[4, 4]).with_blocks(&[2, 2]);
    let value = NdArray::new(&options, &Fill::Value(vec![1, 2, 3, 4])).unwrap();
    assert_eq!(value.to_vec().unwrap(), [1, 2, 3, 4].repeat(100));
    let nan = NdArray::new(&options, &Fill::NaN).unwrap();
    assert!(nan.to_vec().unwrap().chunks(4).all(|item| f32::from_le_bytes(item.try_into().unwrap()).is_nan()));
    assert_eq!(NdArray::new(&options, &Fill::Uninit).unwrap().to_vec().unwrap(), [0; 400]);
    assert!(NdArray::new(&options, &Fill::Value(vec![1])).is_err());
}

#[test]
fn an_array_in_a_frame_is_found_again() {
    let directory = std::env::temp_dir().join(format!("blosc-oxide-nd-{}", std::process::id()));
    let path = directory.join("array.b2nd");
    std::fs::create_dir_all(&directory).unwrap();
    let options = ArrayOptions::new(&[20, 30], Options::new(4)).with_dtype("<i4").with_frame(FrameOptions::default());
    let mut array = NdArray::create(&path, &options, &Fill::Zeros).unwrap();
    array.write(&[(5..7).into(), AxisSelection::All], &bytes(0..60)).unwrap();
    array.checkpoint().unwrap();
    let again = NdArray::open(&path).unwrap();
    assert_eq!((again.shape(), again.dtype()), (&[20, 30][..], "<i4"));
    assert_eq!(again.slice(&[AxisSelection::Index(6), (0..2).into()]).unwrap(), bytes(30..32));
    std::fs::remove_dir_all(&directory).unwrap();
}
