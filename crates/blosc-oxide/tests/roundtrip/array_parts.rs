//! Arrays go out and come in part by part, in bounded memory, as they do whole.

use blosc_oxide::{
    ArrayOptions, AxisSelection, Codec, ErrorKind, Frame, FrameOptions, ItemOrder, Limits, Location, NdArray,
    NpyHeader, Options, Result, Threads,
    plugin::{CodecContext, CodecPlugin, Plugins},
    storage::MemoryStorage,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn counted(count: u64, typesize: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|item| (0..typesize).map(move |byte| u8::try_from((item * 7 + byte as u64) % 251).unwrap()))
        .collect()
}

/// The same array, opened by somebody who allows no more than `limit` bytes at once.
fn limited(array: &NdArray, limit: usize) -> NdArray {
    let options = FrameOptions::new(array.super_chunk().options().clone());
    let mut frame = Frame::create(MemoryStorage::default(), options.clone()).unwrap();
    array.super_chunk().copy_to(&mut frame).unwrap();
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let options = options.with_limits(Limits::new().with_max_allocation(limit));
    NdArray::from_frame(Frame::open_with(Location::source(MemoryStorage::new(bytes)), &options.opening()).unwrap())
        .unwrap()
}

/// An array of items of three bytes, and what it holds.
fn made(shape: &[u64], chunks: &[u64], blocks: &[u64]) -> (NdArray, Vec<u8>) {
    let data = counted(shape.iter().product(), 3);
    let options = ArrayOptions::new(shape, Options::new(3)).with_chunks(chunks).with_blocks(blocks);
    (NdArray::from_data(&options, &data).unwrap(), data)
}

#[test]
fn an_array_goes_out_in_parts_as_it_is() {
    for (shape, chunks, blocks) in [
        (&[1000][..], &[300][..], &[70][..]),
        (&[40, 50], &[16, 20], &[8, 5]),
        (&[9, 11, 13], &[4, 11, 5], &[3, 2, 5]),
        (&[5, 0, 3], &[2, 2, 2], &[1, 1, 1]),
        (&[], &[], &[]),
    ] {
        let (array, data) = made(shape, chunks, blocks);
        let array = limited(&array, 8000);
        let nbytes = data.len() as u64;
        assert_eq!(array.nbytes(), nbytes);
        for range in [0..nbytes, 0..0, nbytes..nbytes, nbytes / 3..nbytes / 2, nbytes / 5..nbytes] {
            let mut out = Vec::new();
            array.write_to(range.clone(), &mut out).unwrap();
            let inside = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            assert!(out == data[inside], "{shape:?}, {range:?}");
        }
        let mut out = Vec::new();
        loop {
            let part = array.bytes_from(out.len() as u64).unwrap();
            if part.is_empty() {
                break;
            }
            out.extend(part);
        }
        assert!(out == data, "{shape:?}");
        let error = array.write_to(0..nbytes + 1, Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
}

/// What `out` holds in Fortran order, in C order.
fn from_fortran(shape: &[u64], out: &[u8]) -> Vec<u8> {
    let options = ArrayOptions::new(shape, Options::new(3));
    let described = NpyHeader::new("|V3", shape, ItemOrder::Fortran).unwrap();
    let file = MemoryStorage::new(out.to_vec());
    NdArray::from_plain(Location::Memory, &file, &described, &options).unwrap().to_vec().unwrap()
}

#[test]
fn an_array_goes_out_in_fortran_order_in_parts() {
    for (shape, chunks, blocks) in [
        (&[1000][..], &[300][..], &[70][..]),
        (&[40, 50], &[16, 20], &[8, 5]),
        (&[9, 11, 13], &[4, 11, 5], &[3, 2, 5]),
        (&[5, 0, 3], &[2, 2, 2], &[1, 1, 1]),
        (&[], &[], &[]),
    ] {
        let (array, data) = made(shape, chunks, blocks);
        let array = limited(&array, 8000);
        let ordered = array.in_order(ItemOrder::Fortran);
        let (nbytes, mut all) = (array.nbytes(), Vec::new());
        ordered.write_to(0..nbytes, &mut all).unwrap();
        assert!(from_fortran(shape, &all) == data, "{shape:?}");
        let (mut pieces, mut part) = (Vec::new(), Vec::new());
        while (pieces.len() as u64) < nbytes {
            pieces.extend(ordered.bytes_from(pieces.len() as u64).unwrap());
        }
        assert!(pieces == all, "{shape:?}");
        ordered.write_to(nbytes / 3..nbytes / 2, &mut part).unwrap();
        assert!(part == all[all.len() / 3..all.len() / 2], "{shape:?}");
    }
    let (array, _) = made(&[60, 50, 4], &[16, 20, 3], &[8, 5, 2]);
    let selections = [AxisSelection::from(3..50), AxisSelection::Index(7), AxisSelection::slice(3, None, -1)];
    let mut out = Vec::new();
    limited(&array, 8000).in_order(ItemOrder::Fortran).slice_to(&selections, &mut out).unwrap();
    assert!(from_fortran(&[47, 4], &out) == array.slice(&selections).unwrap());
}

#[test]
fn a_slice_goes_out_in_parts_as_it_is() {
    let (whole, _) = made(&[60, 50, 4], &[16, 20, 3], &[8, 5, 2]);
    let array = limited(&whole, 8000);
    let selections = [
        AxisSelection::All,
        AxisSelection::Index(7),
        AxisSelection::from(5..48),
        AxisSelection::slice(1, 49, 3),
        AxisSelection::slice(49, None, -1),
        AxisSelection::slice(45, 3, -7),
        AxisSelection::indices([7, 7, 40, 3, 0]),
        AxisSelection::from(9..9),
    ];
    for first in &selections {
        for second in &selections {
            for third in [AxisSelection::All, AxisSelection::Index(3), AxisSelection::slice(3, None, -2)] {
                let selections = [first.clone(), second.clone(), third];
                let mut out = Vec::new();
                array.slice_to(&selections, &mut out).unwrap();
                assert!(out == whole.slice(&selections).unwrap(), "{selections:?}");
            }
        }
    }
}

/// Keeps two bytes of data that has no others, and counts what is decoded.
#[derive(Default)]
struct Counting(AtomicUsize);

impl CodecPlugin for Counting {
    fn compress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        dst[..2].copy_from_slice(&src[..2]);
        Ok(Some(2))
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        self.0.fetch_add(1, Ordering::Relaxed);
        dst.iter_mut().zip(src.iter().cycle()).for_each(|(out, byte)| *out = *byte);
        Ok(dst.len())
    }
}

#[test]
fn each_block_is_decoded_once_when_an_array_goes_out_in_parts() {
    let counting = Arc::new(Counting::default());
    let plugins = Plugins::new().with_codec(200, counting.clone()).unwrap();
    let compression = Options::new(1)
        .with_codec(Codec::Plugin(200))
        .with_filters([])
        .with_plugins(plugins)
        .with_threads(Threads::serial());
    let options = ArrayOptions::new(&[128, 128], compression).with_chunks(&[64, 64]).with_blocks(&[16, 16]);
    let item = |row: u8, column: u8| row / 16 * 16 + column / 16 * 2 + column % 2;
    let data: Vec<u8> = (0..128).flat_map(|row| (0..128).map(move |column| item(row, column))).collect();
    let array = NdArray::from_data(&options, &data).unwrap();
    // A row of chunks has 8 KiB, a row of blocks 2 KiB.
    let array = limited(&array, 7 << 10);
    counting.0.store(0, Ordering::Relaxed);
    let mut out = Vec::new();
    array.write_to(0..array.nbytes(), &mut out).unwrap();
    assert!(out == data);
    assert_eq!(counting.0.load(Ordering::Relaxed), 64);
}

/// Stores one byte for a block, and wants blocks of 4 x 8 items.
struct Flat;

impl CodecPlugin for Flat {
    fn compress(&self, src: &[u8], dst: &mut [u8], context: CodecContext<'_>) -> Result<Option<usize>> {
        assert_eq!((context.block_shape, context.meta), (Some(&[4, 8][..]), 3));
        dst[0] = src[0];
        Ok(Some(1))
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], context: CodecContext<'_>) -> Result<usize> {
        assert_eq!((context.block_shape, context.meta), (Some(&[4, 8][..]), 3));
        dst.fill(src[0]);
        Ok(dst.len())
    }
}

#[test]
fn a_plug_in_for_an_id_that_all_share_is_told_the_shape_of_blocks() {
    assert_eq!(Plugins::new().with_codec(31, Arc::new(Flat)).unwrap_err().kind(), ErrorKind::InvalidArgument);
    for id in [33, 39] {
        let compression = Options::new(2)
            .with_codec(Codec::Plugin(id))
            .with_codec_meta(3)
            .with_filters([])
            .with_plugins(Plugins::new().with_codec(id, Arc::new(Flat)).unwrap());
        let options = ArrayOptions::new(&[20, 30], compression).with_chunks(&[10, 16]).with_blocks(&[4, 8]);
        // Items whose bytes differ, or else blocks are runs of one byte and need no codec.
        let array = NdArray::from_data(&options, &[5, 6].repeat(600)).unwrap();
        assert_eq!(array.to_vec().unwrap(), [5; 1200]);
    }
}

#[test]
fn an_array_grows_by_what_is_in_a_file() {
    for axis in 0..3 {
        for layers in [0, 1, 3, 8] {
            let shape = [5_u64, 7, 6];
            let options = ArrayOptions::new(&shape, Options::new(3)).with_chunks(&[3, 4, 2]).with_blocks(&[2, 2, 2]);
            let mut expected =
                NdArray::from_data(&options, &counted(shape.iter().product(), 3)).unwrap().edit().unwrap();
            let mut array = NdArray::from_data(&options, &counted(shape.iter().product(), 3)).unwrap().edit().unwrap();
            let layer = shape.iter().product::<u64>() / shape[axis];
            let data = counted(layer * layers, 3);
            expected.append(axis, &data).unwrap();
            array.append_from(axis, &MemoryStorage::new(data), ItemOrder::C).unwrap();
            assert_eq!(array.shape(), expected.shape());
            assert!(array.to_vec().unwrap() == expected.to_vec().unwrap(), "{axis}, {layers}");
            let error = array.append_from(axis, &MemoryStorage::new(vec![0; 5]), ItemOrder::C).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}

#[test]
fn items_without_a_header_become_an_array_in_either_order() {
    let data = counted(35, 2);
    for order in [ItemOrder::C, ItemOrder::Fortran] {
        let described = NpyHeader::new("<u2", [5, 7], order).unwrap();
        let options = ArrayOptions::new(&[], Options::new(1)).with_chunks(&[3, 3]).with_blocks(&[2, 2]);
        let file = MemoryStorage::new(data.clone());
        let array = NdArray::from_plain(Location::Memory, &file, &described, &options).unwrap();
        let mut npy = Vec::new();
        described.write_npy_header(&mut npy).unwrap();
        npy.extend_from_slice(&data);
        let expected = NdArray::from_npy(Location::Memory, &MemoryStorage::new(npy), &options).unwrap();
        assert_eq!(array.to_vec().unwrap(), expected.to_vec().unwrap());
        let short = MemoryStorage::new(data[..69].to_vec());
        let error = NdArray::from_plain(Location::Memory, &short, &described, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated);
    }
}

#[test]
fn a_step_longer_than_memory_takes_one_item() {
    let (array, data) = made(&[10, 4], &[4, 4], &[2, 2]);
    for step in [i64::MAX, i64::MIN + 1, 1 << 40] {
        let first = if step > 0 { AxisSelection::slice(2, 10, step) } else { AxisSelection::slice(2, None, step) };
        assert_eq!(array.slice(&[first, AxisSelection::Index(1)]).unwrap(), data[27..30], "{step}");
    }
}

#[test]
fn a_chunk_that_does_not_exist_has_no_spans() {
    let geometry = ArrayOptions::new(&[10, 10], Options::new(4)).with_chunks(&[5, 5]).geometry().unwrap();
    assert_eq!(geometry.chunk_spans(3).unwrap(), [5..10, 5..10]);
    assert_eq!(geometry.chunk_spans(999).unwrap_err().kind(), ErrorKind::InvalidArgument);
}
