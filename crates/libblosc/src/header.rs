//! The 16 bytes that a chunk starts with, as C's functions tell them: without a check of what does
//! not concern the question.

use crate::code::{BAD_VERSION, FAILED, NO_CODEC};
use crate::codecs;
use c_boundary::memory;
use std::ffi::c_void;

/// The length of a header.
pub(crate) const LEN: usize = 16;
/// The most bytes that a chunk can hold.
pub(crate) const MAX_NBYTES: usize = i32::MAX as usize - LEN;

const VERSION: u8 = 2;
const CODEC_VERSION: u8 = 1;
const MEMCPYED: u8 = 0x02;
const OF_THE_FUTURE: u8 = 0x08;
const MAX_BLOCKSIZE: usize = (i32::MAX as usize - 255 * 4) / 3;
/// Blocks are cut into so many streams at the most.
const MAX_STREAMS: usize = 16;
/// What a stream may take beyond its data: its size, and the worst case of Snappy.
const WORST_STREAM: usize = 4 + 32;

/// The fields of a header, as they stand there.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) version: u8,
    pub(crate) codec_version: u8,
    flags: u8,
    typesize: u8,
    nbytes: i32,
    blocksize: i32,
    cbytes: i32,
}

/// The sizes that C hands out: negative ones become very large, as they do there.
#[derive(Default)]
pub(crate) struct Sizes {
    pub(crate) nbytes: usize,
    pub(crate) cbytes: usize,
    pub(crate) blocksize: usize,
}

/// The header that a chunk starts with.
///
/// # Safety
/// `chunk` is NULL, or 16 bytes from there can be read.
pub(crate) unsafe fn read(chunk: *const c_void) -> Option<Header> {
    // SAFETY: the caller promises it.
    unsafe { memory::start::<LEN>(chunk) }.map(|bytes| Header::new(&bytes))
}

impl Header {
    fn new(bytes: &[u8; LEN]) -> Self {
        let [version, codec_version, flags, typesize, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = *bytes;
        Self {
            version,
            codec_version,
            flags,
            typesize,
            nbytes: i32::from_le_bytes([n0, n1, n2, n3]),
            blocksize: i32::from_le_bytes([b0, b1, b2, b3]),
            cbytes: i32::from_le_bytes([c0, c1, c2, c3]),
        }
    }

    /// Whether the chunk is of the version that there is.
    pub(crate) fn is_known(&self) -> bool {
        self.version == VERSION
    }

    pub(crate) fn sizes(&self) -> Sizes {
        if !self.is_known() {
            return Sizes::default();
        }
        let size = |size: i32| usize::try_from(size).unwrap_or_else(|_| (size as isize).cast_unsigned());
        Sizes { nbytes: size(self.nbytes), cbytes: size(self.cbytes), blocksize: size(self.blocksize) }
    }

    /// The typesize, and the flags that tell the filter and a copy.
    pub(crate) fn type_and_flags(&self) -> (usize, i32) {
        if self.is_known() { (self.typesize.into(), (self.flags & 7).into()) } else { (0, 0) }
    }

    /// The codec's format.
    pub(crate) fn format(&self) -> u8 {
        self.flags >> 5
    }

    /// Whether a chunk of `cbytes` may start with this header; how much data it says it has.
    pub(crate) fn validate(&self, cbytes: usize) -> (bool, usize) {
        let sizes = self.sizes();
        (sizes.cbytes == cbytes && sizes.nbytes <= MAX_NBYTES, sizes.nbytes)
    }

    /// The lengths of the data and of the chunk, if the chunk can be decoded as far as the header
    /// tells; else the code that C has for the reason. An empty chunk has nothing that could be
    /// wrong.
    pub(crate) fn check(&self) -> Result<Lengths, i32> {
        if !self.is_known() {
            return Err(BAD_VERSION);
        }
        if self.nbytes == 0 {
            return Ok(Lengths { nbytes: 0, cbytes: LEN });
        }
        let size = |size: i32| usize::try_from(size).ok().filter(|&size| size > 0).ok_or(FAILED);
        let (nbytes, cbytes, blocksize) = (size(self.nbytes)?, size(self.cbytes)?, size(self.blocksize)?);
        if blocksize > MAX_BLOCKSIZE || self.typesize == 0 || self.flags & OF_THE_FUTURE != 0 {
            return Err(FAILED);
        }
        if self.flags & MEMCPYED == 0 {
            self.check_codec()?;
        }
        if nbytes > MAX_NBYTES || cbytes < LEN || cbytes > longest_chunk(nbytes, blocksize) {
            return Err(FAILED);
        }
        Ok(Lengths { nbytes, cbytes })
    }

    fn check_codec(&self) -> Result<(), i32> {
        codecs::by_format(self.format()).filter(|entry| entry.is_there()).ok_or(NO_CODEC)?;
        if self.codec_version == CODEC_VERSION { Ok(()) } else { Err(BAD_VERSION) }
    }

    pub(crate) fn typesize(&self) -> usize {
        self.typesize.into()
    }

    /// Whether the blocks are as long as those that the library chooses, and not much longer.
    pub(crate) fn has_common_blocks(&self) -> bool {
        self.blocksize <= 4 << 20
    }
}

/// What a header says that can be true.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) nbytes: usize,
    pub(crate) cbytes: usize,
}

/// No writer makes a longer chunk. Memory that is longer than that is not the chunk's, whatever a
/// damaged header says.
fn longest_chunk(nbytes: usize, blocksize: usize) -> usize {
    let nblocks = nbytes.div_ceil(blocksize);
    let of_streams = nblocks.saturating_mul(4 + MAX_STREAMS * WORST_STREAM);
    LEN + nbytes.saturating_add(nbytes / 6).saturating_add(of_streams)
}
