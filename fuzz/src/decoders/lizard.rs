//! The decoder of Lizard, given streams directly.

use crate::codecs::in_a_chunk;
use crate::lizard_oracle;
use blosc_kernels::lizard::Decoder;
use blosc_oxide::Codec;

/// Room for what most inputs make.
const ROOM: usize = 70_000;
/// The oracle looks at every code for every bit: longer streams would take too long.
const LONGEST_FOR_ORACLE: usize = 600;

/// A stream gives the same whatever was in the output and in the decoder, and fits into no less
/// room.
pub fn decode(stream: &[u8]) {
    let (mut one, mut two) = (vec![0x5a; ROOM], vec![0xa5; ROOM]);
    let mut decoder = Decoder::new();
    let result = decoder.decompress(stream, &mut one);
    assert_eq!(result, decoder.decompress(stream, &mut two));
    if stream.len() <= LONGEST_FOR_ORACLE {
        let data = result.ok().map(|written| &one[..written]);
        assert!(lizard_oracle::decode(stream, ROOM).as_deref() == data, "the oracle has other data");
    }
    let Ok(written) = result else { return };
    assert!(one[..written] == two[..written], "the output's old content shows through");
    let mut exact = vec![0; written];
    assert_eq!(decoder.decompress(stream, &mut exact), Ok(written));
    assert!(exact == one[..written], "other data without room to spare");
    assert!(decoder.decompress(stream, &mut exact[..written - 1]).is_err(), "more data than there is room for");
    in_a_chunk(Codec::Lizard, stream, written);
}
