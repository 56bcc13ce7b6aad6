//! Arrays that the reference wrote: shape, chunks, blocks, type and every item.

use blosc_oxide::{ErrorKind, Geometry, NdArray};
use testkit::golden::{Entry, Golden};
use testkit::serde_json::Value;
use testkit::sha256_hex;

/// How many arrays the whole set has, and how many of them need a codec that is not there: zfp or ndlz.
const SHARED_ARRAYS: usize = 94;
const SHARED_UNSUPPORTED: usize = 23;

fn arrays(golden: &Golden) -> Vec<Entry> {
    golden.entries("blosc2").into_iter().filter(|entry| entry.kind.starts_with("b2nd")).collect()
}

fn lengths(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect()
}

/// Checks one array; `false` if it needs a codec that is not there.
fn check(entry: &Entry) -> bool {
    let name = &entry.file;
    let array = NdArray::open(entry.path.as_ref().unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let manifest = &entry.manifest;
    assert_eq!(array.shape(), lengths(&manifest["shape"]), "{name}");
    assert_eq!(array.geometry().chunks(), lengths(&manifest["chunks"]), "{name}");
    assert_eq!(array.geometry().blocks(), lengths(&manifest["blocks"]), "{name}");
    assert_eq!(array.super_chunk().nchunks() as u64, manifest["nchunks"].as_u64().unwrap(), "{name}");
    let needs_unsupported = name.contains("zfp") || name.contains("ndlz");
    match array.to_vec() {
        Ok(plain) => {
            assert_eq!(plain.len(), entry.plain_nbytes.unwrap(), "{name}");
            if let Some(expected) = &entry.plain_sha256 {
                assert_eq!(&sha256_hex(&plain), expected, "{name}");
            }
            true
        }
        Err(error) => {
            assert!(needs_unsupported, "{name}: {error}");
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}: {error}");
            false
        }
    }
}

#[test]
fn every_array_of_the_whole_set_reads_as_the_reference_reads_it() {
    let Some(golden) = Golden::shared() else { return };
    let results: Vec<bool> = arrays(&golden).iter().map(check).collect();
    let unsupported = results.iter().filter(|is_read| !**is_read).count();
    assert!(results.len() >= SHARED_ARRAYS, "{} arrays were found", results.len());
    assert!(unsupported <= SHARED_UNSUPPORTED, "{unsupported} arrays were not read");
}

#[test]
fn a_type_is_kept_as_it_is_written() {
    let Some(golden) = Golden::shared() else { return };
    for entry in arrays(&golden) {
        let array = NdArray::open(entry.path.as_ref().unwrap()).unwrap();
        // The metalayer ends with it.
        let Some(metalayer) = entry.facts["metalayers_hex"]["b2nd"].as_str() else { continue };
        let dtype: String = array.dtype().bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(metalayer.ends_with(&dtype), "{}: {}", entry.file, array.dtype());
    }
}

#[test]
fn crafted_geometry_is_an_error_in_no_time() {
    let start = std::time::Instant::now();
    let huge = [1 << 31; 16];
    for (shape, chunks, blocks) in [
        (&huge[..], &huge[..], &huge[..]),
        (&[u64::MAX; 3][..], &[1; 3][..], &[1; 3][..]),
        (&[5, 5][..], &[0, 5][..], &[0, 5][..]),
        (&[5][..], &[2][..], &[3][..]),
    ] {
        assert!(Geometry::new(8, shape, chunks, blocks).is_err());
    }
    assert!(start.elapsed().as_millis() < 10);
}
