//! Opening a frame: header, index and trailer are read and checked, chunks are not.

use super::checksums::{self, Verdict};
use super::early;
use super::footer;
use super::header::{self, Extent, FIXED_LEN, START_LEN};
use super::index::Index;
use super::trailer::{self, Fingerprint};
use crate::bytes::array_at;
use crate::error::{Result, bail, error};
use crate::limits::Limits;
use crate::schunk::{ChunkSize, Foreign, State, VlMetalayers};
use crate::storage::{ReadAt, read_exact};

/// What is read at first: enough for most headers.
const FIRST_READ: u64 = 1024;
/// How often a frame is read again that another process changes meanwhile.
const RETRIES: usize = 16;
/// How often it is read again though the header is the same: it may have been another in between.
const RETRIES_OF_SAME: usize = 3;
/// The longest header: 16 metalayers would have to be 16 MiB each.
pub(super) const MAX_HEADER: usize = 1 << 28;

/// Which generation of frame it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// The one that is written today.
    Current,
    /// The one of the first beta, with a header of 64 bytes and no trailer.
    Beta1,
    /// The one of the later betas, with a header of 82 bytes.
    Beta5,
}

/// Everything about a frame but its chunks.
pub(crate) struct Opened {
    pub(crate) generation: Generation,
    pub(crate) extent: Extent,
    pub(crate) state: State,
    pub(crate) index: Index,
    /// As they are stored; the header is the one that counts, even if the stored one is torn.
    pub(crate) header: Vec<u8>,
    pub(crate) trailer: Vec<u8>,
    pub(crate) integrity: Integrity,
}

/// What is known about whether a frame is as it was written.
pub(crate) struct Integrity {
    /// `None` if there is no fingerprint, or none that still counts.
    pub(crate) verdict: Option<Verdict>,
    /// The metalayer with the hashes of the chunks.
    pub(crate) layer: Option<Vec<u8>>,
    /// Whether the stored header was torn, and the copy behind the frame was used instead.
    pub(crate) is_recovered: bool,
}

impl Integrity {
    /// What a program that knows nothing of hashes has changed since they were written.
    pub(crate) fn foreign(&self) -> Foreign {
        Foreign {
            metalayers: self.verdict == Some(Verdict::MetalayersChanged),
            rest: self.verdict.is_none() && self.layer.is_some(),
        }
    }
}

/// Opens the frame that starts at `base`.
///
/// Another process may be writing: what does not fit together is read again, as long as the header is another each time,
/// and a few times more.
pub(crate) fn open(source: &dyn ReadAt, base: u64, limits: Limits) -> Result<Opened> {
    let mut start = read_start(source, base)?;
    let mut same = 0;
    for _ in 0..RETRIES {
        let opened = open_once(source, base, &start, limits);
        if matches!(&opened, Ok(opened) if opened.integrity.verdict == Some(Verdict::Good)) {
            return opened;
        }
        let now = read_start(source, base)?;
        if now != start {
            start = now;
        } else if opened.is_ok() || same == RETRIES_OF_SAME {
            return opened;
        } else {
            same += 1;
        }
    }
    open_once(source, base, &start, limits)
}

/// Opens the frame by its header, of which the start has been read, or by the copy of it if it is torn.
fn open_once(source: &dyn ReadAt, base: u64, start: &[u8], limits: Limits) -> Result<Opened> {
    let stored = read_header(source, base, start).and_then(|header| open_with(source, base, header, limits));
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
fn recover(source: &dyn ReadAt, base: u64, limits: Limits) -> Option<Opened> {
    let footer = footer::read(source, base, limits)?;
    let mut stored = vec![0; footer.new.len()];
    source.read_at(base, &mut stored).ok()?;
    if !footer.is_torn(&stored) {
        return None;
    }
    let mut header = footer.new;
    if header.len() == FIXED_LEN {
        let header_len = usize::try_from(u32::from_be_bytes(array_at(&header, START_LEN - 4)?)).ok()?;
        let mut layers = vec![0; header_len.checked_sub(FIXED_LEN).filter(|&len| len <= MAX_HEADER)?];
        source.read_at(base.checked_add(FIXED_LEN as u64)?, &mut layers).ok()?;
        header.extend(layers);
    }
    let mut opened = open_with(source, base, header, limits).ok()?;
    opened.integrity.is_recovered = true;
    (opened.integrity.verdict != Some(Verdict::Bad)).then_some(opened)
}

/// The first bytes of the frame: enough for most headers, or all there are.
fn read_start(source: &dyn ReadAt, base: u64) -> Result<Vec<u8>> {
    let there = source.len()?.saturating_sub(base);
    let mut start = vec![0; usize::try_from(there.min(FIRST_READ)).unwrap_or_default()];
    read_exact(source, base, &mut start, "frame header")?;
    Ok(start)
}

/// The bytes of the header that starts with `start`.
fn read_header(source: &dyn ReadAt, base: u64, start: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = start.to_vec();
    let (Some(start), Some(magic)) = (start.get(..START_LEN), start.get(2..2 + header::MAGIC.len())) else {
        bail!(Truncated, "frame header: {START_LEN} bytes needed, {} are there", bytes.len());
    };
    if magic != header::MAGIC {
        bail!(Corrupt, "this is not a frame: it starts with {:02x?}", &start[..10]);
    }
    let stored = array_at(start, START_LEN - 4).map(i32::from_be_bytes).unwrap_or_default();
    let header_len = header::size("header length", stored)?;
    let there = source.len()?.saturating_sub(base);
    if header_len > MAX_HEADER || header_len as u64 > there {
        bail!(Truncated, "frame header: {header_len} bytes announced, {there} are there");
    }
    let read = bytes.len();
    bytes.resize(header_len, 0);
    if header_len > read {
        read_exact(source, base + read as u64, &mut bytes[read..], "frame header")?;
    }
    Ok(bytes)
}

/// Opens the frame at `base` by the header that is given.
pub(super) fn open_with(source: &dyn ReadAt, base: u64, header: Vec<u8>, limits: Limits) -> Result<Opened> {
    let (generation, extent, mut state) = match early::read(&header)? {
        Some((generation, extent, state)) => (generation, extent, state),
        None => {
            let (extent, state) = header::read(&header)?;
            (Generation::Current, extent, state)
        }
    };
    let tail = read_tail(source, base, &extent, limits)?;
    let (index_bytes, trailer) = match generation {
        Generation::Beta1 => (&tail[..], &[][..]),
        _ => tail.split_at(tail.len() - trailer::len(&tail)?),
    };
    let (vlmetalayers, fingerprint) = match generation {
        Generation::Current => trailer::read(trailer)?,
        Generation::Beta1 => (VlMetalayers::new(), Fingerprint::None),
        Generation::Beta5 => (early::read_trailer(trailer)?, Fingerprint::None),
    };
    state.vlmetalayers = vlmetalayers;
    let verdict = match fingerprint {
        Fingerprint::None => None,
        Fingerprint::Ours(stored) => {
            Some(checksums::compare(&stored, &checksums::fingerprint(&header, index_bytes, trailer)))
        }
    };
    let layer = state.vlmetalayers.take_chunk(checksums::LAYER_NAME);
    if layer.is_some() {
        state.vlmetalayers.reserve();
    }
    let index = read_index(index_bytes, &state, generation, limits)?;
    // The early writers lost the size of chunks when the last one was shorter.
    if generation == Generation::Beta1 && nchunks_by_size(&state) != Some(index.len()) {
        state.chunksize = ChunkSize::Variable;
    }
    let trailer = trailer.to_vec();
    let integrity = Integrity { verdict, layer, is_recovered: false };
    Ok(Opened { generation, extent, state, index, header, trailer, integrity })
}

/// Index and trailer: all that is between the chunks and the end of the frame.
fn read_tail(source: &dyn ReadAt, base: u64, extent: &Extent, limits: Limits) -> Result<Vec<u8>> {
    let there = source.len()?.saturating_sub(base);
    if extent.frame_len > there {
        bail!(Truncated, "frame: {} bytes announced, {there} are there", extent.frame_len);
    }
    let chunks = if extent.is_sparse { 0 } else { extent.section_len };
    let start = (extent.header_len as u64).checked_add(chunks).filter(|&start| start <= extent.frame_len);
    let Some(start) = start else {
        bail!(Corrupt, "frame: {chunks} bytes of chunks do not fit into its {} bytes", extent.frame_len);
    };
    let len = usize::try_from(extent.frame_len - start).map_err(|_| error!(LimitExceeded, "frame: too long"))?;
    limits.check("the index and trailer of a frame", len)?;
    let mut tail = vec![0; len];
    read_exact(source, base.saturating_add(start), &mut tail, "frame index and trailer")?;
    Ok(tail)
}

fn read_index(bytes: &[u8], state: &State, generation: Generation, limits: Limits) -> Result<Index> {
    if state.nbytes == 0 && bytes.is_empty() {
        return Ok(Index::new());
    }
    let index = Index::parse(bytes, limits)?;
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
fn nchunks_by_size(state: &State) -> Option<usize> {
    match state.chunksize {
        ChunkSize::Fixed(size) => usize::try_from(state.nbytes.div_ceil(size as u64)).ok(),
        ChunkSize::Unknown => Some(0),
        ChunkSize::Variable => None,
    }
}
