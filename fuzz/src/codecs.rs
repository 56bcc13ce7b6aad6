//! The decoder of each codec, given streams directly.

use crate::input::Input;
use crate::{check_error, decompressor};
use blosc_kernels::inflate::Inflater;
use blosc_kernels::lz::LzError;
use blosc_kernels::{blosclz, lz4};
use blosc_oxide::Codec;

/// The first byte selects the codec, the next two the length of the output.
pub fn decode(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (which, len) = (input.byte(), input.below(5000));
    match which % 7 {
        0 => own(blosclz::decompress, blosclz::decompress_prefix, input.rest(), len),
        1 => own(lz4::decompress, lz4::decompress_prefix, input.rest(), len),
        2 => with_dict(&mut input, len),
        3 => in_a_chunk(Codec::Zlib, input.rest(), len),
        4 => in_a_chunk(Codec::Zstd, input.rest(), len),
        5 => in_a_chunk(Codec::Snappy, input.rest(), len),
        _ => inflate(input.rest(), len),
    }
}

type Decoder = fn(&[u8], &mut [u8]) -> Result<usize, LzError>;

/// A stream that decodes whole has the same bytes in every prefix, whatever was in the output.
fn own(whole: Decoder, prefix: Decoder, stream: &[u8], len: usize) {
    let (mut one, mut two) = (vec![0x5a; len], vec![0xa5; len]);
    let result = whole(stream, &mut one);
    assert_eq!(result, whole(stream, &mut two));
    let Ok(written) = result else { return };
    assert!(one[..written] == two[..written], "the output's old content shows through");
    let mut part = vec![0; written / 2];
    assert_eq!(prefix(stream, &mut part), Ok(part.len()));
    assert!(part == one[..part.len()], "a prefix has other bytes");
}

/// A deflate stream, without the checksum that damage would not get past.
fn inflate(stream: &[u8], len: usize) {
    let (mut one, mut two) = (vec![0x5a; len], vec![0xa5; len]);
    let mut inflater = Inflater::new();
    let result = inflater.decompress(stream, &mut one);
    assert_eq!(result, inflater.decompress(stream, &mut two));
    let Ok(inflated) = result else { return };
    assert!(inflated.read <= stream.len());
    assert!(one[..inflated.written] == two[..inflated.written], "the output's old content shows through");
}

fn with_dict(input: &mut Input<'_>, len: usize) {
    let dict_len = input.below(256);
    let dict = input.bytes(dict_len);
    let stream = input.rest();
    let (mut one, mut two) = (vec![0x5a; len], vec![0xa5; len]);
    let result = lz4::decompress_with_dict(stream, dict, &mut one);
    assert_eq!(result, lz4::decompress_with_dict(stream, dict, &mut two));
    let Ok(written) = result else { return };
    assert!(one[..written] == two[..written], "the output's old content shows through");
    let mut part = vec![0; written / 2];
    assert_eq!(lz4::decompress_prefix_with_dict(stream, dict, &mut part), Ok(part.len()));
    assert!(part == one[..part.len()], "a prefix has other bytes");
}

/// A Blosc1 chunk of one block with `stream` in it.
pub(crate) fn chunk_of(codec: Codec, stream: &[u8], len: usize) -> Vec<u8> {
    let stream_len = u32::try_from(stream.len()).expect("inputs are short");
    let nbytes = u32::try_from(len).expect("outputs are short");
    let mut chunk = vec![2, 1, codec.format_code() << 5 | 0x10, 1];
    for field in [nbytes, nbytes, 24 + stream_len, 20, stream_len] {
        chunk.extend_from_slice(&field.to_le_bytes());
    }
    chunk.extend_from_slice(stream);
    chunk
}

pub(crate) fn in_a_chunk(codec: Codec, stream: &[u8], len: usize) {
    let chunk = chunk_of(codec, stream, len);
    let mut decompressor = decompressor();
    let outputs = [0x5a, 0xa5].map(|fill| {
        let mut out = vec![fill; len];
        decompressor.decompress_into(&chunk, &mut out).map(|_| out)
    });
    match outputs {
        [Ok(one), Ok(two)] => assert!(one == two, "the output's old content shows through"),
        [Err(error), Err(_)] => check_error(&error),
        [one, two] => panic!("once {:?}, once {:?}", one.is_ok(), two.is_ok()),
    }
}
