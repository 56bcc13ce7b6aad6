//! Arrays that both sides change in turn. Beside each is an .npy file with what it should hold.

use blosc_oxide::{
    ArrayEdit, ArrayOptions, ArrayReader, AxisSelection, Codec, Filter, FrameLayout, FrameOptions, ItemOrder, Location,
    NdArray, NpyHeader, Options, storage::MemoryStorage,
};
use std::fs;
use std::path::{Path, PathBuf};

/// The metalayers of all arrays, as msgpack: a string, and a map with one entry.
const UNIT: &[u8] = b"\xa6kelvin";
const NOTE: &[u8] = b"\x81\xa4made\xabfor interop";

const SHAPES: [(&[u64], &[u64], &[u64]); 8] = [
    (&[], &[], &[]),
    (&[11], &[4], &[3]),
    (&[1000], &[333], &[50]),
    (&[13, 17], &[5, 6], &[2, 4]),
    (&[1, 29], &[1, 10], &[1, 10]),
    (&[9, 8, 7], &[4, 4, 4], &[2, 3, 4]),
    (&[3, 4, 5, 6], &[2, 3, 4, 5], &[1, 3, 2, 2]),
    (&[2, 3, 2, 3, 2], &[2, 2, 2, 2, 2], &[1, 2, 1, 2, 1]),
];
const DTYPES: [(&str, usize); 8] = [
    ("|u1", 1),
    ("<i2", 2),
    ("<f4", 4),
    ("<f8", 8),
    (">i4", 4),
    ("|S9", 9),
    ("<M8[s]", 8),
    ("[('a', '<i4'), ('b', '<f8')]", 12),
];
const CODECS: [Codec; 4] = [Codec::BloscLz, Codec::Lz4, Codec::Zstd, Codec::Zlib];

/// What an array should hold: as much as NumPy would know of it.
struct Expected {
    shape: Vec<u64>,
    dtype: String,
    items: NdArray,
}

/// Numbers by formula.
fn items(seed: usize, count: u64, typesize: usize) -> Vec<u8> {
    let len = usize::try_from(count).expect("small arrays") * typesize;
    (0..len).map(|at| u8::try_from((at / 3 * (seed % 5 + 1) + seed) % 120).expect("less than 120")).collect()
}

fn npy(path: &Path) -> PathBuf {
    path.with_extension("npy")
}

fn save(array: &ArrayReader, path: &Path) {
    array.to_npy(fs::File::create(npy(path)).expect("a file can be made")).expect("a type that NumPy knows");
}

fn load(path: &Path) -> Expected {
    let bytes = fs::read(npy(path)).expect("an .npy file beside the array");
    let header = NpyHeader::read_npy_header(&mut &bytes[..]).expect("a good header");
    assert_eq!(header.order(), ItemOrder::C);
    let options = ArrayOptions::new(&[], Options::new(1));
    let items = NdArray::from_npy(Location::Memory, &MemoryStorage::new(bytes), &options).expect("a good .npy file");
    Expected { shape: header.shape().to_vec(), dtype: header.dtype(), items }
}

/// Makes arrays; how many.
pub(crate) fn create(directory: &str) -> usize {
    fs::create_dir_all(directory).expect("a directory can be made");
    let mut count = 0;
    for (shape, chunks, blocks) in SHAPES {
        for (dtype, typesize) in DTYPES {
            let layout = if count % 3 == 2 { FrameLayout::Sparse } else { FrameLayout::Contiguous };
            let path = Path::new(directory).join(format!("ours-{count}.b2nd"));
            let frame = FrameOptions::default().with_layout(layout).with_metalayer("unit", UNIT);
            let compression = Options::new(typesize).with_codec(CODECS[count % 4]).with_filters([Filter::Shuffle]);
            let options = ArrayOptions::new(shape, compression)
                .with_dtype(dtype)
                .with_chunks(chunks)
                .with_blocks(blocks)
                .with_frame(frame);
            let data = items(count, shape.iter().product(), typesize);
            let mut array = NdArray::create_with_data(&path, &options, &data).expect("good options").edit().unwrap();
            array.vlmetalayers_mut().add("note", NOTE).expect("a new metalayer");
            array.checkpoint().expect("room on the disk");
            save(&array, &path);
            count += 1;
        }
    }
    count
}

fn paths(directory: &str, extension: &str) -> Vec<PathBuf> {
    let listing = fs::read_dir(directory).expect("a directory of arrays");
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}

fn check(array: &ArrayReader, path: &Path) {
    let expected = load(path);
    let name = path.display();
    assert_eq!(array.shape(), expected.shape, "{name}");
    assert_eq!(array.dtype(), expected.dtype, "{name}");
    assert!(array.to_vec().expect("a good array") == expected.items.to_vec().expect("a good array"), "{name}");
}

/// Reads what the other side left, and changes it; how many arrays.
pub(crate) fn turn(directory: &str, number: usize) -> usize {
    let paths = paths(directory, "b2nd");
    for (at, path) in paths.iter().enumerate() {
        let mut array = NdArray::open(path)
            .and_then(|array| array.edit())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(&array, path);
        assert_eq!(array.super_chunk().metalayers().get("unit"), Some(UNIT), "{}", path.display());
        let note = array.super_chunk().vlmetalayers().get("note").expect("a good metalayer");
        assert_eq!(note.as_deref(), Some(NOTE), "{}", path.display());
        let mut model = load(path).items.edit().expect("an array in memory");
        let chunks = array.geometry().chunks().to_vec();
        for target in [&mut array, &mut model] {
            change(target, &chunks, number * 17 + at);
        }
        array.checkpoint().expect("room on the disk");
        assert!(array.to_vec().expect("a good array") == model.to_vec().expect("a good array"), "{}", path.display());
        save(&model, path);
        check(&NdArray::open(path).expect("a good array"), path);
    }
    paths.len()
}

/// Reads arrays that only the other side can write; how many.
pub(crate) fn read(directory: &str) -> usize {
    let paths = paths(directory, "ndlz");
    for path in &paths {
        check(&NdArray::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())), path);
    }
    paths.len()
}

/// Does a bit of everything to an array, which may have these chunks.
fn change(array: &mut ArrayEdit, chunks: &[u64], seed: usize) {
    let ndim = array.shape().len();
    let typesize = array.geometry().typesize();
    if ndim == 0 {
        return array.write(&[], &items(seed, 1, typesize)).expect("room on the disk");
    }
    let axis = seed % ndim;
    let layer = |array: &ArrayReader| array.shape().iter().product::<u64>() / array.shape()[axis];
    array.append(axis, &items(seed, 3 * layer(array), typesize)).expect("room on the disk");
    array.insert(axis, 0, &items(seed + 1, chunks[axis] * layer(array), typesize)).expect("room on the disk");
    array.insert(axis, 1, &items(seed + 2, layer(array), typesize)).expect("room on the disk");
    array.delete(axis, 0..2).expect("room on the disk");
    let shape: Vec<u64> = array.shape().iter().map(|&length| (length + 2).min(length.div_ceil(2) + 9)).collect();
    array.resize(&shape).expect("room on the disk");
    let selections: Vec<AxisSelection> =
        shape.iter().map(|&length| (length / 4..length / 4 + length.div_ceil(3)).into()).collect();
    let count = array.slice_shape(&selections).expect("selections inside").iter().product::<usize>();
    array.write(&selections, &items(seed + 3, count as u64, typesize)).expect("room on the disk");
}
