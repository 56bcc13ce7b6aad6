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
use crate::schunk::{ChunkSize, State, VlMetalayers};
use crate::storage::{ReadAt, read_exact};

/// What is read at first: enough for most headers.
const FIRST_READ: u64 = 1024;
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

/// Opens the frame that starts at `base`.
pub(crate) fn open(source: &dyn ReadAt, base: u64, limits: Limits) -> Result<Opened> {
    let stored = read_header(source, base).and_then(|header| open_with(source, base, header, limits));
    let is_trusted = match &stored {
        Ok(opened) => opened.generation != Generation::Current || opened.integrity.verdict != Some(Verdict::Bad),
        Err(_) => false,
    };
    let recovered = recover(source, base, limits, stored.as_ref().ok());
    match (stored, recovered) {
        (_, Some(recovered)) => Ok(recovered),
        (Ok(_), None) if !is_trusted => {
            bail!(ChecksumMismatch, "frame: header, index or trailer is not as it was written")
        }
        (stored, None) => stored,
    }
}

/// The frame by the copy of its header, if there is one and the stored header is not as good.
fn recover(source: &dyn ReadAt, base: u64, limits: Limits, stored: Option<&Opened>) -> Option<Opened> {
    if stored.is_some_and(|opened| opened.integrity.verdict == Some(Verdict::Good)) {
        return None;
    }
    let footer = footer::read(source, source.len().ok()?)?;
    // Other programs change metalayers in place. Only a commit that did so itself may have torn them.
    let may_be_torn = match stored {
        Some(opened) => match opened.integrity.verdict {
            Some(Verdict::Bad) => true,
            Some(Verdict::MetalayersChanged) => footer.is_whole,
            Some(Verdict::Good) | None => false,
        },
        None => true,
    };
    if !may_be_torn {
        return None;
    }
    let mut header = footer.copy;
    if !footer.is_whole {
        let header_len = usize::try_from(u32::from_be_bytes(array_at(&header, 11)?)).ok()?;
        let mut layers = vec![0; header_len.checked_sub(FIXED_LEN).filter(|&len| len <= MAX_HEADER)?];
        source.read_at(base.checked_add(FIXED_LEN as u64)?, &mut layers).ok()?;
        header.extend(layers);
    }
    let mut opened = open_with(source, base, header, limits).ok()?;
    let is_behind_frame = base.checked_add(opened.extent.frame_len)? == footer.start;
    let is_sound = matches!(opened.integrity.verdict, Some(Verdict::Good | Verdict::MetalayersChanged));
    opened.integrity.is_recovered = true;
    (is_behind_frame && is_sound).then_some(opened)
}

/// The bytes of the header at `base`.
fn read_header(source: &dyn ReadAt, base: u64) -> Result<Vec<u8>> {
    let there = source.len()?.saturating_sub(base);
    let mut bytes = vec![0; usize::try_from(there.min(FIRST_READ)).unwrap_or_default()];
    read_exact(source, base, &mut bytes, "frame header")?;
    let (Some(start), Some(magic)) = (bytes.get(..START_LEN), bytes.get(2..2 + header::MAGIC.len())) else {
        bail!(Truncated, "frame header: {START_LEN} bytes needed, {} are there", bytes.len());
    };
    if magic != header::MAGIC {
        bail!(Corrupt, "this is not a frame: it starts with {:02x?}", &start[..10]);
    }
    let stored = array_at(start, START_LEN - 4).map(i32::from_be_bytes).unwrap_or_default();
    let header_len = header::size("header length", stored)?;
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
