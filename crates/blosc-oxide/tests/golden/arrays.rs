//! Arrays that the reference wrote: shape, chunks, blocks, type and every item.

use crate::common::child::Scratch;
use blosc_oxide::{ArrayOptions, Codec, ErrorKind, NdArray, Options, SuperChunk};
use std::time::{Duration, Instant};
use testkit::golden::{Compat, Entry, Golden};
use testkit::serde_json::Value;
use testkit::sha256_hex;

/// How many arrays the whole set has, and how many of them are with zfp.
const SHARED_ARRAYS: usize = 94;
const SHARED_ZFP: usize = 15;

fn arrays(golden: &Golden) -> Vec<Entry> {
    golden.entries("blosc2").into_iter().filter(|entry| entry.kind.starts_with("b2nd")).collect()
}

fn lengths(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect()
}

/// Checks one array; `false` if it is with zfp and this build without.
fn check(entry: &Entry) -> bool {
    let name = &entry.file;
    let array = NdArray::open(entry.path.as_ref().unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let manifest = &entry.manifest;
    assert_eq!(array.shape(), lengths(&manifest["shape"]), "{name}");
    assert_eq!(array.geometry().chunks(), lengths(&manifest["chunks"]), "{name}");
    assert_eq!(array.geometry().blocks(), lengths(&manifest["blocks"]), "{name}");
    assert_eq!(array.super_chunk().nchunks() as u64, manifest["nchunks"].as_u64().unwrap(), "{name}");
    let is_missing = name.contains("zfp") && !Codec::ZFP_ACCURACY.is_built_in();
    match array.to_vec() {
        Ok(plain) => {
            assert_eq!(plain.len(), entry.plain_nbytes.unwrap(), "{name}");
            if let Some(expected) = &entry.plain_sha256 {
                assert_eq!(&sha256_hex(&plain), expected, "{name}");
            }
            true
        }
        Err(error) => {
            assert!(is_missing, "{name}: {error}");
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}: {error}");
            false
        }
    }
}

#[test]
fn every_array_of_the_repository_reads_as_the_reference_reads_it() {
    let results: Vec<bool> = arrays(&Golden::repository()).iter().map(check).collect();
    assert!(results.len() >= 45);
}

#[test]
fn every_array_of_the_whole_set_reads_as_the_reference_reads_it() {
    let Some(golden) = Golden::shared() else { return };
    let results: Vec<bool> = arrays(&golden).iter().map(check).collect();
    let missing = results.iter().filter(|is_read| !**is_read).count();
    assert!(results.len() >= SHARED_ARRAYS, "{} arrays were found", results.len());
    assert_eq!(missing, if Codec::ZFP_ACCURACY.is_built_in() { 0 } else { SHARED_ZFP });
}

#[test]
fn a_type_is_kept_as_it_is_written() {
    for entry in Golden::all().iter().flat_map(arrays) {
        let array = NdArray::open(entry.path.as_ref().unwrap()).unwrap();
        // The metalayer ends with it.
        let Some(metalayer) = entry.facts["metalayers_hex"]["b2nd"].as_str() else { continue };
        let dtype: String = array.dtype().bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(metalayer.ends_with(&dtype), "{}: {}", entry.file, array.dtype());
    }
}

/// Arrays of the repository of C-Blosc2, with items of 4 bytes whatever their type says. Their
/// hashes are of what python-blosc2 4.14.1 decodes the chunks to.
const COMPAT: [(&str, &[u64], &str); 2] = [
    ("example_day_month_temp.b2nd", &[400, 3], "0dc81ad04c51978088816bfd06241fecc8ca9cb4c132ffd1d9ade02fada31228"),
    ("example_item_prices.b2nd", &[12, 25, 250], "55bf0fe603f55201bfaad37d64de94cea1cbd39911930787458bb6e6edaae28c"),
];

#[test]
fn arrays_of_older_releases_are_read() {
    let Some(compat) = Compat::shared() else { return };
    for (name, shape, hash) in COMPAT {
        let array = NdArray::open(compat.directory("b2nd").join(name)).unwrap();
        assert_eq!((array.shape(), array.geometry().typesize()), (shape, 4), "{name}");
        assert_eq!(sha256_hex(&array.to_vec().unwrap()), hash, "{name}");
    }
}

fn big_endian<const N: usize, T: Copy>(lengths: &[T], marker: u8, bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let ndim = u8::try_from(lengths.len()).unwrap();
    let numbers = lengths.iter().flat_map(|&length| std::iter::once(marker).chain(bytes(length)));
    std::iter::once(0x90 + ndim).chain(numbers).collect()
}

/// The metalayer of an array, whatever its lengths are.
fn metalayer(first: u8, shape: &[i64], chunks: &[i32], blocks: &[i32]) -> Vec<u8> {
    let lengths = [chunks, blocks].map(|lengths| big_endian(lengths, 0xd2, i32::to_be_bytes)).concat();
    let start = [first, 0, u8::try_from(shape.len()).unwrap()];
    [&start[..], &big_endian(shape, 0xd3, i64::to_be_bytes), &lengths].concat()
}

#[test]
fn the_metalayer_that_was_called_caterva_is_read_and_kept() {
    let mut sc = SuperChunk::new(Options::new(2).with_blocksize(8)).unwrap();
    sc.metalayers_mut().add("caterva", metalayer(0x95, &[3, 3], &[2, 2], &[2, 2])).unwrap();
    for first in [1_u16, 5, 9, 13] {
        let items: Vec<u8> = (first..first + 4).flat_map(u16::to_le_bytes).collect();
        sc.append(&items).unwrap();
    }
    let array = NdArray::from_frame(sc.into()).unwrap();
    assert_eq!((array.shape(), array.dtype()), (&[3, 3][..], "|S2"));
    let items = [1_u16, 2, 5, 3, 4, 7, 9, 10, 13].map(u16::to_le_bytes).concat();
    assert_eq!(array.to_vec().unwrap(), items);
    let mut edit = array.edit().unwrap();
    edit.resize(&[3, 2]).unwrap();
    let array = edit.commit().unwrap();
    let sc = array.super_chunk();
    assert_eq!(sc.metalayers().get("caterva").unwrap(), metalayer(0x95, &[3, 2], &[2, 2], &[2, 2]));
    assert!(sc.metalayers().get("b2nd").is_none());
}

#[test]
fn crafted_geometry_is_an_error_in_microseconds() {
    let dtype = [&[0, 0xdb, 0, 0, 0, 3][..], b"<f8"].concat();
    let long = i64::from(i32::MAX);
    for (shape, chunks, blocks) in [
        (&[long; 16][..], &[i32::MAX; 16][..], &[i32::MAX; 16][..]),
        (&[long + 1; 16], &[1; 16], &[1; 16]),
        (&[i64::MAX; 3], &[1; 3], &[1; 3]),
        (&[i64::MAX], &[1], &[1]),
        (&[1 << 32, 1 << 31], &[1 << 20, 1 << 20], &[1, 1]),
        (&[5, 5], &[0, 5], &[0, 5]),
        (&[5, 5], &[5, 5], &[5, 0]),
        (&[5], &[2], &[3]),
        (&[-5], &[2], &[2]),
        (&[5], &[-2], &[2]),
        (&[5], &[5], &[-1]),
        (&[1000], &[1], &[1]),
        (&[1; 17], &[1; 17], &[1; 17]),
    ] {
        let content = [metalayer(0x97, shape, chunks, blocks), dtype.clone()].concat();
        let open = || {
            let mut sc = SuperChunk::new(Options::new(8)).unwrap();
            sc.append(&[1; 64]).unwrap();
            sc.metalayers_mut().add("b2nd", content.clone()).unwrap();
            let start = Instant::now();
            let result = NdArray::from_frame(sc.into());
            (start.elapsed(), result.map(|array| format!("{array:?}")))
        };
        // The machine may be busy now and then.
        let (fastest, result) = (0..20).map(|_| open()).min_by_key(|(elapsed, _)| *elapsed).unwrap();
        assert!(result.is_err(), "{shape:?} {chunks:?} {blocks:?}: {result:?}");
        assert!(fastest < Duration::from_micros(100), "{shape:?}: {fastest:?}");
    }
    // Cut off anywhere, it is an error as well.
    let content = [metalayer(0x97, &[5, 5], &[2, 2], &[1, 1]), dtype].concat();
    for len in 0..content.len() {
        let mut sc = SuperChunk::new(Options::new(8)).unwrap();
        sc.metalayers_mut().add("b2nd", &content[..len]).unwrap();
        assert!(NdArray::from_frame(sc.into()).is_err());
    }
}

#[test]
fn arrays_of_sixteen_dimensions_and_of_none_come_back() {
    let shape = [1, 2, 1, 2, 1, 2, 1, 1, 3, 1, 1, 1, 1, 2, 1, 2];
    let items: Vec<u8> = (0..96).collect();
    let options = ArrayOptions::new(&shape, Options::new(1)).with_chunks(&[1; 16]).with_blocks(&[1; 16]);
    let bytes = frame_of(&options, &items);
    let array = NdArray::open(bytes).unwrap();
    assert_eq!((array.shape(), array.to_vec().unwrap()), (&shape[..], items));
    let none = NdArray::open(frame_of(&ArrayOptions::new(&[], Options::new(1)), &[7])).unwrap();
    assert_eq!((none.shape(), none.to_vec().unwrap(), none.slice(&[]).unwrap()), (&[][..], vec![7], vec![7]));
    let empty = ArrayOptions::new(&[4, 0, 2], Options::new(1));
    let mut empty = NdArray::open(frame_of(&empty, &[])).unwrap().edit().unwrap();
    empty.resize(&[1, 1, 2]).unwrap();
    assert_eq!(empty.to_vec().unwrap(), [0, 0]);
}

fn frame_of(options: &ArrayOptions, items: &[u8]) -> Vec<u8> {
    let scratch = Scratch::new("frame-of");
    let path = scratch.path().join("array.b2nd");
    drop(NdArray::create_with_data(&path, options, items).unwrap());
    std::fs::read(&path).unwrap()
}
