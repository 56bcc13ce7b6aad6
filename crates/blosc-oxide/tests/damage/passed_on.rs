//! Damage that checksums show is not passed on: it is neither copied nor made part of a new chunk
//! with a checksum of its own, and a file that is missing does not hide what else is wrong.

use blosc_oxide::{
    ArrayOptions, AxisSelection, Codec, ErrorKind, Frame, FrameEdit, FrameOptions, Limits, Location, NdArray,
    OpenOptions, Options, Result, Special, SuperChunk, Threads,
    plugin::{CodecContext, CodecPlugin, Plugins},
    storage::{Directory, MemoryDirectory, MemoryStorage, ReadAt, Storage},
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::Rng;

const FILE: &str = "frame";
/// More than is read whole for a part of it.
const CHUNK_ITEMS: usize = 60_000;
const CHUNK: usize = CHUNK_ITEMS * 4;

/// Items of which half the bytes are noise, so that a changed byte in the middle of a chunk is
/// still data.
fn data(nitems: usize) -> Vec<u8> {
    let mut rng = Rng::new(nitems as u64);
    (0..nitems).flat_map(|_| [rng.byte(), rng.byte(), 0, 0]).collect()
}

fn new_file() -> (MemoryDirectory, Box<dyn Storage>) {
    let directory = MemoryDirectory::new();
    let file = directory.create(FILE).unwrap();
    (directory, file)
}

/// A frame of three chunks.
fn frame() -> MemoryDirectory {
    let (directory, file) = new_file();
    let mut frame = Frame::create(file, Options::new(4)).unwrap();
    frame.extend(&data(3 * CHUNK_ITEMS), CHUNK).unwrap();
    frame.checkpoint().unwrap();
    directory
}

/// An array of three chunks, the last of which has room for more.
fn array() -> MemoryDirectory {
    let (directory, file) = new_file();
    let items = CHUNK_ITEMS as u64;
    let nitems = 2 * items + items / 2;
    let options = ArrayOptions::new(&[nitems], Options::new(4)).with_chunks(&[items]).with_blocks(&[items / 10]);
    let data = data(usize::try_from(nitems).unwrap());
    NdArray::create_with_data(Location::storage(file), &options, &data).unwrap();
    directory
}

fn open(directory: &MemoryDirectory) -> Frame {
    Frame::open(directory.open_writable(FILE).unwrap()).unwrap()
}

/// Changes the frame by another handle.
fn change(directory: &MemoryDirectory, action: impl FnOnce(&mut FrameEdit) -> Result<()>) {
    let mut edit = open(directory).edit().unwrap();
    action(&mut edit).unwrap();
    edit.commit().unwrap();
}

fn open_array(directory: &MemoryDirectory) -> NdArray {
    NdArray::from_frame(open(directory)).unwrap()
}

/// Changes one byte in the middle of a chunk.
fn damage(directory: &MemoryDirectory, index: usize) {
    let frame = open(directory);
    let middle = frame.chunk(index).unwrap().len() as u64 / 2;
    let at = frame.chunk_position(index).unwrap().unwrap() + middle;
    drop(frame);
    let file = directory.open_writable(FILE).unwrap();
    let mut byte = [0];
    file.read_at(at, &mut byte).unwrap();
    file.write_at(at, &[byte[0] ^ 1]).unwrap();
}

fn assert_noticed<T>(result: Result<T>, what: &str) {
    let error = result.err().unwrap_or_else(|| panic!("{what} does not notice the damage"));
    assert_eq!(error.kind(), ErrorKind::ChecksumMismatch, "{what}: {error}");
}

#[test]
fn a_damaged_chunk_is_not_copied() {
    let directory = frame();
    damage(&directory, 1);
    let mut frame = open(&directory);
    frame.check_on_read().unwrap();
    assert!(frame.chunk(0).is_ok());
    assert_noticed(frame.chunk(1), "taking the chunk as it is stored");
    let mut copy = SuperChunk::new(frame.options().clone()).unwrap();
    assert_noticed(copy.append_all(&frame), "appending all chunks");
    assert_eq!(copy.nchunks(), 0);
    assert_noticed(frame.copy(frame.options().clone()), "a copy");
    assert_noticed(frame.copy(Options::new(4).with_level(1)), "a copy with other options");
}

#[test]
fn no_block_of_a_damaged_chunk_of_blocks_of_different_lengths_is_read() {
    let (directory, file) = new_file();
    let mut frame = Frame::create(file, Options::new(4)).unwrap();
    frame.append_vlblocks(&[&data(100), &data(20_000), &data(7)]).unwrap();
    frame.commit().unwrap();
    damage(&directory, 0);
    let mut frame = open(&directory);
    assert_eq!(frame.block(0, 0).unwrap(), data(100));
    frame.check_on_read().unwrap();
    assert_noticed(frame.block(0, 0), "a block");
}

#[test]
fn no_part_of_a_damaged_chunk_is_read() {
    let directory = frame();
    damage(&directory, 1);
    let mut frame = open(&directory);
    frame.check_on_read().unwrap();
    // The damage is in the middle.
    let start = CHUNK as u64;
    assert_noticed(frame.bytes(start..start + 1), "one byte");
    assert_noticed(frame.items(start / 4 - 1..start / 4 + 1), "items of two chunks");
    assert_noticed(frame.gather(&[start / 4, 3]), "scattered items");
    assert_noticed(frame.block(1, 0), "a block");
    assert_noticed(frame.write_to(start - 4..start + 4, std::io::sink()), "writing a part of it");
    let whole = data(3 * CHUNK_ITEMS);
    assert_eq!(frame.bytes(5..7).unwrap(), whole[5..7]);
    assert_eq!(frame.bytes(2 * start..2 * start + 9).unwrap(), whole[2 * CHUNK..2 * CHUNK + 9]);
}

#[test]
fn no_item_of_a_damaged_chunk_is_read_on_any_number_of_threads() {
    let directory = array();
    damage(&directory, 1);
    damage(&directory, 2);
    for workers in [1, 2, 5] {
        let threads = Options::new(4).with_threads(Threads::at_most(workers));
        let file = directory.open_writable(FILE).unwrap();
        let mut array =
            NdArray::from_frame(Frame::open_with(file, &FrameOptions::new(threads).opening()).unwrap()).unwrap();
        array.check_on_read().unwrap();
        let (first, nitems) = (CHUNK_ITEMS as u64, array.shape()[0]);
        let mut mask = vec![false; usize::try_from(nitems).unwrap()];
        mask[CHUNK_ITEMS] = true;
        assert_noticed(array.to_vec(), "the whole array");
        assert_noticed(array.slice(&[(first..nitems).into()]), "two whole chunks, one at the edge");
        assert_noticed(array.slice(&[(2 * first..nitems).into()]), "the chunk at the edge");
        assert_noticed(array.slice(&[AxisSelection::Index(first)]), "an item");
        assert_noticed(array.gather(&[0, first]), "scattered items");
        assert_noticed(array.masked(&mask), "an item under a mask");
        assert_noticed(array.bytes_from(first * 4), "bytes");
        assert_noticed(array.write_to(0..array.nbytes(), std::io::sink()), "writing all bytes");
        assert_noticed(array.slice_to(&[(first..first + 1).into()], std::io::sink()), "writing an item");
        for chunk in [first, first / 2, 7 * first] {
            let options = array.options().with_chunks(&[chunk]);
            assert_noticed(array.copy(Location::Memory, &options), "a copy");
        }
        assert_eq!(array.slice(&[(0..first).into()]).unwrap(), data(mask.len())[..CHUNK], "the good chunk");
    }
}

/// A frame that another handle has opened for reading, with checks.
fn checking_reader(directory: &MemoryDirectory) -> Frame {
    let mut reader = Frame::open(Location::source(directory.open(FILE).unwrap())).unwrap();
    reader.check_on_read().unwrap();
    reader
}

/// Where a chunk starts in the data.
fn start_of(index: usize) -> u64 {
    (index * CHUNK) as u64
}

/// Reads little of a chunk.
fn first_byte(frame: &SuperChunk, index: usize) -> Result<Vec<u8>> {
    frame.bytes(start_of(index)..start_of(index) + 1)
}

#[test]
fn what_others_have_added_is_compared_as_well() {
    let directory = frame();
    let mut reader = checking_reader(&directory);
    assert!(first_byte(&reader, 0).is_ok());
    change(&directory, |edit| edit.append(&data(CHUNK_ITEMS)));
    damage(&directory, 0);
    damage(&directory, 3);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.nchunks(), 4);
    assert!(first_byte(&reader, 1).is_ok());
    assert_noticed(first_byte(&reader, 0), "a byte of a chunk that was good before");
    assert_noticed(first_byte(&reader, 3), "a byte of the new chunk");
}

#[test]
fn what_others_have_added_to_a_directory_is_compared_as_well() {
    let directory = MemoryDirectory::new();
    let mut writer = Frame::create(directory.clone(), Options::new(4)).unwrap();
    writer.append(&data(CHUNK_ITEMS)).unwrap();
    writer.checkpoint().unwrap();
    let mut reader = Frame::open(directory.clone()).unwrap();
    reader.check_on_read().unwrap();
    writer.append(&data(CHUNK_ITEMS)).unwrap();
    writer.checkpoint().unwrap();
    let file = directory.open_writable("00000001.chunk").unwrap();
    let middle = file.len().unwrap() / 2;
    file.write_at(middle, b"damage").unwrap();
    assert!(reader.refresh().unwrap());
    assert!(first_byte(&reader, 0).is_ok());
    assert_noticed(first_byte(&reader, 1), "a byte of the new chunk");
}

#[test]
fn what_others_have_added_to_an_array_is_compared_as_well() {
    let directory = array();
    let mut reader = NdArray::from_frame(checking_reader(&directory)).unwrap();
    let mut edit = open_array(&directory).edit().unwrap();
    edit.append(0, &data(CHUNK_ITEMS)).unwrap();
    edit.commit().unwrap();
    damage(&directory, 3);
    assert!(reader.refresh().unwrap());
    assert!(reader.slice(&[AxisSelection::Index(0)]).is_ok());
    assert_noticed(reader.slice(&[AxisSelection::Index(3 * CHUNK_ITEMS as u64)]), "an item of the new chunk");
}

#[test]
fn nothing_is_read_when_the_checksums_of_what_others_have_added_are_damaged() {
    let directory = frame();
    let mut reader = checking_reader(&directory);
    // So many that the checksums are not read before they are needed.
    change(&directory, |edit| edit.fill(Special::Zeros, start_of(9000), CHUNK));
    let file = directory.open_writable(FILE).unwrap();
    let (at, byte) = damage_checksums(&*file);
    assert!(reader.refresh().unwrap());
    assert_noticed(first_byte(&reader, 0), "a byte");
    assert_noticed(reader.chunk(0), "a chunk");
    assert_noticed(reader.check_on_read(), "asking for it again");
    assert_noticed(first_byte(&reader, 0), "a byte after that");
    file.write_at(at, &[byte]).unwrap();
    reader.check_on_read().unwrap();
    assert!(first_byte(&reader, 0).is_ok());
}

/// Changes a byte of which nothing but the list of checksums is damaged; where, and what it was.
fn damage_checksums(file: &dyn Storage) -> (u64, u8) {
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    for place in (0..bytes.len()).rev().step_by(4096) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        let changed = damaged[place];
        let opened = Frame::open(Location::source(MemoryStorage::new(damaged)));
        if opened.is_ok_and(|mut frame| frame.check_on_read().is_err()) {
            file.write_at(place as u64, &[changed]).unwrap();
            return (place as u64, bytes[place]);
        }
    }
    panic!("there are no checksums");
}

/// Tries something; whether it ended as it should.
type Edit = fn(&mut FrameEdit) -> bool;

#[test]
fn an_edit_that_fails_or_adds_nothing_leaves_the_checks_on() {
    let directory = frame();
    damage(&directory, 1);
    let mut frame = open(&directory).edit().unwrap();
    frame.check_on_read().unwrap();
    let edits: [(&str, Edit); 6] = [
        ("an empty buffer", |frame| frame.append(b"").is_err()),
        ("a chunk that is not there", |frame| frame.delete(7).is_err()),
        ("data that is damaged", |frame| frame.write(start_of(1), b"new").is_err()),
        ("no data to append", |frame| frame.extend_from(&[][..], CHUNK).is_ok()),
        ("no data to write", |frame| frame.write(0, b"").is_ok()),
        ("no zeros", |frame| frame.fill(Special::Zeros, 0, CHUNK).is_ok()),
    ];
    for (what, edit) in edits {
        assert!(edit(&mut frame), "{what}");
        assert!(first_byte(&frame, 0).is_ok());
        assert_noticed(first_byte(&frame, 1), what);
    }
}

#[test]
fn after_an_edit_each_chunk_is_compared_with_its_own_checksum() {
    let directory = frame();
    damage(&directory, 1);
    let frame = Frame::open_with(directory.open_writable(FILE).unwrap(), &OpenOptions::new().with_check_on_read(true));
    let frame = frame.unwrap();
    let mut edit = frame.edit().unwrap();
    assert!(first_byte(&edit, 2).is_ok());
    edit.insert(0, &data(CHUNK_ITEMS)).unwrap();
    assert_noticed(first_byte(&edit, 2), "the damaged chunk behind a new one");
    edit.delete(3).unwrap();
    assert!(first_byte(&edit, 0).is_ok());
    edit.reorder(&[2, 1, 0]).unwrap();
    assert_noticed(first_byte(&edit, 0), "the damaged chunk at the front");
    assert!(first_byte(&edit, 2).is_ok());
    drop(edit);
    let mut frame = frame.edit().unwrap();
    assert_noticed(first_byte(&frame, 1), "the damaged chunk where it was");
    assert!(first_byte(&frame, 2).is_ok());
    frame.delete(0).unwrap();
    frame.compact().unwrap();
    assert_noticed(first_byte(&frame, 0), "the damaged chunk elsewhere");
    frame.update(0, &data(CHUNK_ITEMS)).unwrap();
    assert!(first_byte(&frame, 0).is_ok());
    frame.checkpoint().unwrap();
    damage(&directory, 0);
    frame.vlmetalayers_mut().add("note", b"the edit was of nothing else").unwrap();
    assert_noticed(frame.chunk(0), "the new chunk, whole");
}

#[test]
fn after_an_edit_each_chunk_of_an_array_is_compared_with_its_own_checksum() {
    let directory = array();
    damage(&directory, 1);
    let options = OpenOptions::new().with_check_on_read(true);
    let array = NdArray::open_with(directory.open_writable(FILE).unwrap(), &options).unwrap();
    let mut array = array.edit().unwrap();
    let first = CHUNK_ITEMS as u64;
    array.write(&[AxisSelection::Index(0)], &[1; 4]).unwrap();
    array.append(0, &data(CHUNK_ITEMS)).unwrap();
    assert_eq!(array.slice(&[AxisSelection::Index(0)]).unwrap(), [1; 4]);
    assert!(array.slice(&[AxisSelection::Index(3 * first)]).is_ok());
    assert_noticed(array.slice(&[AxisSelection::Index(first)]), "an item of the damaged chunk");
}

/// How many bytes of a storage were read.
struct Counted {
    storage: Box<dyn Storage>,
    read: Arc<AtomicUsize>,
}

impl ReadAt for Counted {
    fn len(&self) -> std::io::Result<u64> {
        self.storage.len()
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.read.fetch_add(buffer.len(), Ordering::Relaxed);
        self.storage.read_at(position, buffer)
    }
}

#[test]
fn a_chunk_of_which_parts_are_read_is_compared_once() {
    let directory = array();
    let read = Arc::new(AtomicUsize::new(0));
    let source = Counted { storage: directory.open_writable(FILE).unwrap(), read: Arc::clone(&read) };
    let frame = Frame::open(Location::source(source)).unwrap();
    let cbytes = frame.chunk(0).unwrap().len();
    let mut array = NdArray::from_frame(frame).unwrap();
    array.check_on_read().unwrap();
    let bytes_read = |item: u64| {
        let before = read.load(Ordering::Relaxed);
        array.slice(&[AxisSelection::Index(item)]).unwrap();
        read.load(Ordering::Relaxed) - before
    };
    assert!(bytes_read(5) >= cbytes);
    for item in [5, 6, CHUNK_ITEMS as u64 - 1] {
        assert!(bytes_read(item) < cbytes / 4);
    }
    assert!(bytes_read(CHUNK_ITEMS as u64) >= cbytes / 2, "another chunk");
}

#[test]
fn what_fills_up_a_damaged_chunk_does_not_make_it_good() {
    let (directory, file) = new_file();
    let mut frame = Frame::create(file, Options::new(4)).unwrap();
    frame.extend_from(&data(CHUNK_ITEMS * 3 / 2)[..], CHUNK).unwrap();
    frame.commit().unwrap();
    damage(&directory, 1);
    let mut frame = open(&directory).edit().unwrap();
    assert_noticed(frame.extend_from(&data(10)[..], CHUNK), "filling up the last chunk");
    frame.checkpoint().unwrap();
    assert_eq!(frame.verify().unwrap().damage.len(), 1);
}

#[test]
fn what_is_written_into_a_damaged_chunk_does_not_make_it_good() {
    let directory = frame();
    damage(&directory, 1);
    let mut frame = open(&directory).edit().unwrap();
    frame.write(5, &[7; 3]).unwrap();
    assert_noticed(frame.write(CHUNK as u64 + 5, &[7; 3]), "writing three bytes");
    frame.checkpoint().unwrap();
    let found = frame.verify().unwrap();
    assert_eq!(found.damage.iter().map(|damage| damage.chunk).collect::<Vec<_>>(), [Some(1)]);
    // What replaces all of it needs nothing of it.
    frame.write(CHUNK as u64, &data(CHUNK_ITEMS)).unwrap();
    assert!(frame.verify().unwrap().is_good());
}

#[test]
fn what_is_written_into_a_damaged_chunk_of_an_array_does_not_make_it_good() {
    let directory = array();
    damage(&directory, 1);
    let mut array = open_array(&directory).edit().unwrap();
    let first = CHUNK_ITEMS as u64;
    array.write(&[AxisSelection::Index(3)], &[1; 4]).unwrap();
    assert_noticed(array.write(&[AxisSelection::Index(first)], &[1; 4]), "writing an item");
    array.checkpoint().unwrap();
    assert_eq!(array.verify().unwrap().damage.len(), 1);
    array.write(&[(first..2 * first).into()], &data(CHUNK_ITEMS)).unwrap();
    assert!(array.verify().unwrap().is_good());
}

#[test]
fn an_array_does_not_grow_over_a_damaged_chunk() {
    let directory = array();
    damage(&directory, 2);
    let mut array = open_array(&directory).edit().unwrap();
    assert_noticed(array.append(0, &data(10)), "appending to the last chunk");
    assert_noticed(array.delete(0, 0..1), "moving all items");
    array.checkpoint().unwrap();
    assert_eq!(array.verify().unwrap().damage.len(), 1);
}

#[test]
fn a_chunk_whose_file_is_missing_is_damage_beside_other_damage() {
    let directory = MemoryDirectory::new();
    let mut frame = Frame::create(directory.clone(), Options::new(4)).unwrap();
    frame.extend(&data(4 * CHUNK_ITEMS), CHUNK).unwrap();
    frame.commit().unwrap();
    directory.remove("00000001.chunk").unwrap();
    let file = directory.open_writable("00000003.chunk").unwrap();
    let middle = file.len().unwrap() / 2;
    file.write_at(middle, b"damage").unwrap();
    let frame = Frame::open(directory).unwrap();
    let found = frame.verify().unwrap();
    let damage: Vec<_> = found.damage.iter().map(|damage| (damage.chunk, damage.error.kind())).collect();
    assert_eq!(damage, [(Some(1), ErrorKind::Corrupt), (Some(3), ErrorKind::ChecksumMismatch)]);
    assert!(found.damage[0].error.to_string().contains("00000001.chunk"), "{}", found.damage[0].error);
    assert_eq!((found.chunks, found.checksums), (4, 4));
}

/// One byte for each stream.
struct OneByte;

impl CodecPlugin for OneByte {
    fn compress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        dst[..2].copy_from_slice(&[src[0]; 2]);
        Ok(Some(2))
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        dst.fill(src[0]);
        Ok(dst.len())
    }
}

/// A frame of two chunks and a metalayer, as bytes.
fn frame_of(options: Options, checksums: bool) -> Vec<u8> {
    let options = FrameOptions::new(options).with_checksums(checksums);
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    frame.append(&[1; 100_000]).unwrap();
    frame.append(&[2; 100_000]).unwrap();
    frame.vlmetalayers_mut().add("unit", b"kelvin").unwrap();
    frame.checkpoint().unwrap().to_bytes().unwrap()
}

#[test]
fn what_takes_too_much_memory_is_not_called_damaged() {
    for checksums in [false, true] {
        let bytes = frame_of(Options::new(1).with_level(0), checksums);
        let options = FrameOptions::new(Options::new(1)).with_limits(Limits::new().with_max_allocation(150_000));
        // A chunk may be read, but not with its data.
        let little = options.clone().with_limits(Limits::new().with_max_allocation(90_000));
        assert!(
            Frame::open_with(Location::source(MemoryStorage::new(bytes.clone())), &options.opening())
                .unwrap()
                .verify()
                .unwrap()
                .is_good()
        );
        let found = Frame::open_with(Location::source(MemoryStorage::new(bytes.clone())), &little.clone().opening())
            .unwrap()
            .verify()
            .unwrap();
        assert_eq!((found.damaged, found.unexamined, found.is_good()), (0, 2, false));
        assert_eq!(found.obstacle.unwrap().kind(), ErrorKind::LimitExceeded);
        let error = Frame::repair(MemoryStorage::new(bytes), little).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
    }
}

#[test]
fn a_chunk_with_a_good_checksum_is_saved_though_its_data_takes_too_much_memory() {
    let options = FrameOptions::new(Options::new(1)).with_limits(Limits::new().with_max_allocation(90_000));
    // Runs of one byte would need no memory to be examined.
    let data: Vec<u8> = (0..100_000_u32).map(|at| (at / 3).to_le_bytes()[0]).collect();
    let repair = |checksums| {
        let created = FrameOptions::new(Options::new(1)).with_checksums(checksums);
        let mut frame = Frame::create(MemoryStorage::default(), created).unwrap();
        frame.append(&data).unwrap();
        Frame::repair(MemoryStorage::new(frame.checkpoint().unwrap().to_bytes().unwrap()), options.clone())
    };
    assert_eq!(repair(false).unwrap_err().kind(), ErrorKind::LimitExceeded);
    let repair = repair(true).unwrap();
    assert!(repair.report().is_whole(), "{}", repair.report());
    let mut saved = SuperChunk::new(repair.options()).unwrap();
    repair.write_to(&mut saved).unwrap();
    assert!(saved.decompress(0).unwrap() == data);
}

#[test]
fn chunks_of_a_codec_that_is_not_known_are_saved_as_they_are() {
    let plugins = || Plugins::new().with_codec(200, Arc::new(OneByte)).unwrap();
    for checksums in [false, true] {
        let bytes = frame_of(Options::new(1).with_codec(Codec::Plugin(200)).with_plugins(plugins()), checksums);
        let found = Frame::open(bytes.clone()).unwrap().verify().unwrap();
        assert_eq!((found.damaged, found.unexamined), (0, 2));
        assert_eq!(found.obstacle.unwrap().kind(), ErrorKind::Unsupported);
        let repair = Frame::repair(MemoryStorage::new(bytes), Options::new(1)).unwrap();
        // Where there are checksums, it is known that they are what was written.
        assert_eq!((repair.report().damaged(), repair.report().unexamined), (0, if checksums { 0 } else { 2 }));
        let mut saved = Frame::create(MemoryStorage::default(), Options::new(1).with_plugins(plugins())).unwrap();
        repair.write_to(&mut saved).unwrap();
        assert!(saved.decompress(1).unwrap() == [2; 100_000]);
        assert_eq!(saved.vlmetalayers().get("unit").unwrap().unwrap(), b"kelvin");
    }
}
