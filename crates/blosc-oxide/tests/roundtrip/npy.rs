//! .npy files become arrays and arrays .npy files, item by item.

use blosc_oxide::{ArrayOptions, ErrorKind, ItemOrder, Location, NdArray, NpyHeader, Options, storage::MemoryStorage};

fn npy(dtype: &str, shape: &[u64], order: ItemOrder, data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    NpyHeader::new(dtype, shape, order).unwrap().write_npy_header(&mut file).unwrap();
    file.extend_from_slice(data);
    file
}

fn counted(count: u64, typesize: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|item| (0..typesize).map(move |byte| u8::try_from((item * 7 + byte as u64) % 251).unwrap()))
        .collect()
}

/// The items of an array in Fortran order, in C order.
fn to_c_order(shape: &[u64], typesize: usize, data: &[u8]) -> Vec<u8> {
    let count: u64 = shape.iter().product();
    let mut out = Vec::new();
    for number in 0..count {
        let (mut rest, mut place) = (number, vec![0; shape.len()]);
        for (at, &length) in place.iter_mut().zip(shape).rev() {
            *at = rest % length;
            rest /= length;
        }
        let at = place.iter().zip(shape).rev().fold(0, |at, (&index, &length)| at * length + index);
        let at = usize::try_from(at).unwrap() * typesize;
        out.extend_from_slice(&data[at..at + typesize]);
    }
    out
}

#[test]
fn the_order_outlives_every_change_and_copy() {
    let data = counted(3 * 4 * 5, 4);
    let file = npy("<f4", &[3, 4, 5], ItemOrder::Fortran, &data);
    let options = ArrayOptions::new(&[], Options::new(1)).with_chunks(&[2, 2, 2]).with_blocks(&[1, 2, 2]);
    let mut array = NdArray::from_npy(Location::Memory, &MemoryStorage::new(file), &options).unwrap().edit().unwrap();
    array.append_from(0, &MemoryStorage::new(data.clone()), ItemOrder::Fortran).unwrap();
    array.resize(&[7, 4, 6]).unwrap();
    assert_eq!(array.order(), ItemOrder::Fortran);
    let copy = array.copy(Location::Memory, &array.options().with_chunks(&[3, 4, 6]).with_blocks(&[3, 2, 2])).unwrap();
    assert_eq!(copy.order(), ItemOrder::Fortran);
    assert_eq!(copy.super_chunk().metalayers().get("_order"), Some(&b"\xa1F"[..]));
    let plain = copy.copy(Location::Memory, &copy.options().with_order(ItemOrder::C)).unwrap();
    assert_eq!(plain.order(), ItemOrder::C, "a copy can have another");
    assert_eq!(plain.super_chunk().metalayers().get("_order"), None);
    assert_eq!(plain.to_vec().unwrap(), array.to_vec().unwrap());
}

#[test]
fn files_of_any_shape_and_order_come_back() {
    let shapes: [&[u64]; 7] = [&[], &[13], &[5, 7], &[4, 1, 9], &[3, 4, 5, 6], &[3, 0, 2], &[2, 3, 2, 3, 2]];
    for shape in shapes {
        for (dtype, typesize) in [("|u1", 1), ("<f4", 4), ("[('a', '<i4'), ('b', '|S3')]", 7)] {
            for order in [ItemOrder::C, ItemOrder::Fortran] {
                let data = counted(shape.iter().product(), typesize);
                let file = npy(dtype, shape, order, &data);
                let expected =
                    if order == ItemOrder::Fortran { to_c_order(shape, typesize, &data) } else { data.clone() };
                let chunks: Vec<u64> = shape.iter().map(|length| length.div_ceil(2).max(1)).collect();
                let blocks: Vec<u64> = chunks.iter().map(|length| length.div_ceil(2)).collect();
                let options = ArrayOptions::new(&[], Options::new(1)).with_chunks(&chunks).with_blocks(&blocks);
                let from_file =
                    NdArray::from_npy(Location::Memory, &MemoryStorage::new(file.clone()), &options).unwrap();
                let from_stream = NdArray::from_npy_stream(Location::Memory, &file[..], &options).unwrap();
                for array in [from_file, from_stream] {
                    assert_eq!((array.shape(), array.dtype()), (shape, dtype));
                    assert_eq!(array.to_vec().unwrap(), expected, "{shape:?} {dtype} {order:?}");
                    let mut back = Vec::new();
                    array.to_npy(&mut back).unwrap();
                    assert_eq!(array.order(), order);
                    assert_eq!(back, file, "{shape:?} {dtype} {order:?}");
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_an_error() {
    let file = npy("<f4", &[5, 7], ItemOrder::C, &counted(35, 4));
    let options = ArrayOptions::new(&[], Options::new(1));
    for len in [0, 5, 70, 100, file.len() - 1] {
        let error =
            NdArray::from_npy(Location::Memory, &MemoryStorage::new(file[..len].to_vec()), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
        let error = NdArray::from_npy_stream(Location::Memory, &file[..len], &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
    }
}
