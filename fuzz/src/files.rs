//! Files from strangers: opened, and read in every way there is.

use crate::input::Input;
use crate::{MOST, MOST_CHUNKS, check_error, frame_options, limits};
use blosc_oxide::bloscpack::{self, Bloscpack, ReadOptions};
use blosc_oxide::{
    AxisSelection, Frame, FrameEdit, Location, NdArray, Result, SuperChunk, Threads,
    legacy::{PackedSpecial, PackedSuperChunk},
    storage::{Directory, MemoryDirectory, MemoryStorage},
};
use std::io::{self, Seek, SeekFrom, Write};

fn check<T>(result: Result<T>) -> Option<T> {
    result.inspect_err(check_error).ok()
}

/// A contiguous frame.
pub fn frame(bytes: &[u8]) {
    let open = || Frame::open_with(Location::source(MemoryStorage::new(bytes.to_vec())), &frame_options().opening());
    if let Some(frame) = check(open()) {
        super_chunk(&frame);
        check(frame.verify());
        check(frame.dead_bytes());
    }
    // Both take long, and the length of an input is as good as any other choice.
    if bytes.len() % 4 == 1 {
        repair(bytes);
    }
    if bytes.len() % 4 == 2
        && let Some(frame) = check(
            Frame::open_with(MemoryStorage::new(bytes.to_vec()), &frame_options().opening())
                .and_then(|frame| frame.edit()),
        )
    {
        check(go_on(frame));
    }
}

fn repair(bytes: &[u8]) {
    if let Some(repair) = check(Frame::repair(MemoryStorage::new(bytes.to_vec()), frame_options())) {
        let mut target = SuperChunk::new(repair.options()).ok();
        if let Some(target) = &mut target {
            check(repair.write_to(target));
        }
    }
}

/// Goes on writing, as somebody would who does not know.
fn go_on(mut frame: FrameEdit) -> Result<()> {
    let size = frame.chunksize().unwrap_or(64).min(4096);
    frame.append(&vec![1; size])?;
    frame.vlmetalayers_mut().add("new", b"content")?;
    frame.checkpoint()?;
    frame.update(0, &vec![2; size])?;
    frame.checkpoint()?;
    frame.compact().map(drop)
}

fn super_chunk(frame: &SuperChunk) {
    for (_, content) in frame.metalayers().iter() {
        assert!(content.len() <= MOST);
    }
    for name in frame.vlmetalayers().names().take(MOST_CHUNKS) {
        check(frame.vlmetalayers().get(name));
    }
    for index in 0..frame.nchunks().min(MOST_CHUNKS) {
        check(frame.chunk_header(index));
        let whole = check(frame.decompress(index));
        let block = check(frame.block(index, 0));
        let range = check(frame.chunk_range(index));
        if let (Some(whole), Some(block), Some(range)) = (whole, block, range) {
            assert!(whole.starts_with(&block), "a block has other bytes");
            let (start, end) = (range.start + whole.len() as u64 / 3, range.start + whole.len() as u64 / 2);
            let part = frame.bytes(start..end).expect("a part of what can be read can be read");
            assert!(part == whole[whole.len() / 3..whole.len() / 2], "a range has other bytes");
        }
    }
    check(frame.items(0..frame.nitems().min(10)));
    check(frame.gather(&[0, frame.nitems().saturating_sub(1)]));
}

/// A sparse frame: files one after the other, each after its length in two bytes; the first is the
/// index.
pub fn sparse_frame(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let directory = MemoryDirectory::new();
    for number in 0..MOST_CHUNKS {
        if input.is_empty() {
            break;
        }
        let len = usize::from(u16::from_le_bytes(input.array()));
        let name = if number == 0 { "chunks.b2frame".to_owned() } else { format!("{:08X}.chunk", number - 1) };
        let file = directory.create(&name).expect("memory does not fail");
        file.write_at(0, input.bytes(len)).expect("memory does not fail");
    }
    if let Some(frame) = check(Frame::open_with(directory.clone(), &frame_options().opening())) {
        super_chunk(&frame);
        check(frame.verify());
    }
    check(Frame::repair_directory(directory.clone(), frame_options()));
    if let Some(frame) = check(Frame::open_with(directory, &frame_options().opening()).and_then(|frame| frame.edit())) {
        check(go_on(frame));
    }
}

/// A packed super-chunk, or a frame of the betas.
pub fn legacy(bytes: &[u8]) {
    if let Some(packed) = check(PackedSuperChunk::open_with_limits(bytes, limits())) {
        let packed = packed.with_threads(Threads::serial());
        for kind in PackedSpecial::ALL {
            check(packed.special(kind));
        }
        for index in 0..packed.nchunks().min(MOST_CHUNKS) {
            check(packed.chunk_header(index));
            check(packed.decompress(index));
        }
        check(packed.nbytes());
        check(packed.bytes(0..100));
        if packed.nchunks() < MOST_CHUNKS {
            check(packed.copy_to(MemoryStorage::default()));
        }
    }
    if let Some(frame) =
        check(Frame::open_with(Location::source(MemoryStorage::new(bytes.to_vec())), &frame_options().opening()))
    {
        super_chunk(&frame);
        check(frame.verify());
        check(frame.write_early(blosc_oxide::legacy::EarlyFrame::Beta5, Bounded(MOST)));
    }
}

/// A b2nd array.
pub fn array(bytes: &[u8]) {
    let frame =
        check(Frame::open_with(Location::source(MemoryStorage::new(bytes.to_vec())), &frame_options().opening()));
    let Some(array) = frame.and_then(|frame| check(NdArray::from_frame(frame))) else { return };
    read_array(&array);
}

pub(crate) fn read_array(array: &NdArray) {
    let whole = check(array.to_vec());
    let shape = array.shape().to_vec();
    let first: Vec<AxisSelection> = shape.iter().map(|&length| AxisSelection::from(0..length.min(3))).collect();
    let last: Vec<AxisSelection> = shape.iter().map(|&length| AxisSelection::from(length.saturating_sub(1))).collect();
    let backwards: Vec<AxisSelection> =
        shape.iter().map(|&length| AxisSelection::slice(length.saturating_sub(1).min(20), None, -2)).collect();
    check(array.slice(&first));
    check(array.slice(&backwards));
    let item = check(array.slice(&last));
    if let (Some(whole), Some(item)) = (whole, item) {
        assert!(whole.ends_with(&item), "the last item is another");
    }
    for chunk in array.chunks().take(MOST_CHUNKS) {
        check(chunk);
    }
    check(array.to_npy(Bounded(MOST)));
}

/// A writer that has enough at some time.
struct Bounded(usize);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Bounded {
    /// Nothing is kept, so that any place will do.
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

/// A Bloscpack file: at random, as a stream, and changed.
pub fn bloscpack(bytes: &[u8]) {
    let options = ReadOptions::new().with_limits(limits()).with_threads(Threads::serial());
    let mut streamed = Vec::new();
    let stream = check(bloscpack::unpack(bytes, Capped(&mut streamed), &options));
    if let Some(file) = check(Bloscpack::with_options(MemoryStorage::new(bytes.to_vec()), options)) {
        let _ = (file.metadata(), check(file.numpy()), check(file.offsets()));
        let mut whole = Vec::new();
        let copied = check(file.copy_to(Capped(&mut whole)));
        if copied.is_some() && stream.is_some() && !file.has_journal() {
            assert!(whole == streamed, "a stream has other data");
        }
        if let (Some(_), Some(nbytes)) = (copied, check(file.nbytes())) {
            assert_eq!(nbytes, whole.len() as u64);
            let part = check(file.read_range(nbytes / 3..nbytes / 2));
            let mut all = vec![0; whole.len()];
            let read = check(file.read_into(0, &mut all));
            // Whoever reads a part believes offsets that skip a chunk.
            if check(skips_nothing(&file)) == Some(true) {
                read.expect("what can be copied can be read");
                assert!(all == whole, "all bytes together are others");
                let part = part.expect("a part of what can be read can be read");
                assert!(part[..] == whole[whole.len() / 3..whole.len() / 2], "a range has other bytes");
            }
        }
        check(file.chunk_header(0));
        check(file.copy_to_npy(Bounded(MOST)));
    }
    let mut storage = MemoryStorage::new(bytes.to_vec());
    let how = bloscpack::AppendOptions::new().with_limits(limits()).with_threads(Threads::serial());
    if check(bloscpack::append(&mut storage, &[7; 100][..], &how)).is_some() {
        check(bloscpack::replace_metadata(&mut storage, "{}", limits()));
    }
}

/// Whether each chunk starts where the one before ends.
fn skips_nothing(file: &Bloscpack<MemoryStorage>) -> Result<bool> {
    let mut expected = file.chunk_position(0)?;
    for index in 0..file.nchunks()? {
        if file.chunk_position(index)? != expected {
            return Ok(false);
        }
        expected += (file.chunk_header(index)?.cbytes() + file.header().checksum().len()) as u64;
    }
    Ok(true)
}

/// A vector that has enough at some time.
struct Capped<'a>(&'a mut Vec<u8>);

impl Write for Capped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > 4 * MOST {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Msgpack as the header and the trailer of a frame, with lengths that are right, and as the
/// metalayer of an array.
pub fn msgpack(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (which, split) = (input.byte(), usize::from(input.byte()));
    if which % 4 == 3 {
        let options = frame_options().with_metalayer("b2nd", input.rest());
        let frame = Frame::create(MemoryStorage::default(), options).and_then(FrameEdit::commit);
        let frame = frame.expect("any metalayer can be made");
        if let Some(array) = check(NdArray::from_frame(frame)) {
            read_array(&array);
        }
        return;
    }
    let (layers, trailer) = (input.bytes(split), input.rest());
    frame_with(layers, trailer, which % 4 != 2);
}

const FIXED_LEN: usize = 87;
const TAIL_LEN: usize = 23;

/// Opens a frame without chunks whose lists of metalayers are these bytes.
fn frame_with(layers: &[u8], trailer_layers: &[u8], has_vlmetalayers: bool) {
    let options = frame_options().with_checksums(false);
    let whole =
        Frame::create(MemoryStorage::default(), options).and_then(FrameEdit::commit).and_then(|frame| frame.to_bytes());
    let whole = whole.expect("an empty frame can be made");
    let header_len = FIXED_LEN + layers.len();
    let mut bytes = whole[..FIXED_LEN].to_vec();
    bytes.extend_from_slice(layers);
    let trailer_at = bytes.len();
    bytes.extend_from_slice(&[0x94, 1]);
    bytes.extend_from_slice(if has_vlmetalayers {
        trailer_layers
    } else {
        &[0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0]
    });
    let trailer_len = u32::try_from(bytes.len() - trailer_at + TAIL_LEN).expect("inputs are short");
    bytes.push(0xce);
    bytes.extend_from_slice(&trailer_len.to_be_bytes());
    bytes.extend_from_slice(&[0xd8, 0]);
    bytes.extend_from_slice(&[0; 16]);
    bytes[11..15].copy_from_slice(&u32::try_from(header_len).expect("inputs are short").to_be_bytes());
    let frame_len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&frame_len.to_be_bytes());
    if let Some(frame) =
        check(Frame::open_with(Location::source(MemoryStorage::new(bytes)), &frame_options().opening()))
    {
        super_chunk(&frame);
    }
}
