//! Blosc in Rust: every chunk that was ever written, read and written, by safe code.
//!
//! Blosc compresses arrays of numbers: data is cut into blocks that stay in the cache, each block
//! is filtered so that equal bytes stand together, and then compressed with a fast codec. Zarr,
//! HDF5, PyTables, OpenVDB and python-blosc2 store its chunks.
//!
//! ```
//! use blosc_oxide::{Codec, Options};
//!
//! let data: Vec<u8> = (0..250_000_u32).flat_map(u32::to_le_bytes).collect();
//! let chunk = blosc_oxide::compress(&data, &Options::new(4).with_codec(Codec::Lz4).with_level(5))?;
//! assert!(chunk.len() < data.len() / 20);
//! assert_eq!(blosc_oxide::decompress(&chunk)?, data);
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! # Where to look
//! * [`compress`] and [`decompress`] are for one chunk, [`Compressor`] and [`Decompressor`] for
//!   many: they keep their memory.
//! * [`Chunk`] looks into a chunk: sizes, codec, filters, parts of the data.
//! * `Frame` is a file of chunks, `FrameEdit` a transaction that changes one; `NdArray` and
//!   `ArrayEdit` are the same for arrays. `SuperChunk` is chunks in memory.
//! * `io` has `Read`, `Seek` and `Write` over the data of a frame.
//! * [`Options`] lists everything that can be chosen, with ranges and defaults.
//! * [`plugin`] adds codecs and filters of one's own.
//! * `bloscpack` is for `.blp` files, with the feature of that name.
//!
//! # More examples
//! Many buffers: a `Compressor` and a `Decompressor` keep their memory, so that the second call of
//! a size makes no allocation of its own.
//!
//! ```rust
//! use blosc_oxide::{Codec, Compressor, Decompressor, Filter, Options};
//!
//! let options = Options::new(8).with_codec(Codec::Zstd).with_level(3).with_filters([Filter::Delta, Filter::BitShuffle]);
//! let mut compressor = Compressor::new(options)?;
//! let mut decompressor = Decompressor::new();
//! let mut chunk = vec![0; compressor.max_compressed_len(8000)];
//! let mut decoded = vec![0; 8000];
//! for start in [0, 1_000_000_u64] {
//!     let data: Vec<u8> = (start..start + 1000).flat_map(u64::to_le_bytes).collect();
//!     let cbytes = compressor.compress_into(&data, &mut chunk)?;
//!     decompressor.decompress_into(&chunk[..cbytes], &mut decoded)?;
//!     assert_eq!(decoded, data);
//! }
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! Write for readers that only know Blosc1, and refuse what is too large when reading from
//! strangers.
//!
//! ```rust
//! use blosc_oxide::{Codec, Decompressor, ErrorKind, Format, Limits, Options, compress};
//!
//! let options = Options::new(4).with_codec(Codec::Lz4).with_format(Format::Blosc1);
//! let chunk = compress(&[42; 10_000], &options)?;
//! let mut careful = Decompressor::new().with_limits(Limits::new().with_max_allocation(1000));
//! let error = careful.decompress(&chunk).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::LimitExceeded);
//! assert_eq!(error.to_string(), "the data of a chunk asks for 10000 bytes, the limit is 1000");
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! # Promises
//! * The same data and options give the same bytes, from the same build, with any number of
//!   threads.
//! * Any input gives data or an [`Error`]: nothing panics, and nothing is allocated beyond
//!   [`Limits`].
//! * There is no global state: no settings, no registries, no environment variables.
//!
//! # Features
//! All of these are on by default, and each can be left out:
//!
//! * `lz4`, `zlib`, `zstd`, `snappy`, `lizard` (which is only read): the codecs; blosclz is always
//!   there.
//! * `threads`: blocks in parallel.
//! * `frame`: super-chunks and frames. `array`: arrays, in frames. `bloscpack`: `.blp` files.
//!   `legacy`: the packed super-chunk, and writers of early frames. Without these four there are
//!   single chunks only, and few dependencies.
//!
//! Off by default: `zstd-pure` takes a Zstandard without C in place of the C library, and `pure` is
//! everything that needs no C compiler; `zstd-legacy` reads streams of zstd 0.1 to 0.7, with C
//! decoders as old as they are; `ndarray` turns arrays into those of the crate of that name and
//! back.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "array", feature = "bloscpack", feature = "legacy")),
    allow(dead_code, unused_imports, unreachable_pub, reason = "what only a tier that is left out uses")
)]

#[cfg(feature = "array")]
mod array;
#[cfg(feature = "bloscpack")]
pub mod bloscpack;
mod bytes;
mod chunk;
mod codec;
#[cfg(any(feature = "frame", feature = "bloscpack"))]
mod container;
mod error;
mod exec;
mod filter;
#[cfg(feature = "frame")]
mod frame;
pub mod isa;
mod item;
#[cfg(feature = "legacy")]
pub mod legacy;
pub mod limits;
#[cfg(any(feature = "array", feature = "bloscpack"))]
mod numpy;
#[cfg(feature = "frame")]
mod schunk;
#[cfg(any(feature = "frame", feature = "bloscpack"))]
pub mod storage;

/// Codecs and filters of one's own, for [`Options::with_plugins`] and
/// [`Decompressor::with_plugins`], and threads of one's own, for [`Threads::custom`].
pub mod plugin {
    pub use crate::chunk::Plugins;
    pub use crate::codec::{CodecContext, CodecPlugin};
    pub use crate::exec::Executor;
    pub use crate::filter::{FilterContext, FilterPlugin};
}

/// `Read`, `Seek` and `Write` over the data of a frame or super-chunk.
#[cfg(feature = "frame")]
pub mod io {
    pub use crate::schunk::{DataReader, DataWriter};
}

/// Saving what can be saved of a damaged frame. Start with [`Repair`](crate::repair::Repair).
#[cfg(feature = "frame")]
pub mod repair {
    pub use crate::frame::{LooseChunk, Repair, RepairReport, RepairUnknown, RepairedBy};
}

#[cfg(feature = "array")]
pub use array::{
    ArrayChunk, ArrayEdit, ArrayOptions, ArrayReader, AxisSelection, Fill, Geometry, NdArray, OrderedView,
};
pub use chunk::{
    BlockInfo, Chunk, Compressor, Decompressor, Format, Header, LazyChunk, Options, Special, SplitMode, fill_chunk,
    special_chunk,
};
pub use codec::Codec;
#[cfg(any(feature = "frame", feature = "bloscpack"))]
pub use container::Container;
pub use error::{Error, ErrorKind, Result};
pub use exec::Threads;
pub use filter::{BitshuffleRule, Filter, Pipeline};
#[cfg(feature = "frame")]
pub use frame::{Damage, Frame, FrameEdit, FrameLayout, FrameOptions, FrameVersion, OpenOptions, Verification};
pub use item::{Item, ItemType};
pub use limits::Limits;
#[cfg(any(feature = "array", feature = "bloscpack"))]
pub use numpy::{ItemOrder, NpyHeader};
#[cfg(feature = "frame")]
pub use schunk::{ChunkRun, Metalayers, SuperChunk, VlMetalayers};
#[cfg(any(feature = "frame", feature = "bloscpack"))]
pub use storage::Location;

/// Compresses `data` into a chunk.
///
/// # Errors
/// As [`Compressor::new`] and [`Compressor::compress`].
pub fn compress(data: &[u8], options: &Options) -> Result<Vec<u8>> {
    Compressor::new(options.clone())?.compress(data)
}

/// Decompresses the chunk that `chunk` starts with, up to the 2 GiB that a chunk can hold.
///
/// The length that the chunk declares is allocated before its data are decoded. For chunks of
/// strangers take a [`Decompressor`] with [`Limits`].
///
/// # Errors
/// As [`Chunk::parse`] and [`Chunk::decompress`].
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>> {
    trusting().decompress(chunk)
}

/// Compresses numbers into a chunk. Their bytes are little-endian in it, on every machine.
///
/// ```
/// use blosc_oxide::{Codec, Options, compress_items, decompress_items};
/// let chunk = compress_items(&[1.0_f32, 2.0], &Options::new(4).with_codec(Codec::Lz4))?;
/// assert_eq!(decompress_items::<f32>(&chunk)?, [1.0, 2.0]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
///
/// # Errors
/// As [`Compressor::compress_items`].
pub fn compress_items<T: Item>(items: &[T], options: &Options) -> Result<Vec<u8>> {
    Compressor::new(options.clone())?.compress_items(items)
}

/// Decompresses the numbers in the chunk that `chunk` starts with, up to the 2 GiB that a chunk can
/// hold.
///
/// # Errors
/// As [`Decompressor::decompress_items`].
pub fn decompress_items<T: Item>(chunk: &[u8]) -> Result<Vec<T>> {
    trusting().decompress_items(chunk)
}

/// For the caller's own data: whatever [`compress`] has taken comes back.
fn trusting() -> Decompressor {
    Decompressor::new().with_limits(Limits::new().with_max_allocation(limits::MAX_NBYTES))
}

/// The examples of the README, which must work as well.
#[cfg(all(doctest, feature = "lz4", any(feature = "zstd", feature = "zstd-pure")))]
#[doc = include_str!("../../../README.md")]
struct Readme;
