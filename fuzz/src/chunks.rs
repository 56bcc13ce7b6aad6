//! Chunks: their header, their data, parts of them, and the way there and back.

use crate::input::Input;
use crate::{MOST, check_error, decompressor};
use blosc_oxide::{
    Chunk, Codec, Compressor, Decompressor, Filter, Format, Header, LazyChunk, Options, SplitMode, Threads,
};

/// What a header says fits together.
pub fn header(bytes: &[u8]) {
    let lazy = LazyChunk::parse(bytes);
    if let Err(error) = &lazy {
        check_error(error);
    }
    let header = match Header::parse(bytes) {
        Ok(header) => header,
        Err(error) => return check_error(&error),
    };
    assert!(i32::try_from(header.nbytes()).is_ok());
    assert!(header.cbytes() >= header.header_len());
    assert!(header.typesize() > 0);
    if header.special().is_none() && !header.is_memcpyed() && !header.has_vlblocks() {
        assert_eq!(header.nblocks(), header.nbytes().div_ceil(header.blocksize().max(1)));
    }
    let _ = (header.codec(), header.pipeline(), header.is_split(), header.has_dict());
}

/// Any bytes decode to what they declare, or to an error.
pub fn decode(bytes: &[u8]) {
    match decompressor().decompress(bytes) {
        Ok(plain) => assert_eq!(plain.len(), Header::parse(bytes).unwrap().nbytes()),
        Err(error) => check_error(&error),
    }
}

/// A part of a chunk is the same part of the whole.
pub fn parts(bytes: &[u8]) {
    // The last bytes also say which part, so that a file that is nothing but a chunk can be an
    // input.
    let mut choices = Input::new(&bytes[bytes.len().saturating_sub(9)..]);
    let (a, b, c) = (choices.below(MOST), choices.below(MOST), choices.byte());
    let mut decompressor = decompressor();
    let Ok(chunk) = Chunk::parse(bytes) else { return };
    let header = *chunk.header();
    let (nbytes, nblocks) = (header.nbytes(), header.nblocks());
    let range = a.min(b).min(nbytes)..a.max(b).min(nbytes);
    let index = usize::from(c) % nblocks.max(1);
    let part = decompressor.bytes(&chunk, range.clone());
    let block = decompressor.block(&chunk, index);
    let mut both = vec![0; MOST];
    let blocks = decompressor.blocks_into(&chunk, &[index, 0], &mut both);
    let Ok(plain) = decompressor.decompress(bytes) else { return };
    assert!(part.unwrap() == plain[range], "a range has other bytes");
    if nblocks > 0 {
        let range = chunk.block_range(index).unwrap();
        chunk.block_info(index).unwrap();
        assert!(block.unwrap() == plain[range], "block {index} has other bytes");
    }
    if blocks.is_ok() && nblocks > 0 {
        for range in [chunk.block_range(index).unwrap(), chunk.block_range(0).unwrap()] {
            assert!(both[range.clone()] == plain[range], "a block of several has other bytes");
        }
    }
    let items = nbytes / header.typesize();
    let (first, last) = (a.min(b).min(items), a.max(b).min(items));
    let typesize = header.typesize();
    assert!(decompressor.items(&chunk, first..last).unwrap() == plain[first * typesize..last * typesize]);
}

/// Decoding into differently filled buffers gives the same: nothing of what was there shows
/// through.
pub fn no_stale_output(bytes: &[u8]) {
    let mut decompressor = decompressor();
    let outputs = [0x5a, 0xa5].map(|fill| {
        let mut out = vec![fill; MOST];
        let written = decompressor.decompress_into(bytes, &mut out).ok()?;
        assert!(out[written..].iter().all(|&byte| byte == fill), "something was written after the data");
        out.truncate(written);
        Some(out)
    });
    assert!(outputs[0] == outputs[1], "the output's old content shows through");
}

const CODECS: [Codec; 6] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd, Codec::Snappy];
const SPLITS: [SplitMode; 4] = [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat];

/// A filter that loses nothing; delta is only undone where it comes first.
fn filter(input: &mut Input<'_>, is_first: bool) -> Filter {
    match input.below(5) {
        0 if is_first => Filter::Delta,
        0 | 1 => Filter::Shuffle,
        2 => Filter::BitShuffle,
        3 => Filter::ShuffleGroups(input.byte().max(1)),
        _ => Filter::ByteDelta(input.byte()),
    }
}

fn options(input: &mut Input<'_>) -> Options {
    let typesize = if input.byte() < 240 { 1 + input.below(40) } else { 1 + input.below(70_000) };
    let count = input.below(4);
    let filters: Vec<Filter> = (0..count).map(|at| filter(input, at == 0)).collect();
    Options::new(typesize)
        .with_codec(input.choose(&CODECS))
        .with_level(input.byte() % 10)
        .with_filters(filters)
        .with_split(input.choose(&SPLITS))
        .with_blocksize(if input.is_set() { Some(1 + input.below(5000)) } else { None })
        .with_dict(input.byte() < 50)
        .with_format(if input.byte() < 60 { Format::Blosc1 } else { Format::default() })
        .with_threads(Threads::serial())
}

/// Whatever the options, what was compressed comes back; options that cannot be are an error.
pub fn roundtrip(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let options = options(&mut input);
    let mut compressor = match Compressor::new(options) {
        Ok(compressor) => compressor,
        Err(error) => return check_error(&error),
    };
    let mut data = if input.is_set() {
        let len = input.below(4_000);
        input.data(len)
    } else {
        Vec::new()
    };
    let piece = 1 + input.below(300);
    data.extend_from_slice(input.rest());
    let mut decompressor = Decompressor::new().with_threads(Threads::serial());
    let chunk = compressor.compress(&data).unwrap();
    assert!(chunk.len() <= compressor.max_compressed_len(data.len()));
    assert!(decompressor.decompress(&chunk).unwrap() == data, "other bytes come back");
    assert!(compressor.compress(&data).unwrap() == chunk, "the same data give another chunk");
    let blocks: Vec<&[u8]> = data.chunks(piece).take(200).collect();
    if let Ok(chunk) = compressor.compress_vlblocks(&blocks) {
        assert!(decompressor.decompress(&chunk).unwrap() == blocks.concat(), "other blocks come back");
    }
}
