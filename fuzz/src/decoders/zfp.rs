//! zfp, given streams and shapes of blocks directly.

use crate::input::Input;
use crate::{check_error, decompressor};
use blosc_oxide::Codec;

const HEADER: usize = 32;

/// The first bytes select the form of zfp, its meta byte, the size of items and the shape.
pub fn decode(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let which = input.byte();
    let codec = [Codec::ZFP_ACCURACY, Codec::ZFP_PRECISION, Codec::ZFP_RATE][usize::from(which % 3)];
    let typesize = if which & 0x80 == 0 { 4 } else { 8 };
    let meta = input.byte();
    let ndim = 1 + input.below(4);
    let shape: Vec<usize> = (0..ndim).map(|_| 1 + input.below(12)).collect();
    let nbytes = shape.iter().product::<usize>() * typesize;
    let chunk = chunk_of(codec, meta, typesize, nbytes, input.rest());
    let mut decompressor = decompressor().with_block_shape(Some(&shape));
    let outputs = [0x5a, 0xa5].map(|fill| {
        let mut out = vec![fill; nbytes];
        decompressor.decompress_into(&chunk, &mut out).map(|_| out)
    });
    match outputs {
        [Ok(one), Ok(two)] => assert!(one == two, "the output's old content shows through"),
        [Err(error), Err(_)] => {
            assert!(!error.to_string().contains("panicked"), "{error}");
            check_error(&error);
        }
        [one, two] => panic!("once {:?}, once {:?}", one.is_ok(), two.is_ok()),
    }
}

/// A Blosc2 chunk of one block that is one stream.
fn chunk_of(codec: Codec, meta: u8, typesize: usize, nbytes: usize, stream: &[u8]) -> Vec<u8> {
    let number = |len: usize| u32::try_from(len).expect("inputs are short").to_le_bytes();
    let mut chunk = vec![0; HEADER];
    let typesize = u8::try_from(typesize).expect("4 or 8");
    chunk[..4].copy_from_slice(&[5, 1, 0x05 | 0x10 | codec.format_code() << 5, typesize]);
    chunk[4..8].copy_from_slice(&number(nbytes));
    chunk[8..12].copy_from_slice(&number(nbytes));
    chunk[12..16].copy_from_slice(&number(HEADER + 8 + stream.len()));
    (chunk[22], chunk[23]) = (codec.code(), meta);
    chunk.extend(number(HEADER + 4));
    chunk.extend(number(stream.len()));
    chunk.extend_from_slice(stream);
    chunk
}
