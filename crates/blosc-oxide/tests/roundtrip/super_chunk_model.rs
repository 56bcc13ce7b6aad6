//! A super-chunk does what a plain list of buffers does, in memory, in one storage and in a
//! directory.

use blosc_oxide::{
    Codec, Filter, Frame, FrameEdit, FrameOptions, Location, Options, Special, SuperChunk, Threads, fill_chunk,
    special_chunk,
    storage::{Directory as _, Durability, MemoryDirectory},
};
use std::ops::{Deref, DerefMut};
use testkit::Rng;

/// Where the super-chunk under test is.
enum Subject {
    Memory(SuperChunk),
    Contiguous(FrameEdit, MemoryDirectory),
    Sparse(FrameEdit, MemoryDirectory),
}

const FILE: &str = "frame";

impl Subject {
    fn new(place: usize, options: &Options, checksums: bool) -> Self {
        let directory = MemoryDirectory::new();
        let frame_options = FrameOptions::new(options.clone()).with_durability(Durability::None);
        match place {
            0 => Self::Memory(SuperChunk::new(options.clone()).unwrap()),
            1 => {
                let storage = Location::storage(directory.create(FILE).unwrap());
                Self::Contiguous(Frame::create(storage, frame_options.with_checksums(checksums)).unwrap(), directory)
            }
            _ => Self::Sparse(
                Frame::create(directory.clone(), frame_options.with_checksums(checksums)).unwrap(),
                directory,
            ),
        }
    }

    /// Commits, closes the frame and opens it again; in memory there is nothing to close.
    fn reopened(self) -> Self {
        match self {
            Self::Memory(sc) => Self::Memory(sc),
            Self::Contiguous(frame, directory) => {
                frame.commit().unwrap();
                let storage = Location::storage(directory.open_writable(FILE).unwrap());
                Self::Contiguous(Frame::open(storage).unwrap().edit().unwrap(), directory)
            }
            Self::Sparse(frame, directory) => {
                frame.commit().unwrap();
                let frame = Frame::open(directory.clone()).unwrap().edit().unwrap();
                Self::Sparse(frame, directory)
            }
        }
    }

    /// Commits in one of the ways there are.
    fn settle(&mut self, rng: &mut Rng) {
        let frame = match self {
            Self::Memory(_) => return,
            Self::Contiguous(frame, _) | Self::Sparse(frame, _) => frame,
        };
        match rng.below(3) {
            0 => drop(frame.compact().unwrap()),
            1 => {
                let found = frame.verify().unwrap();
                assert!(found.is_good(), "{found:?}");
            }
            _ => drop(frame.checkpoint().unwrap()),
        }
    }
}

impl Deref for Subject {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        match self {
            Self::Memory(sc) => sc,
            Self::Contiguous(frame, _) | Self::Sparse(frame, _) => frame,
        }
    }
}

impl DerefMut for Subject {
    fn deref_mut(&mut self) -> &mut SuperChunk {
        match self {
            Self::Memory(sc) => sc,
            Self::Contiguous(frame, _) | Self::Sparse(frame, _) => frame,
        }
    }
}

/// What the super-chunk should be.
#[derive(Default)]
struct Model {
    chunks: Vec<Vec<u8>>,
    /// The lengths of the blocks of each chunk, if they have lengths of their own.
    blocks: Vec<Vec<usize>>,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
}

impl Model {
    fn insert(&mut self, index: usize, data: Vec<u8>, blocks: Vec<usize>) {
        self.chunks.insert(index, data);
        self.blocks.insert(index, blocks);
    }

    fn all(&self) -> Vec<u8> {
        self.chunks.concat()
    }
}

/// Which chunks a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sizes {
    /// All of 600 bytes, but for the last one perhaps.
    Fixed,
    Variable,
    Vlblocks,
}

const FIXED_ITEMS: usize = 24;

struct Run {
    rng: Rng,
    options: Options,
    typesize: usize,
    sizes: Sizes,
    subject: Subject,
    model: Model,
}

impl Run {
    fn new(seed: u64, place: usize, sizes: Sizes) -> Self {
        let mut rng = Rng::new(seed);
        let typesize = [1, 2, 4, 8, 8, 13, 300][rng.below(7)];
        let codec = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd][rng.below(5)];
        let filters = [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]][rng.below(3)].clone();
        let options = Options::new(typesize)
            .with_codec(codec)
            .with_level(rng.byte() % 10)
            .with_filters(filters)
            .with_blocksize([None, Some(16 * typesize)][rng.below(2)])
            .with_threads(Threads::serial());
        let subject = Subject::new(place, &options, rng.below(3) > 0);
        Self { rng, options, typesize, sizes, subject, model: Model::default() }
    }

    fn items(&mut self) -> usize {
        if self.sizes == Sizes::Fixed { FIXED_ITEMS } else { 1 + self.rng.below(60) }
    }

    fn data(&mut self, len: usize) -> Vec<u8> {
        let kind = self.rng.below(4);
        (0..len)
            .map(|at| if kind == 0 { self.rng.byte() } else { ((at / (1 + kind)) as u64).to_le_bytes()[0] })
            .collect()
    }

    /// A chunk in one of the forms in which it can be handed over.
    fn put(&mut self, place: Place) {
        if self.sizes == Sizes::Vlblocks {
            return self.put_vlblocks(place);
        }
        let len = self.items() * self.typesize;
        let (data, chunk) = match self.rng.below(6) {
            0..=2 => (self.data(len), None),
            3 => {
                let data = self.data(len);
                let other =
                    Options::new(self.typesize).with_codec(Codec::Zstd).with_level(3).with_threads(Threads::serial());
                let chunk = blosc_oxide::compress(&data, &other).unwrap();
                (data, Some(chunk))
            }
            4 => {
                let value = self.data(self.typesize);
                (value.repeat(len / self.typesize), Some(fill_chunk(&value, len, &self.options).unwrap()))
            }
            _ => {
                let special = [Special::Zeros, Special::Uninit, Special::NaN][self.rng.below(3)];
                let typesize = if special == Special::NaN { 4 } else { self.typesize };
                let len = if special == Special::NaN { len / 4 * 4 } else { len };
                if len == 0 || (self.sizes == Sizes::Fixed && len != FIXED_ITEMS * self.typesize) {
                    return;
                }
                let chunk = special_chunk(special, len, &Options::new(typesize)).unwrap();
                (blosc_oxide::decompress(&chunk).unwrap(), Some(chunk))
            }
        };
        let blocks = Vec::new();
        match (place, chunk) {
            (Place::Insert(index), None) => self.subject.insert(index, &data).unwrap(),
            (Place::Insert(index), Some(chunk)) => self.subject.insert_chunk(index, &chunk).unwrap(),
            (Place::Update(index), None) => self.subject.update(index, &data).unwrap(),
            (Place::Update(index), Some(chunk)) => self.subject.update_chunk(index, &chunk).unwrap(),
        }
        self.note(place, data, blocks);
    }

    fn put_vlblocks(&mut self, place: Place) {
        let count = 1 + self.rng.below(6);
        let blocks: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let len = 1 + self.rng.below(80);
                self.data(len)
            })
            .collect();
        let slices: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let chunk = blosc_oxide::Compressor::new(self.options.clone()).unwrap().compress_vlblocks(&slices).unwrap();
        match place {
            Place::Insert(index) if index == self.model.chunks.len() => self.subject.append_vlblocks(&slices).unwrap(),
            Place::Insert(index) => self.subject.insert_chunk(index, &chunk).unwrap(),
            Place::Update(index) => self.subject.update_chunk(index, &chunk).unwrap(),
        }
        self.note(place, blocks.concat(), blocks.iter().map(Vec::len).collect());
    }

    fn note(&mut self, place: Place, data: Vec<u8>, blocks: Vec<usize>) {
        match place {
            Place::Insert(index) => self.model.insert(index, data, blocks),
            Place::Update(index) => {
                self.model.chunks[index] = data;
                self.model.blocks[index] = blocks;
            }
        }
    }

    fn step(&mut self) {
        let nchunks = self.model.chunks.len();
        match self.rng.below(14) {
            0..=3 => self.put(Place::Insert(nchunks)),
            4 => {
                let index = self.rng.below(nchunks + 1);
                self.put(Place::Insert(index));
            }
            5 | 6 if nchunks > 0 => {
                let index = self.rng.below(nchunks);
                self.put(Place::Update(index));
            }
            7 if nchunks > 0 => {
                let index = self.rng.below(nchunks);
                self.subject.delete(index).unwrap();
                self.model.chunks.remove(index);
                self.model.blocks.remove(index);
            }
            8 => self.reorder(),
            9 | 10 if self.sizes != Sizes::Vlblocks => self.write(),
            11 if self.sizes != Sizes::Vlblocks => self.fill(),
            12 => self.change_metalayers(),
            _ => self.subject.settle(&mut self.rng),
        }
    }

    fn reorder(&mut self) {
        let mut order: Vec<usize> = (0..self.model.chunks.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.rng.below(at + 1));
        }
        self.subject.reorder(&order).unwrap();
        self.model.chunks = order.iter().map(|&from| self.model.chunks[from].clone()).collect();
        self.model.blocks = order.iter().map(|&from| self.model.blocks[from].clone()).collect();
    }

    fn write(&mut self) {
        let total: usize = self.model.chunks.iter().map(Vec::len).sum();
        let start = self.rng.below(total + 1);
        let len = self.rng.below(total - start + 1).min(2000);
        let data = self.data(len);
        if start.is_multiple_of(self.typesize) && self.rng.below(2) == 0 {
            self.subject.write_items((start / self.typesize) as u64, &data).unwrap();
        } else {
            self.subject.write(start as u64, &data).unwrap();
        }
        let mut at = 0;
        for chunk in &mut self.model.chunks {
            for byte in chunk {
                if (start..start + len).contains(&at) {
                    *byte = data[at - start];
                }
                at += 1;
            }
        }
    }

    fn fill(&mut self) {
        let size = FIXED_ITEMS * self.typesize;
        let count = 1 + self.rng.below(3);
        let special = [Special::Zeros, Special::Uninit, Special::NaN, Special::Value][self.rng.below(4)];
        let nan = if self.typesize == 4 {
            0x7fc0_0000_u32.to_le_bytes().to_vec()
        } else {
            0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec()
        };
        let item = match special {
            Special::NaN => nan,
            Special::Value => self.data(self.typesize),
            _ => vec![0; self.typesize],
        };
        if item.len() != self.typesize {
            assert!(self.subject.fill(special, size as u64, size).is_err());
            return;
        }
        let nbytes = (count * size) as u64;
        match special {
            Special::Value => self.subject.fill_value(&item, nbytes, size).unwrap(),
            _ => self.subject.fill(special, nbytes, size).unwrap(),
        }
        for _ in 0..count {
            self.model.insert(self.model.chunks.len(), item.repeat(FIXED_ITEMS), Vec::new());
        }
    }

    fn change_metalayers(&mut self) {
        let name = format!("layer {}", self.rng.below(12));
        let len = self.rng.below(200);
        let content = self.data(len);
        let is_vl = self.rng.below(2) == 0;
        let layers = if is_vl { &mut self.model.vlmetalayers } else { &mut self.model.metalayers };
        let position = layers.iter().position(|(other, _)| *other == name);
        let removes = self.rng.below(4) == 0;
        let done = match (position, removes, is_vl) {
            (None, _, true) => self.subject.vlmetalayers_mut().add(&name, &content),
            (None, _, false) => self.subject.metalayers_mut().add(&name, content.as_slice()),
            (Some(_), true, true) => self.subject.vlmetalayers_mut().remove(&name),
            (Some(_), true, false) => self.subject.metalayers_mut().remove(&name),
            (Some(_), false, true) => self.subject.vlmetalayers_mut().update(&name, &content),
            (Some(_), false, false) => self.subject.metalayers_mut().update(&name, content.as_slice()),
        };
        done.unwrap();
        match position {
            None => layers.push((name, content)),
            Some(position) if removes => drop(layers.remove(position)),
            Some(position) => layers[position].1 = content,
        }
    }

    fn check(&mut self) {
        let (sc, model) = (&*self.subject, &self.model);
        let all = model.all();
        assert_eq!((sc.nchunks(), sc.nbytes()), (model.chunks.len(), all.len() as u64));
        assert_eq!(sc.nitems(), (all.len() / self.typesize) as u64);
        for (index, chunk) in model.chunks.iter().enumerate() {
            assert!(sc.decompress(index).unwrap() == *chunk, "chunk {index}");
            assert!(blosc_oxide::decompress(&sc.chunk(index).unwrap()).unwrap() == *chunk, "chunk {index}");
            assert_eq!(sc.chunk_nbytes(index).unwrap(), chunk.len());
            for (block, &len) in model.blocks[index].iter().enumerate() {
                assert_eq!(sc.block(index, block).unwrap().len(), len, "chunk {index}, block {block}");
            }
        }
        assert!(sc.chunks().map(Result::unwrap).eq(model.chunks.iter().cloned()));
        if self.sizes == Sizes::Fixed && !model.chunks.is_empty() {
            assert_eq!(sc.chunksize(), Some(FIXED_ITEMS * self.typesize));
        }
        assert!(sc.metalayers().iter().eq(model.metalayers.iter().map(|(name, content)| (&**name, &**content))));
        let names: Vec<&str> = sc.vlmetalayers().names().collect();
        assert!(names.iter().eq(model.vlmetalayers.iter().map(|(name, _)| name)));
        for (name, content) in &model.vlmetalayers {
            assert_eq!(sc.vlmetalayers().get(name).unwrap().as_ref(), Some(content));
        }
        self.check_slices(&all);
    }

    fn check_slices(&mut self, all: &[u8]) {
        for _ in 0..4 {
            let start = self.rng.below(all.len() + 1);
            let end = start + self.rng.below(all.len() - start + 1);
            let found = self.subject.bytes(start as u64..end as u64).unwrap();
            assert!(found == all[start..end], "bytes {start}..{end}");
            let (first, last) = (start / self.typesize, end / self.typesize);
            let found = self.subject.items(first as u64..last as u64).unwrap();
            assert!(found == all[first * self.typesize..last * self.typesize], "items {first}..{last}");
        }
        let nitems = all.len() / self.typesize;
        let positions: Vec<u64> = (0..if nitems > 0 { 20 } else { 0 }).map(|_| self.rng.below(nitems) as u64).collect();
        let gathered = self.subject.gather(&positions).unwrap();
        for (item, &position) in gathered.chunks(self.typesize).zip(&positions) {
            let at = usize::try_from(position).unwrap() * self.typesize;
            assert!(*item == all[at..at + self.typesize], "item {position}");
        }
        let end = all.len() as u64;
        assert!(self.subject.bytes(0..end + 1).is_err());
        assert!(self.subject.gather(&[nitems as u64]).is_err());
        assert!(self.subject.decompress(self.model.chunks.len()).is_err());
    }
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Insert(usize),
    Update(usize),
}

fn run(seed: u64, place: usize, sizes: Sizes) {
    let mut run = Run::new(seed, place, sizes);
    for _ in 0..40 {
        run.step();
        run.check();
        if run.rng.below(6) == 0 {
            run.subject = run.subject.reopened();
            run.check();
        }
    }
    check_copy(&run);
}

/// A copy with other options has the same data and metadata.
fn check_copy(run: &Run) {
    let other = Options::new(run.typesize).with_codec(Codec::Lz4).with_level(9).with_threads(Threads::serial());
    let copy = run.subject.copy(other).unwrap();
    assert!(copy.chunks().map(Result::unwrap).eq(run.model.chunks.iter().cloned()));
    assert!(copy.metalayers() == run.subject.metalayers());
    assert!(copy.vlmetalayers().names().eq(run.subject.vlmetalayers().names()));
    assert_eq!((copy.codec(), copy.level()), (Codec::Lz4, 9));
    for (index, lens) in run.model.blocks.iter().enumerate() {
        assert!(lens.iter().enumerate().all(|(block, &len)| copy.block(index, block).unwrap().len() == len));
    }
}

#[expect(clippy::print_stderr, reason = "the seed of a failure is what a reader of the log needs")]
fn run_all(place: usize) {
    for sizes in [Sizes::Fixed, Sizes::Variable, Sizes::Vlblocks] {
        for seed in 0..60 {
            let result = std::panic::catch_unwind(|| run(seed, place, sizes));
            if let Err(panic) = result {
                eprintln!("seed {seed}, {sizes:?}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[test]
fn in_memory_it_is_a_list_of_buffers() {
    run_all(0);
}

#[test]
fn in_one_storage_it_is_a_list_of_buffers() {
    run_all(1);
}

#[test]
fn in_a_directory_it_is_a_list_of_buffers() {
    run_all(2);
}
