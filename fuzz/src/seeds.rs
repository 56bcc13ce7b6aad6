//! Inputs to start from, for the targets that no file of `tests/golden` fits.

use crate::codecs;
use blosc_kernels::{blosclz, lz4};
use blosc_oxide::{
    ArrayOptions, Codec, Compressor, Filter, Format, Frame, Location, NdArray, Options, Threads,
    legacy::{PackedOptions, PackedRelease, PackedSpecial},
    storage::MemoryStorage,
};
use std::fs;
use std::io;
use std::path::Path;

/// Writes all of them, a directory for each target.
pub fn write(root: &Path, golden: &Path) -> io::Result<()> {
    let mut seeds = vec![("msgpack", msgpack()), ("sparse_frame", sparse_frames(golden)?)];
    seeds.extend([("codec", streams()), ("legacy", packed()), ("array", arrays()), ("zstd", frames())]);
    seeds.extend([("frame_edit", noise(40)), ("array_edit", noise(41)), ("roundtrip", noise(42))]);
    seeds.extend([("filter", noise(43)), ("isa", noise(44))]);
    for (target, inputs) in seeds {
        let directory = root.join(target);
        fs::create_dir_all(&directory)?;
        for (number, input) in inputs.iter().enumerate() {
            fs::write(directory.join(format!("{number:02}")), input)?;
        }
    }
    Ok(())
}

fn count(len: u16) -> Vec<u8> {
    (0..len).flat_map(|item| (item / 3).to_le_bytes()).collect()
}

fn noise(seed: u64) -> Vec<Vec<u8>> {
    let mut rng = testkit::Rng::new(seed);
    (0..12).map(|number| (0..20 + 15 * number).map(|_| rng.byte()).collect()).collect()
}

/// Streams of each codec, with the selector and the length in front.
fn streams() -> Vec<Vec<u8>> {
    let data: Vec<u8> = (0..2000_usize).map(|at| (at / 7 % 13).to_le_bytes()[0]).collect();
    let len = u32::try_from(data.len()).expect("data are short").to_le_bytes();
    let mut stream = vec![0; data.len()];
    let mut inputs = Vec::new();
    let with = |which: u8, stream: &[u8]| [&[which], &len[..], stream].concat();
    let written =
        blosclz::Encoder::new().compress(&data, &mut stream, 5, blosclz::Variant::Blosc2).expect("it compresses");
    inputs.push(with(0, &stream[..written]));
    let written = lz4::Encoder::new().compress(&data, &mut stream, 1).expect("it compresses");
    inputs.push(with(1, &stream[..written]));
    let dict = &data[..100];
    let written = lz4::Encoder::new().compress_with_dict(&data, dict, &mut stream, 1).expect("it compresses");
    inputs.push(with(2, &[&[100], dict, &stream[..written]].concat()));
    for (which, codec) in [(3, Codec::Zlib), (4, Codec::Zstd), (5, Codec::Snappy)] {
        let options =
            Options::new(1).with_codec(codec).with_format(Format::Blosc1).with_filters([]).with_blocksize(data.len());
        let chunk = blosc_oxide::compress(&data, &options).expect("it compresses");
        let stream_at = codecs::chunk_of(codec, &[], 0).len();
        inputs.push(with(which, &chunk[stream_at..]));
    }
    inputs
}

fn packed() -> Vec<Vec<u8>> {
    let data = count(300);
    let mut files = Vec::new();
    for release in [PackedRelease::Alpha2, PackedRelease::Alpha4] {
        for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib] {
            let options = PackedOptions::new(2).with_codec(codec).with_release(release).with_threads(Threads::serial());
            files.push(options.clone().pack([&data, &data]).expect("it packs"));
            let delta = options.with_filters([Filter::Delta, Filter::Shuffle]).with_reference(data.clone());
            let special = delta.with_special(PackedSpecial::ALL[0], b"some metadata".to_vec());
            files.push(special.pack([&data, &data]).expect("it packs"));
        }
    }
    files
}

fn arrays() -> Vec<Vec<u8>> {
    let shapes: [(&[u64], &[u64], &[u64]); 4] =
        [(&[], &[], &[]), (&[100], &[40], &[7]), (&[9, 11], &[4, 6], &[3, 2]), (&[3, 4, 5], &[2, 2, 3], &[1, 2, 3])];
    let mut files = Vec::new();
    for (shape, chunks, blocks) in shapes {
        for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zstd] {
            let options = Options::new(2).with_codec(codec).with_threads(Threads::serial());
            let options = ArrayOptions::new(shape, options).with_chunks(chunks).with_blocks(blocks).with_dtype("<u2");
            let items = u16::try_from(shape.iter().product::<u64>()).expect("arrays are small");
            let array = NdArray::from_data(&options, &count(items)).expect("it compresses");
            let frame = blosc_oxide::FrameOptions::new(Options::new(2)).with_checksums(codec == Codec::Lz4);
            let mut frame = Frame::create(MemoryStorage::default(), frame).expect("memory does not fail");
            array.super_chunk().copy_to(&mut frame).expect("it is copied");
            files.push(frame.commit().and_then(|frame| frame.to_bytes()).expect("memory does not fail"));
        }
    }
    files
}

/// The sparse frames of `golden`, files one after the other.
fn sparse_frames(golden: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = fs::read_dir(golden.join("blosc2/frames"))?.collect::<io::Result<Vec<_>>>()?;
    paths.retain(|entry| entry.path().is_dir());
    paths.sort_by_key(|entry| entry.path());
    let mut inputs = Vec::new();
    for directory in paths {
        let mut files: Vec<_> = fs::read_dir(directory.path())?.collect::<io::Result<Vec<_>>>()?;
        // The index is called `chunks.b2frame`, and is the first here.
        files.sort_by_key(|file| (file.file_name() != "chunks.b2frame", file.file_name()));
        let mut input = Vec::new();
        for file in files {
            let bytes = fs::read(file.path())?;
            let Ok(len) = u16::try_from(bytes.len()) else { continue };
            input.extend_from_slice(&len.to_le_bytes());
            input.extend_from_slice(&bytes);
        }
        if input.len() < 8000 {
            inputs.push(input);
        }
    }
    Ok(inputs)
}

/// Lists of metalayers as headers and trailers have them, and the metalayer of an array.
fn msgpack() -> Vec<Vec<u8>> {
    let chunk = Compressor::new(Options::new(1)).and_then(|mut compressor| compressor.compress(b"text"));
    let chunk = chunk.expect("it compresses");
    let mut inputs = Vec::new();
    for names in [&[][..], &["a"], &["unit", "b2nd", "a third one"]] {
        let (header, trailer) = (list(87, names, b"content"), list(2, names, &chunk));
        let len = u8::try_from(header.len()).expect("lists are short");
        inputs.push([&[0, len][..], &header, &trailer].concat());
        inputs.push([&[2, len][..], &header].concat());
    }
    let options = ArrayOptions::new(&[9, 11], Options::new(2)).with_chunks(&[4, 6]).with_blocks(&[3, 2]);
    let array = NdArray::create(Location::Memory, &options, &blosc_oxide::Fill::Zeros).expect("the options are legal");
    let layer = array.super_chunk().metalayers().get("b2nd").expect("an array has one");
    inputs.push([&[3, 0], layer].concat());
    inputs
}

/// A list of metalayers that stands at `at`.
fn list(at: usize, names: &[&str], content: &[u8]) -> Vec<u8> {
    let map_len = 3 + names.iter().map(|name| name.len() + 6).sum::<usize>();
    let count = u16::try_from(names.len()).expect("there are few").to_be_bytes();
    let mut list = vec![0x93, 0xcd, 0, 7, 0xde, count[0], count[1]];
    let mut offset = at + 4 + map_len + 3;
    for name in names {
        list.push(0xa0 | u8::try_from(name.len()).expect("names are short"));
        list.extend_from_slice(name.as_bytes());
        list.push(0xd2);
        list.extend_from_slice(&u32::try_from(offset).expect("lists are short").to_be_bytes());
        offset += 5 + content.len();
    }
    list.extend_from_slice(&[0xdc, count[0], count[1]]);
    for _ in names {
        list.push(0xc6);
        list.extend_from_slice(&u32::try_from(content.len()).expect("contents are short").to_be_bytes());
        list.extend_from_slice(content);
    }
    list
}

/// Frames of Zstandard behind their dictionary, of several levels and forms.
fn frames() -> Vec<Vec<u8>> {
    let text: Vec<u8> =
        (0..3000_usize).flat_map(|at| (at * at / 900 % 97 + at / 500).to_string().into_bytes()).collect();
    let numbers: Vec<u8> = (0..3000_u32).flat_map(|at| (at * at / 7).to_le_bytes()).collect();
    let noise = noise(45).concat();
    let samples = vec![100; text.len() / 100];
    let mut trained = vec![0; 600];
    let len = zstd_safe::train_from_buffer(&mut trained[..], &text[..100 * samples.len()], &samples)
        .expect("there are enough samples");
    trained.truncate(len);
    let mut inputs = Vec::new();
    for (data, level) in [(&text, 1), (&numbers, 1), (&text, 19), (&numbers, 7), (&noise, 3), (&text, -20)] {
        inputs.push([&[0][..], &frame(data, level, &[], false)].concat());
    }
    inputs.push([&[0][..], &frame(&text, 3, &[], true)].concat());
    let dict = &numbers[500..600];
    inputs.push([&[100][..], dict, &frame(&numbers[..2000], 3, dict, false)].concat());
    // As much of a dictionary as there is of the stream.
    let mut stream = frame(&text[..1000], 3, &trained, false);
    while stream.len() < trained.len() {
        stream.extend([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].iter().take(trained.len() - stream.len()));
    }
    inputs.push([&[255][..], &trained, &stream].concat());
    inputs
}

fn frame(data: &[u8], level: i32, dict: &[u8], has_checksum: bool) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::CompressionLevel(level)).expect("a level");
    context.set_parameter(zstd_safe::CParameter::ChecksumFlag(has_checksum)).expect("a flag");
    context.load_dictionary(dict).expect("a dictionary");
    let mut stream = vec![0; zstd_safe::compress_bound(data.len())];
    let len = context.compress2(&mut stream[..], data).expect("room for the stream");
    stream.truncate(len);
    stream
}
