//! Files of every kind and codec, and reading them in every way: what the tests of damage damage.

use blosc_oxide::bloscpack::{self, Bloscpack, BloscpackOptions, Checksum, MetadataOptions, ReadOptions};
use blosc_oxide::{
    ArrayOptions, Codec, Decompressor, Error, ErrorKind, Filter, Frame, FrameEdit, FrameLayout, FrameOptions, Limits,
    Location, NdArray, Options, Result, SuperChunk, Threads,
    legacy::{EarlyFrame, PackedOptions, PackedRelease, PackedSpecial, PackedSuperChunk},
    storage::{Directory, MemoryDirectory, MemoryStorage},
};
use std::fs;
use testkit::golden::{CHUNK_KINDS, Entry, Golden};

/// What one allocation may have. Decoding any of the specimens needs less.
pub const LIMIT: usize = 1 << 20;
const INDEX: &str = "chunks.b2frame";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Chunk,
    Frame,
    Sparse,
    Early,
    Packed,
    Array,
    SparseArray,
    Bloscpack,
}

/// A file, or the files of a directory.
#[derive(Debug, Clone)]
pub struct Specimen {
    pub name: String,
    pub kind: Kind,
    pub files: Vec<(String, Vec<u8>)>,
    /// Whether all that it holds has a checksum.
    pub has_checksums: bool,
}

/// What is read, all of it: data first, then metadata.
pub type Content = Vec<Vec<u8>>;

impl Specimen {
    fn new(kind: Kind, name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let name = name.into();
        Self { kind, files: vec![(name.clone(), bytes)], name, has_checksums: false }
    }

    fn with_checksums(self, has_checksums: bool) -> Self {
        Self { has_checksums, ..self }
    }

    pub fn len(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The same with other bytes in the place of one file.
    pub fn with_file(&self, number: usize, bytes: Vec<u8>) -> Self {
        let mut other = self.clone();
        other.files[number].1 = bytes;
        other
    }

    /// Everything that can be read of it. With checksums, whatever is not as it was written is an
    /// error.
    pub fn read(&self) -> Result<Content> {
        let bytes = &self.files[0].1;
        match self.kind {
            Kind::Chunk => read_chunk(bytes),
            Kind::Frame | Kind::Early | Kind::Sparse => read_frame(&self.open()?),
            Kind::Array | Kind::SparseArray => {
                check_frame(&self.open()?)?;
                read_array(&NdArray::from_frame(self.open()?)?)
            }
            Kind::Packed => read_packed(bytes),
            Kind::Bloscpack => read_bloscpack(bytes, self.has_checksums),
        }
    }

    fn open(&self) -> Result<Frame> {
        match self.kind {
            Kind::Sparse | Kind::SparseArray => Frame::open_with(self.directory(), &frame_options().opening()),
            _ => Frame::open_with(
                Location::source(MemoryStorage::new(self.files[0].1.clone())),
                &frame_options().opening(),
            ),
        }
    }

    fn directory(&self) -> MemoryDirectory {
        let directory = MemoryDirectory::new();
        for (name, bytes) in &self.files {
            directory.create(name).and_then(|file| file.write_at(0, bytes)).unwrap();
        }
        directory
    }
}

fn limits() -> Limits {
    Limits::new().with_max_allocation(LIMIT)
}

fn frame_options() -> FrameOptions {
    FrameOptions::new(Options::new(1).with_threads(Threads::serial())).with_limits(limits())
}

fn read_chunk(bytes: &[u8]) -> Result<Content> {
    let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(limits());
    Ok(vec![decompressor.decompress(bytes)?])
}

/// Fails if the frame is not as it was written, or if another program seems to have changed it.
fn check_frame(frame: &Frame) -> Result<()> {
    let mut found = frame.verify()?;
    if let Some(damage) = found.damage.pop() {
        return Err(damage.error);
    }
    if found.has_foreign_metalayers || found.has_foreign_changes {
        return Err(Error::new(ErrorKind::ChecksumMismatch, "changed by another program"));
    }
    Ok(())
}

fn read_frame(frame: &Frame) -> Result<Content> {
    check_frame(frame)?;
    read_super_chunk(frame)
}

fn read_super_chunk(sc: &SuperChunk) -> Result<Content> {
    let mut content: Content = (0..sc.nchunks()).map(|index| sc.decompress(index)).collect::<Result<_>>()?;
    let nbytes = sc.nbytes();
    if nbytes > 0 {
        content.push(sc.bytes(nbytes / 2..nbytes.min(nbytes / 2 + 100))?);
        sc.block(0, 0)?;
    }
    for (name, layer) in sc.metalayers().iter() {
        content.push([name.as_bytes(), layer].concat());
    }
    for name in sc.vlmetalayers().names() {
        content.push([name.as_bytes(), &sc.vlmetalayers().get(name)?.unwrap_or_default()].concat());
    }
    Ok(content)
}

fn read_array(array: &NdArray) -> Result<Content> {
    let mut content = vec![array.to_vec()?];
    content.push(format!("{} {:?}", array.dtype(), array.shape()).into_bytes());
    for name in array.super_chunk().vlmetalayers().names() {
        content.push(array.super_chunk().vlmetalayers().get(name)?.unwrap_or_default());
    }
    Ok(content)
}

fn read_packed(bytes: &[u8]) -> Result<Content> {
    let packed = PackedSuperChunk::open_with_limits(bytes, limits())?.with_threads(Threads::serial());
    let mut content: Content = packed.chunks().collect::<Result<_>>()?;
    for kind in PackedSpecial::ALL {
        content.extend(packed.special(kind)?);
    }
    Ok(content)
}

fn read_bloscpack(bytes: &[u8], has_checksums: bool) -> Result<Content> {
    let options = ReadOptions::new().with_threads(Threads::serial()).with_limits(limits());
    let file = Bloscpack::with_options(MemoryStorage::new(bytes.to_vec()), options.clone())?;
    let mut data = Vec::new();
    file.copy_to(&mut data)?;
    // No checksum covers the number of chunks: what is left when there seem to be fewer tells.
    if has_checksums && file.verify()?.trailing > 0 {
        return Err(Error::new(ErrorKind::Corrupt, "there is more than the chunks"));
    }
    let mut streamed = Vec::new();
    // A stream cannot jump back to where a journal says how things are.
    if !file.has_journal() {
        bloscpack::unpack(bytes, &mut streamed, &options)?;
        assert!(data == streamed, "a stream has other data");
    }
    let metadata = file.metadata().map(|metadata| metadata.text().as_bytes().to_vec());
    Ok([Some(data), metadata].into_iter().flatten().collect())
}

/// Specimens of one kind: ours with every codec, then those of the repository, the smallest first,
/// up to `budget` bytes in all.
pub fn specimens(kind: Kind, budget: usize) -> Vec<Specimen> {
    let ours = chunks().into_iter().chain(frames()).chain(arrays()).chain(packed()).chain(bloscpacks());
    let golden = Golden::repository();
    let sets = ["blosc1", "blosc2", "bloscpack", "early", "extra"];
    let entries = sets.into_iter().flat_map(|set| golden.entries(set));
    let mut others: Vec<Specimen> = entries.filter_map(|entry| of_entry(&entry)).collect();
    others.sort_by_key(Specimen::len);
    let mut left = budget;
    let mut specimens: Vec<Specimen> = ours.chain(others).filter(|specimen| specimen.kind == kind).collect();
    // Some need a codec that is not there, and some are of interest because they are wrong.
    specimens.retain(|specimen| {
        let is_taken = specimen.len() <= left && specimen.read().is_ok();
        left -= if is_taken { specimen.len() } else { 0 };
        is_taken
    });
    specimens
}

fn of_entry(entry: &Entry) -> Option<Specimen> {
    let path = entry.path.as_ref()?;
    let kind = match entry.kind.as_str() {
        "lazychunk" => return None,
        kind if CHUNK_KINDS.contains(&kind) => Kind::Chunk,
        "cframe" => Kind::Frame,
        "sframe" => Kind::Sparse,
        "early-frame" => Kind::Early,
        "bloscpack" => Kind::Bloscpack,
        kind if kind.starts_with("b2nd") && path.is_dir() => Kind::SparseArray,
        kind if kind.starts_with("b2nd") => Kind::Array,
        _ => return None,
    };
    if !path.is_dir() {
        let specimen = Specimen::new(kind, &entry.file, entry.read());
        let has_checksums = kind == Kind::Bloscpack && all_is_checked(&specimen.files[0].1);
        return Some(specimen.with_checksums(has_checksums));
    }
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(path)
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    Some(Specimen { name: entry.file.clone(), kind, files, has_checksums: false })
}

/// Whether a Bloscpack file has checksums of data and metadata, and nothing behind the chunks.
fn all_is_checked(bytes: &[u8]) -> bool {
    let Ok(file) = Bloscpack::from_storage(MemoryStorage::new(bytes.to_vec())) else { return false };
    let metadata = file.metadata().is_none_or(|metadata| metadata.checksum() != Checksum::None);
    let is_whole = file.verify().is_ok_and(|verified| verified.trailing == 0);
    file.header().checksum() != Checksum::None && metadata && is_whole
}

const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];

/// Items that compress, though not to nothing.
fn counted(items: u32) -> Vec<u8> {
    (0..items).flat_map(|item| (item / 3 * 7).to_le_bytes()).collect()
}

fn serial(codec: Codec) -> Options {
    Options::new(4).with_codec(codec).with_threads(Threads::serial())
}

fn chunks() -> Vec<Specimen> {
    let make = |(codec, filter): (Codec, Filter)| {
        let options = serial(codec).with_filters([filter]).with_blocksize(400);
        Specimen::new(
            Kind::Chunk,
            format!("{codec} {filter:?}"),
            blosc_oxide::compress(&counted(250), &options).unwrap(),
        )
    };
    let filters = [Filter::Shuffle, Filter::BitShuffle, Filter::Delta, Filter::ByteDelta(4)];
    CODECS.into_iter().flat_map(|codec| filters.map(|filter| make((codec, filter)))).collect()
}

fn frames() -> Vec<Specimen> {
    let mut specimens = Vec::new();
    for codec in CODECS {
        for has_checksums in [true, false] {
            let options =
                FrameOptions::new(serial(codec)).with_checksums(has_checksums).with_metalayer("unit", "kelvin");
            let mut frame = Frame::create(MemoryStorage::default(), options.clone()).unwrap();
            fill(&mut frame);
            let name = format!("{codec} frame, checksums {has_checksums}");
            let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
            specimens.push(Specimen::new(Kind::Frame, &name, bytes).with_checksums(has_checksums));
            specimens.push(sparse(&name, &options, has_checksums));
        }
        let mut frame = Frame::create(MemoryStorage::default(), FrameOptions::new(serial(codec))).unwrap();
        frame.append(&counted(100)).unwrap();
        for format in [EarlyFrame::Beta1, EarlyFrame::Beta5] {
            let mut bytes = Vec::new();
            if frame.write_early(format, std::io::Cursor::new(&mut bytes)).is_ok() {
                specimens.push(Specimen::new(Kind::Early, format!("{codec} {format:?}"), bytes));
            }
        }
    }
    specimens
}

fn fill(frame: &mut FrameEdit) {
    for start in 0..3 {
        frame.append(&counted(100 + start)[4 * start as usize..]).unwrap();
    }
    frame.fill(blosc_oxide::Special::Zeros, 400, 400).unwrap();
    frame.vlmetalayers_mut().add("note", b"counted up, counted up, counted up").unwrap();
    frame.checkpoint().unwrap();
    frame.update(1, &counted(100)).unwrap();
    frame.checkpoint().unwrap();
}

fn sparse(name: &str, options: &FrameOptions, has_checksums: bool) -> Specimen {
    let directory = MemoryDirectory::new();
    let options = options.clone().with_layout(FrameLayout::Sparse);
    fill(&mut Frame::create(directory.clone(), options).unwrap());
    let mut names = directory.names().unwrap();
    names.sort_by_key(|name| name != INDEX);
    let files = names.into_iter().map(|name| {
        let file = directory.open(&name).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        (name, bytes)
    });
    Specimen { name: format!("sparse {name}"), kind: Kind::Sparse, files: files.collect(), has_checksums }
}

fn arrays() -> Vec<Specimen> {
    let make = |(codec, has_checksums): (Codec, bool)| {
        let options =
            ArrayOptions::new(&[9, 11], serial(codec)).with_chunks(&[4, 6]).with_blocks(&[3, 2]).with_dtype("<u4");
        let array = NdArray::from_data(&options, &counted(99)).unwrap();
        let options = FrameOptions::new(serial(codec)).with_checksums(has_checksums);
        let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
        array.super_chunk().copy_to(&mut frame).unwrap();
        let name = format!("{codec} array, checksums {has_checksums}");
        Specimen::new(Kind::Array, name, frame.checkpoint().unwrap().to_bytes().unwrap()).with_checksums(has_checksums)
    };
    CODECS.into_iter().flat_map(|codec| [true, false].map(|has_checksums| make((codec, has_checksums)))).collect()
}

fn packed() -> Vec<Specimen> {
    let mut specimens = Vec::new();
    for codec in [&CODECS[..], &[Codec::Snappy]].concat() {
        for release in [PackedRelease::Alpha2, PackedRelease::Alpha4] {
            let options = PackedOptions::new(4).with_codec(codec).with_release(release).with_threads(Threads::serial());
            let options = options.with_filters([Filter::Delta, Filter::Shuffle]).with_reference(counted(100));
            let bytes = options.pack([counted(100), counted(90)]).unwrap();
            specimens.push(Specimen::new(Kind::Packed, format!("packed {codec} {release:?}"), bytes));
        }
    }
    specimens
}

fn bloscpacks() -> Vec<Specimen> {
    let make = |(codec, checksum, offsets): (Codec, Checksum, bool)| {
        // Chunks of one size, or a last one that is shorter.
        let items = if offsets { 200 } else { 300 - u32::from(codec.code() % 2) * 70 };
        let how = MetadataOptions::new().with_checksum(checksum);
        let options =
            BloscpackOptions::new(serial(codec)).with_chunk_size(400).with_checksum(checksum).with_offsets(offsets);
        let options = options.with_metadata("{\"unit\":\"kelvin\"}").with_metadata_options(how);
        let bytes = bloscpack::pack_slice(&counted(items), &options).unwrap();
        let name = format!("bloscpack {codec} {checksum} offsets {offsets}");
        Specimen::new(Kind::Bloscpack, name, bytes).with_checksums(checksum != Checksum::None)
    };
    let mut specimens = Vec::new();
    for codec in CODECS {
        for checksum in [Checksum::None, Checksum::Adler32, Checksum::Sha256] {
            specimens.extend([false, true].map(|offsets| make((codec, checksum, offsets))));
        }
    }
    specimens
}
