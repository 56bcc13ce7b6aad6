//! Opening a frame: header, index and trailer are read and checked, chunks are not.

use crate::bytes::array_at;
use crate::chunk::{BLOSC2_LEN, Header};
use crate::error::{ErrorKind, Result, bail, error};
use crate::frame::format::early::{self, Generation};
use crate::frame::format::field;
use crate::frame::format::fingerprint::{self, Verdict};
use crate::frame::format::footer;
use crate::frame::format::hashes::{self, Form, StoredHashes};
use crate::frame::format::header::{self, Extent, FIXED_LEN, MAX_HEADER, START_LEN};
use crate::frame::format::index::{self, Coding, Index};
use crate::frame::format::trailer::{self, Fingerprint, Trailer};
use crate::limits::Limits;
use crate::schunk::{ChunkSize, Foreign, State, VlMetalayers};
use crate::storage::{ReadAt, read_exact};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// What is read at first: enough for most headers.
const FIRST_READ: u64 = 1024;
/// How often a frame is read again while another process changes it.
const RETRIES: usize = 100;
/// How often it is read again though the header is the same: it may have changed and changed back.
const RETRIES_OF_SAME: usize = 3;
/// Up to this length index and trailer are read at once.
const MAX_WHOLE_TAIL: u64 = 64 << 10;
/// Hashes that start within so many bytes of the trailer are left out.
const TRAILER_FRONT: u64 = 4 << 10;
/// How much may have been appended to an index while it was read.
const MAX_NEW: usize = 16 << 10;

/// Everything about a frame except its chunks.
pub(crate) struct Loaded {
    pub(crate) generation: Generation,
    pub(crate) extent: Extent,
    pub(crate) state: State,
    pub(crate) index: Index,
    /// As they are stored; the header is the committed one, even if the stored one is torn.
    pub(crate) header: Vec<u8>,
    pub(in crate::frame) trailer: Trailer,
    pub(crate) integrity: Integrity,
}

/// What fingerprint and hashes say about a frame.
pub(crate) struct Integrity {
    /// `None` if there is no fingerprint, or one that is out of date.
    pub(crate) verdict: Option<Verdict>,
    /// Whether there is a metalayer with the hashes of the chunks.
    pub(crate) has_hashes: bool,
    /// The hashes, if they can be read.
    pub(crate) hashes: Option<StoredHashes>,
    /// Whether the stored header was torn, and the copy behind the frame was used instead.
    pub(crate) is_recovered: bool,
}

impl Integrity {
    /// What a program that knows nothing of hashes has changed since they were written.
    pub(crate) fn foreign(&self) -> Foreign {
        Foreign {
            metalayers: self.verdict == Some(Verdict::MetalayersChanged),
            rest: self.verdict.is_none() && self.has_hashes,
        }
    }
}

/// Opens the frame that starts at `base`.
///
/// Another process may be writing: parts that do not fit together are read again as long as the
/// header changes, and a few times more; metalayers that do not match are compared a few times.
pub(crate) fn load(source: &dyn ReadAt, base: u64, limits: Limits) -> Result<Loaded> {
    let mut seen = None;
    let mut stamp = Stamp::at(source, base, limits)?;
    let mut opened = load_once(source, base, &stamp.start, limits, &mut seen);
    let mut same = 0;
    for _ in 0..RETRIES {
        let verdict = opened.as_ref().map(|opened| opened.integrity.verdict);
        if matches!(verdict, Ok(Some(Verdict::Good))) {
            break;
        }
        let now = Stamp::at(source, base, limits)?;
        if now != stamp {
            (stamp, same) = (now, 0);
        } else if matches!(verdict, Ok(None)) || same == RETRIES_OF_SAME {
            break;
        } else {
            same += 1;
            if opened.is_ok() {
                // Metalayers that another program has changed, or that are being written.
                continue;
            }
        }
        opened = load_once(source, base, &stamp.start, limits, &mut seen);
    }
    opened
}

/// What changes with every commit: the start of the frame, and the end of the trailer, where the
/// fingerprint is. Every second commit may have the same header.
#[derive(PartialEq, Eq)]
struct Stamp {
    start: Vec<u8>,
    end: [u8; trailer::TAIL_LEN],
}

impl Stamp {
    fn at(source: &dyn ReadAt, base: u64, limits: Limits) -> Result<Self> {
        let mut len = source.len()?;
        let start = loop {
            let read = read_start(source, base, limits);
            let before = std::mem::replace(&mut len, source.len()?);
            // A commit may have cut the file while it was read.
            if !matches!(&read, Err(error) if error.kind() == ErrorKind::Truncated && len < before) {
                break read?;
            }
        };
        let mut end = [0; trailer::TAIL_LEN];
        let end_at = header::stored_frame_len(&start).and_then(|len| len.checked_sub(end.len() as u64));
        // What cannot be read is found out by whoever opens the frame.
        let _ = end_at.map(|at| source.read_at(base.saturating_add(at), &mut end));
        Ok(Self { start, end })
    }
}

/// Opens the frame by its header, of which the start has been read, or by the copy of it if it is
/// torn.
fn load_once(source: &dyn ReadAt, base: u64, start: &[u8], limits: Limits, seen: &mut Earlier) -> Result<Loaded> {
    let header = read_header(source, base, start, limits);
    let stored = header.and_then(|header| load_after(source, base, header, limits, seen));
    let verdict = stored.as_ref().map(|opened| opened.integrity.verdict);
    if matches!(verdict, Ok(Some(Verdict::Good))) {
        return stored;
    }
    if let Some(recovered) = recover(source, base, limits) {
        return Ok(recovered);
    }
    if matches!(verdict, Ok(Some(Verdict::Bad))) {
        bail!(ChecksumMismatch, "frame: header, index or trailer is not as it was written");
    }
    stored
}

/// The frame by the copy of its header, if there is one and the stored header is torn.
fn recover(source: &dyn ReadAt, base: u64, limits: Limits) -> Option<Loaded> {
    let footer = footer::read(source, base, limits)?;
    let mut stored = vec![0; footer.new.len()];
    source.read_at(base, &mut stored).ok()?;
    if !footer.is_torn(&stored) {
        return None;
    }
    let mut header = footer.new;
    if header.len() == FIXED_LEN {
        let header_len = usize::try_from(u32::from_be_bytes(array_at(&header, START_LEN - 4)?)).ok()?;
        let there = source.len().ok()?.saturating_sub(base);
        if header_len > MAX_HEADER || header_len as u64 > there || limits.check("frame header", header_len).is_err() {
            return None;
        }
        let mut layers = vec![0; header_len.checked_sub(FIXED_LEN)?];
        source.read_at(base.checked_add(FIXED_LEN as u64)?, &mut layers).ok()?;
        header.extend(layers);
    }
    let mut opened = load_with(source, base, header, limits).ok()?;
    opened.integrity.is_recovered = true;
    (opened.integrity.verdict != Some(Verdict::Bad)).then_some(opened)
}

/// The first bytes of the frame: at least the whole header, as far as there are as many.
fn read_start(source: &dyn ReadAt, base: u64, limits: Limits) -> Result<Vec<u8>> {
    let there = source.len()?.saturating_sub(base);
    let mut start = vec![0; usize::try_from(there.min(FIRST_READ)).unwrap_or_default()];
    read_exact(source, base, &mut start, "frame header")?;
    let (read, len) = (start.len(), header::stored_len(&start).unwrap_or_default());
    let is_there = len <= MAX_HEADER && len as u64 <= there && limits.check("frame header", len).is_ok();
    if len > read && is_there && start.get(2..2 + header::MAGIC.len()) == Some(header::MAGIC) {
        start.resize(len, 0);
        read_exact(source, base + read as u64, &mut start[read..], "frame header")?;
    }
    Ok(start)
}

/// The header that `start` holds, or why it holds none.
fn read_header(source: &dyn ReadAt, base: u64, start: &[u8], limits: Limits) -> Result<Vec<u8>> {
    let mut bytes = start.to_vec();
    let (Some(start), Some(magic)) = (start.get(..START_LEN), start.get(2..2 + header::MAGIC.len())) else {
        bail!(Truncated, "frame header: {START_LEN} bytes needed, {} are there", bytes.len());
    };
    if magic != header::MAGIC {
        bail!(Corrupt, "this is not a frame: it starts with {:02x?}", &start[..10]);
    }
    let stored = array_at(start, START_LEN - 4).map(i32::from_be_bytes).unwrap_or_default();
    let header_len = field::size("header length", stored)?;
    let there = source.len()?.saturating_sub(base);
    if header_len as u64 > there {
        bail!(Truncated, "frame header: {header_len} bytes announced, {there} are there");
    }
    if header_len > MAX_HEADER {
        bail!(Unsupported, "frame header: {header_len} bytes announced, at most {MAX_HEADER} are read");
    }
    limits.check("frame header", header_len)?;
    if header_len > bytes.len() {
        bail!(Truncated, "frame header: {header_len} bytes announced, {} could be read", bytes.len());
    }
    bytes.truncate(header_len);
    Ok(bytes)
}

/// Opens the frame at `base` by the header that is given.
pub(in crate::frame) fn load_with(source: &dyn ReadAt, base: u64, header: Vec<u8>, limits: Limits) -> Result<Loaded> {
    load_after(source, base, header, limits, &mut None)
}

/// An index that was read but did not match the rest: of a long one that is being written, only a
/// small part differs the next time.
type Earlier = Option<Vec<u8>>;

/// The same after an attempt that has seen another index.
fn load_after(source: &dyn ReadAt, base: u64, header: Vec<u8>, limits: Limits, seen: &mut Earlier) -> Result<Loaded> {
    let (generation, extent, state) = match early::read(&header)? {
        Some((generation, extent, state)) => (generation, extent, state),
        None => {
            let (extent, state) = header::read(&header)?;
            (Generation::Current, extent, state)
        }
    };
    let place = tail_place(source, base, &extent)?;
    let has_seen = seen.is_some();
    let tail = match generation {
        Generation::Current => read_tail(source, base, &place, limits, seen.take())?,
        _ => read_early_tail(source, base, &place, generation, limits)?,
    };
    let (index, rest) = tail;
    let opened = assemble(source, base, (generation, extent, state), header, (&index, rest), limits);
    let is_good = matches!(&opened, Ok(opened) if opened.integrity.verdict == Some(Verdict::Good));
    *seen = (!is_good && !has_seen).then_some(index);
    opened
}

/// Everything about a frame, from parts that have been read.
fn assemble(
    source: &dyn ReadAt,
    base: u64,
    (generation, extent, mut state): (Generation, Extent, State),
    header: Vec<u8>,
    (index_bytes, Rest { trailer, hashes }): (&[u8], Rest),
    limits: Limits,
) -> Result<Loaded> {
    let (vlmetalayers, fingerprint) = match generation {
        Generation::Current => (trailer.layers()?, trailer.fingerprint()?),
        Generation::Beta1 => (VlMetalayers::new(), Fingerprint::None),
        Generation::Beta5 => (early::read_trailer(trailer.parts().0)?, Fingerprint::None),
    };
    if generation == Generation::Beta5 {
        state.bitshuffle = early::bitshuffle_rule(trailer.parts().0);
    }
    state.vlmetalayers = vlmetalayers;
    state.vlmetalayers.set_limits(limits);
    let verdict = match fingerprint {
        Fingerprint::None => None,
        Fingerprint::Ours(..) if hashes.as_ref().is_some_and(|hashes| !hashes.is_good()) => Some(Verdict::Bad),
        Fingerprint::Ours(form, stored) => Some(match digest(form, index_bytes) {
            Some(digest) => {
                fingerprint::compare(&stored, &fingerprint::fingerprint(&header, digest, trailer.fingerprinted()))
            }
            None => Verdict::Bad,
        }),
    };
    let has_hashes = state.vlmetalayers.take_chunk(hashes::LAYER_NAME).is_some();
    if has_hashes {
        state.vlmetalayers.reserve();
    }
    let coding = if generation == Generation::Current { Coding::Current } else { early::coding(&header)? };
    let index = read_index(index_bytes, coding, &state, generation, limits)?;
    if generation == Generation::Beta1
        && let Some(section) = base.checked_add(extent.header_len as u64)
        && let Some(pipeline) = early::pipeline_of_chunks(source, section, &index)
    {
        state.pipeline = pipeline;
    }
    // The early writers lost the size of chunks when the last one was shorter.
    if generation == Generation::Beta1 && nchunks_by_size(&state) != Some(index.len()) {
        state.chunksize = ChunkSize::Variable;
    }
    let integrity = Integrity { verdict, has_hashes, hashes, is_recovered: false };
    Ok(Loaded { generation, extent, state, index, header, trailer, integrity })
}

/// What a fingerprint covers of an index in this form, and what comes before the trailer; `None` if
/// it is in another.
fn digest(form: Form, index: &[u8]) -> Option<u64> {
    match form {
        Form::Whole => Some(xxh3_64(index)),
        Form::Words if index.is_empty() => None,
        Form::Words => index::stored_digest(index),
    }
}

/// All that is between the chunks and the end of the frame: the index and the rest.
type Tail = (Vec<u8>, Rest);

/// What comes after the index.
struct Rest {
    trailer: Trailer,
    hashes: Option<StoredHashes>,
}

/// Where index and trailer are, counted from the start of the frame.
fn tail_place(source: &dyn ReadAt, base: u64, extent: &Extent) -> Result<Range<u64>> {
    let there = source.len()?.saturating_sub(base);
    if extent.frame_len > there {
        bail!(Truncated, "frame: {} bytes announced, {there} are there", extent.frame_len);
    }
    let chunks = if extent.is_sparse { 0 } else { extent.section_len };
    let start = (extent.header_len as u64).checked_add(chunks).filter(|&start| start <= extent.frame_len);
    let Some(start) = start else {
        bail!(Corrupt, "frame: {chunks} bytes of chunks do not fit into its {} bytes", extent.frame_len);
    };
    Ok(start..extent.frame_len)
}

fn read_part(source: &dyn ReadAt, base: u64, part: Range<u64>, limits: Limits) -> Result<Vec<u8>> {
    let len = part.end.saturating_sub(part.start);
    let len = usize::try_from(len).map_err(|_| error!(LimitExceeded, "frame: too long"))?;
    limits.check("the index and trailer of a frame", len)?;
    let mut bytes = vec![0; len];
    read_exact(source, base.saturating_add(part.start), &mut bytes, "frame index and trailer")?;
    Ok(bytes)
}

/// Index and trailer of an early frame.
fn read_early_tail(
    source: &dyn ReadAt,
    base: u64,
    place: &Range<u64>,
    generation: Generation,
    limits: Limits,
) -> Result<Tail> {
    let mut index = read_part(source, base, place.clone(), limits)?;
    let trailer = match generation {
        Generation::Beta1 => Vec::new(),
        _ => index.split_off(index.len() - trailer::len(&index, index.len())?),
    };
    Ok((index, Rest { trailer: Trailer::around(0..0, &trailer, &[]), hashes: None }))
}

/// Index and trailer. If there are many hashes they are left out.
fn read_tail(source: &dyn ReadAt, base: u64, place: &Range<u64>, limits: Limits, seen: Earlier) -> Result<Tail> {
    if place.end - place.start > MAX_WHOLE_TAIL
        && let Some(tail) = read_around_hashes(source, base, place, limits, seen)?
    {
        return Ok(tail);
    }
    let mut index = read_part(source, base, place.clone(), limits)?;
    let trailer = index.split_off(index.len() - trailer::len(&index, index.len())?);
    let (trailer, hashes) = Trailer::from_whole(trailer);
    Ok((index, Rest { trailer, hashes }))
}

/// Index and trailer without the hashes; `None` if those are not where they can be left out.
fn read_around_hashes(
    source: &dyn ReadAt,
    base: u64,
    place: &Range<u64>,
    limits: Limits,
    seen: Earlier,
) -> Result<Option<Tail>> {
    let end = read_part(source, base, place.end - trailer::TAIL_LEN as u64..place.end, limits)?;
    let there = usize::try_from(place.end - place.start).unwrap_or(usize::MAX);
    let trailer_len = trailer::len(&end, there)?;
    let trailer_at = place.end - trailer_len as u64;
    let front_end = place.end.min(trailer_at + TRAILER_FRONT);
    let index = read_index_bytes(source, base, place.start..trailer_at, limits, seen)?;
    let front = read_part(source, base, trailer_at..front_end, limits)?;
    let Some(found) = trailer::find_hashes(&front, trailer_len) else { return Ok(None) };
    let gap = found.range();
    let after = read_part(source, base, trailer_at + gap.end as u64..place.end, limits)?;
    let trailer = Trailer::around(gap.clone(), &front[..gap.start], &after);
    let hashes = Some(found.at(trailer_at + gap.start as u64));
    Ok(Some((index, Rest { trailer, hashes })))
}

/// The bytes of an index: all before the trailer, or, if it is stored as it is, up to its end. Of
/// one that has been seen before only the end is read again; the attempt after that reads all of
/// it.
fn read_index_bytes(
    source: &dyn ReadAt,
    base: u64,
    place: Range<u64>,
    limits: Limits,
    seen: Earlier,
) -> Result<Vec<u8>> {
    let head = read_part(source, base, place.start..place.end.min(place.start + BLOSC2_LEN as u64), limits)?;
    let stored_len = Header::parse(&head).ok().filter(Header::is_memcpyed).map(|header| header.cbytes() as u64);
    let Some(len) = stored_len.filter(|&len| len <= place.end - place.start && len >= head.len() as u64) else {
        return read_part(source, base, place, limits);
    };
    let mut bytes = seen.unwrap_or_default();
    bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len().saturating_sub(MAX_NEW)));
    if bytes.len() < head.len() {
        bytes.clone_from(&head);
    }
    bytes[..head.len()].copy_from_slice(&head);
    let rest = read_part(source, base, place.start + bytes.len() as u64..place.start + len, limits)?;
    bytes.extend(rest);
    Ok(bytes)
}

fn read_index(bytes: &[u8], coding: Coding, state: &State, generation: Generation, limits: Limits) -> Result<Index> {
    if state.nbytes == 0 && bytes.is_empty() {
        return Ok(Index::new());
    }
    let index = Index::parse_as(coding, bytes, limits)?;
    // What the first betas stored there cannot be relied upon.
    if generation == Generation::Beta1 {
        return Ok(index);
    }
    let expected = nchunks_by_size(state).unwrap_or(index.len());
    if index.len() != expected {
        bail!(Corrupt, "frame index: {} chunks, but {} bytes make {expected}", index.len(), state.nbytes);
    }
    Ok(index)
}

/// How many chunks the data must be in; `None` if they are of any size.
pub(in crate::frame) fn nchunks_by_size(state: &State) -> Option<usize> {
    match state.chunksize {
        ChunkSize::Fixed(size) => usize::try_from(state.nbytes.div_ceil(size as u64)).ok(),
        ChunkSize::Unknown => Some(0),
        ChunkSize::Variable => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::free_space::FreeSpace;
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Bytes, and how many of them were asked for at once.
    struct Watched {
        bytes: Vec<u8>,
        most: AtomicUsize,
    }

    impl ReadAt for Watched {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.most.fetch_max(buffer.len(), Ordering::Relaxed);
            self.bytes.read_at(position, buffer)
        }
    }

    /// A torn header and `len` bytes more, with a copy of the header that claims to be `claimed`
    /// bytes long.
    fn torn(claimed: u32, len: usize) -> Watched {
        let (old, mut new) = (vec![0; FIXED_LEN], vec![1; FIXED_LEN]);
        new[START_LEN - 4..START_LEN].copy_from_slice(&claimed.to_be_bytes());
        let mut bytes = new.clone();
        bytes[FIXED_LEN - 1] = 0;
        bytes.resize(FIXED_LEN + len, 7);
        let free_space = FreeSpace { chunks_end: 0, parts: Vec::new() };
        let footer = footer::Footer { old, new, free_space, start: bytes.len() as u64 };
        bytes.extend(footer.to_bytes());
        Watched { bytes, most: AtomicUsize::new(0) }
    }

    #[test]
    fn a_torn_header_is_not_read_by_the_length_that_its_copy_claims() {
        let limits = Limits::new().with_max_allocation(4 << 10);
        for (claimed, len) in [(1 << 20, 0), (1 << 20, 2 << 20), (u32::MAX, 0), (0, 0)] {
            let source = torn(claimed, len);
            assert!(load(&source, 0, limits).is_err());
            let most = source.most.into_inner();
            assert!(most <= 4 << 10, "{claimed} bytes claimed, {most} read");
        }
    }

    #[test]
    fn a_torn_header_is_read_as_far_as_its_copy_says() {
        let source = torn(3000, 4000);
        assert!(load(&source, 0, Limits::new()).is_err());
        assert_eq!(source.most.into_inner(), 3000 - FIXED_LEN);
    }
}
