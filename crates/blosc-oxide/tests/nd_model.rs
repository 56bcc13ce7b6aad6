//! Arrays against a plain model of them: whatever is written and read, both stay equal.

use blosc_oxide::{ArrayOptions, Codec, Fill, FrameOptions, NdArray, Options, Pick};
use testkit::Rng;

/// An array as nothing but its items.
struct Model {
    shape: Vec<u64>,
    items: Vec<u32>,
}

impl Model {
    fn new(shape: &[u64]) -> Self {
        let count: u64 = shape.iter().product();
        Self { shape: shape.to_vec(), items: vec![0; usize::try_from(count).unwrap()] }
    }

    /// The positions of the items that the indices take, in order.
    fn positions(&self, indices: &[Vec<u64>]) -> Vec<usize> {
        let mut positions = vec![0_u64];
        for (length, indices) in self.shape.iter().zip(indices) {
            positions = positions.iter().flat_map(|at| indices.iter().map(move |index| at * length + index)).collect();
        }
        positions.into_iter().map(|at| usize::try_from(at).unwrap()).collect()
    }
}

/// A pick for an axis, and the indices that it stands for.
fn pick(rng: &mut Rng, length: u64) -> (Pick, Vec<u64>) {
    let below = |rng: &mut Rng, end: u64| rng.below(usize::try_from(end).unwrap()) as u64;
    if length == 0 {
        return (Pick::All, Vec::new());
    }
    match rng.below(6) {
        0 => (Pick::All, (0..length).collect()),
        1 => {
            let at = below(rng, length);
            (Pick::At(at), vec![at])
        }
        2 | 3 => {
            let (a, b) = (below(rng, length + 1), below(rng, length + 1));
            let step = 1 + below(rng, 3);
            let (start, end) = (a.min(b), a.max(b));
            let indices = (start..end).step_by(usize::try_from(step).unwrap()).collect();
            (Pick::steps(start, end, i64::try_from(step).unwrap()), indices)
        }
        4 => {
            let start = below(rng, length);
            let step = 1 + below(rng, 3);
            let indices = (0..=start).rev().step_by(usize::try_from(step).unwrap()).collect();
            (Pick::steps(start, None, -i64::try_from(step).unwrap()), indices)
        }
        _ => {
            // Each index once, since of two values for one item neither is right.
            let mut indices: Vec<u64> = (0..length).filter(|_| rng.below(2) == 0).collect();
            if rng.below(2) == 0 {
                indices.reverse();
            }
            (Pick::list(indices.clone()), indices)
        }
    }
}

fn bytes(items: impl IntoIterator<Item = u32>) -> Vec<u8> {
    items.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn run(rng: &mut Rng, mut array: NdArray, shape: &[u64]) {
    let mut model = Model::new(shape);
    for turn in 0..12 {
        let (picks, indices): (Vec<Pick>, Vec<Vec<u64>>) = shape.iter().map(|&length| pick(rng, length)).unzip();
        let positions = model.positions(&indices);
        if turn % 2 == 0 {
            let values: Vec<u32> = positions.iter().map(|_| u32::try_from(rng.below(1 << 20)).unwrap()).collect();
            array.write(&picks, &bytes(values.iter().copied())).unwrap();
            for (&position, value) in positions.iter().zip(values) {
                model.items[position] = value;
            }
        } else {
            let expected = bytes(positions.iter().map(|&position| model.items[position]));
            assert_eq!(array.slice(&picks).unwrap(), expected, "{shape:?} {picks:?}");
            let shape = array.slice_shape(&picks).unwrap();
            assert_eq!(shape.iter().product::<usize>() * 4, expected.len());
        }
    }
    assert_eq!(array.to_vec().unwrap(), bytes(model.items));
}

#[test]
fn random_reads_and_writes_agree_with_the_model() {
    let mut rng = Rng::new(11);
    let lengths = [1, 2, 3, 5, 7, 8, 9, 13];
    for round in 0..150 {
        let ndim = round % 6;
        let mut shape = Vec::new();
        let mut chunks = Vec::new();
        let mut blocks = Vec::new();
        for _ in 0..ndim {
            let length = lengths[rng.below(if ndim > 3 { 5 } else { lengths.len() })];
            // Longer than the chunk by one, more often than chance would have it.
            let chunk = if rng.below(3) == 0 { (length - 1).max(1) } else { 1 + rng.below(length) };
            shape.push(length as u64);
            chunks.push(chunk as u64);
            blocks.push(1 + rng.below(chunk) as u64);
        }
        let codec = [Codec::Lz4, Codec::BloscLz, Codec::Zstd][round % 3];
        let options = ArrayOptions::new(&shape, Options::new(4).codec(codec)).chunks(&chunks).blocks(&blocks);
        run(&mut rng, NdArray::new(&options, &Fill::Zeros).unwrap(), &shape);
    }
}

#[test]
fn a_dimension_of_no_length_is_fine() {
    let options = ArrayOptions::new(&[3, 0, 2], Options::new(4)).dtype("<u4");
    let mut array = NdArray::new(&options, &Fill::Zeros).unwrap();
    assert!(array.to_vec().unwrap().is_empty());
    array.write(&[Pick::All, Pick::All, Pick::All], &[]).unwrap();
    assert_eq!(array.slice_shape(&[Pick::At(1), Pick::All, Pick::All]).unwrap(), [0, 2]);
}

#[test]
fn arrays_are_filled_with_what_is_asked_for() {
    let options = ArrayOptions::new(&[10, 10], Options::new(4)).chunks(&[4, 4]).blocks(&[2, 2]);
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
    let options = ArrayOptions::new(&[20, 30], Options::new(4)).dtype("<i4").frame(FrameOptions::default());
    let mut array = NdArray::create(&path, &options, &Fill::Zeros).unwrap();
    array.write(&[(5..7).into(), Pick::All], &bytes(0..60)).unwrap();
    array.commit().unwrap();
    let again = NdArray::open(&path).unwrap();
    assert_eq!((again.shape(), again.dtype()), (&[20, 30][..], "<i4"));
    assert_eq!(again.slice(&[Pick::At(6), (0..2).into()]).unwrap(), bytes(30..32));
    std::fs::remove_dir_all(&directory).unwrap();
}
