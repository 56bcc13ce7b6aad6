//! The decoder of Zstandard, given streams directly, and compared with the C library.

use blosc_kernels::zstd::{Decoder, Dictionary, ZstdError};
use zstd_safe::{DCtx, DDict};

/// Room for what most inputs make.
const ROOM: usize = 40_000;

/// The first byte says how long a dictionary is that follows; the rest is a stream.
pub fn decode(bytes: &[u8]) {
    let Some((&dict_len, rest)) = bytes.split_first() else { return };
    // Of what is long enough to be in the format of Zstandard, some is, and larger than one byte
    // can tell.
    let dict_len = if dict_len == 255 { rest.len() / 2 } else { usize::from(dict_len) };
    let (dict, stream) = rest.split_at(dict_len.min(rest.len()));
    let (ours, theirs) = (Dictionary::new(dict), DDict::try_create(dict));
    assert_eq!(ours.is_ok(), theirs.is_some(), "one of the libraries takes the dictionary");
    let (Ok(ours), Some(theirs)) = (ours, theirs) else { return };
    let (mut one, mut two) = (vec![0x5a; ROOM], vec![0xa5; ROOM]);
    let mut decoder = Decoder::new();
    let result = decoder.decompress(stream, Some(&ours), &mut one);
    assert_eq!(result, decoder.decompress(stream, Some(&ours), &mut two));
    let mut c = vec![0; ROOM];
    let by_c = DCtx::create().decompress_using_ddict(&mut c[..], stream, &theirs);
    match (result, by_c) {
        (Ok(written), Ok(by_c)) => assert!(one[..written] == c[..by_c], "the C library has other data"),
        (Ok(_), Err(code)) => panic!("the C library refuses it: {}", zstd_safe::get_error_name(code)),
        // It does not look whether Huffman and FSE codes end where their bytes do in every case.
        (Err(error), Ok(_)) => assert!(is_stricter(&error), "the C library takes it: {error}"),
        (Err(_), Err(_)) => {}
    }
    let Ok(written) = result else { return };
    assert!(one[..written] == two[..written], "the output's old content shows through");
    let mut exact = vec![0; written];
    assert_eq!(decoder.decompress(stream, Some(&ours), &mut exact), Ok(written));
    assert!(exact == one[..written], "other data without room to spare");
    if let Some(less) = exact.len().checked_sub(1) {
        assert!(
            decoder.decompress(stream, Some(&ours), &mut exact[..less]).is_err(),
            "more data than there is room for"
        );
    }
}

/// Whether the error is one of bits that we look at more closely.
fn is_stricter(error: &ZstdError) -> bool {
    matches!(error, ZstdError::BadBits | ZstdError::BadCounts | ZstdError::BadWeights)
}
