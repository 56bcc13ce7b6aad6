//! Blosc in Rust: reads and writes every format of the Blosc family, in safe code.
//!
//! Blosc compresses arrays of numbers: it divides them into blocks that fit into the cache, filters
//! each block so that equal bytes are next to each other, and compresses the result with a fast
//! codec. Zarr, HDF5, PyTables, OpenVDB and python-blosc2 store data in its formats.
//!
//! | you have | start with |
//! |---|---|
//! | a buffer to compress | [Chunks](#chunks): [`compress_items`], [`compress`], [`Compressor`] |
//! | more data than one buffer, in a file or in memory | [Frames](#frames): [`Frame`], [`FrameEdit`], [`SuperChunk`] |
//! | an array of several dimensions, to be sliced | [Arrays](#arrays): [`NdArray`], [`ArrayEdit`] |
//! | something that implements `Read` or `Write` | [Streams](#streams): [`SuperChunk::reader`], [`SuperChunk::writer`] |
//! | a `.blp` file | [`bloscpack`] |
//! | a file of the alphas and betas of C-Blosc2 | [`legacy`]; early frames open as a [`Frame`] |
//! | a damaged frame | [`repair`] |
//! | a codec, a filter or threads of your own | [`plugin`] |
//!
//! [`Options`] lists what can be chosen for compression, with ranges and defaults.
//!
//! # Chunks
//!
//! A chunk is up to 2 GiB of data. Numbers are little-endian in it, on every machine.
//!
//! ```
//! use blosc_oxide::{Codec, Options, compress_items, decompress_items};
//!
//! let data: Vec<f32> = (0..250_000).map(|i| (i / 100) as f32).collect();
//! let chunk = compress_items(&data, &Options::new(4).with_codec(Codec::Lz4).with_level(5))?;
//! assert!(chunk.len() < data.len() / 10);
//! assert_eq!(decompress_items::<f32>(&chunk)?, data);
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! For many buffers, a [`Compressor`] and a [`Decompressor`] keep their memory: the second call of
//! a size makes no allocation of its own. [`Chunk`] reads parts of a chunk, and its header.
//!
//! ```
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
//! Chunks of others may declare any size: set [`Limits`] for them. [`Format::Blosc1`] writes for
//! readers that know only Blosc1.
//!
//! ```
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
//! # Frames
//!
//! A frame is a sequence of chunks with metadata, in a file, a directory or in memory. [`Frame`] is
//! one committed state, to be read. A [`FrameEdit`] is a transaction: its changes are published
//! together by [`commit`](FrameEdit::commit); if it is dropped before, by an error or a panic,
//! nothing has changed.
//!
//! ```
//! use blosc_oxide::{Frame, Options};
//!
//! # let path = std::env::temp_dir().join(format!("blosc-oxide-lib-{}.b2frame", std::process::id()));
//! let mut edit = Frame::create(&path, Options::new(4))?;
//! edit.append_items(&[1.5_f32, 2.5, 3.5])?;
//! edit.vlmetalayers_mut().add("unit", b"kelvin")?;
//! edit.commit()?;
//!
//! let mut edit = Frame::open(&path)?.edit()?;
//! edit.append_items(&[4.5_f32])?;
//! let frame = edit.commit()?;
//! assert_eq!(frame.read_items::<f32>(1..4)?, [2.5, 3.5, 4.5]);
//! # drop(frame);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! # Arrays
//!
//! An array has chunks and blocks of several dimensions: a slice decodes only the blocks that it
//! touches. Edits are transactions, as those of frames.
//!
//! ```
//! use blosc_oxide::{ArrayOptions, AxisSelection, Fill, NdArray, Options};
//!
//! # let path = std::env::temp_dir().join(format!("blosc-oxide-lib-{}.b2nd", std::process::id()));
//! let options = ArrayOptions::new(&[300, 400], Options::new(8)).with_dtype("<f8");
//! let mut edit = NdArray::create(&path, &options, &Fill::Zeros)?;
//! edit.write_items(&[AxisSelection::from(7), (0..2).into()], &[1.5_f64, 2.5])?;
//! edit.commit()?;
//!
//! let array = NdArray::open(&path)?;
//! let column = array.slice_items::<f64>(&[(6..9).into(), AxisSelection::from(1)])?;
//! assert_eq!(column, [0.0, 2.5, 0.0]);
//! # drop(array);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! # Streams
//!
//! `Read`, `BufRead`, `Seek` and `Write` over the data of a frame: data of any length, in bounded
//! memory. [`SuperChunk::extend_from`] and [`SuperChunk::write_to`] do the same on several threads.
//!
//! ```
//! use blosc_oxide::{Frame, Options, storage::MemoryStorage};
//! use std::io::{Read, Seek, SeekFrom, Write};
//!
//! let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
//! let mut writer = edit.writer(64 << 10)?;
//! writer.write_all(b"any number of bytes")?;
//! writer.finish()?;
//! let frame = edit.commit()?;
//!
//! let mut reader = frame.reader();
//! reader.seek(SeekFrom::Start(14))?;
//! let mut text = String::new();
//! reader.read_to_string(&mut text)?;
//! assert_eq!(text, "bytes");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Promises
//! * The same data and options give the same bytes, from the same build, with any number of
//!   threads.
//! * Any input gives data or an [`Error`]: nothing panics, and nothing is allocated beyond
//!   [`Limits`].
//! * Nothing depends on global state: there are no registries and no environment variables, and the
//!   only setting of the process ([`isa::force`]) does not change results.
//!
//! # Features
//! All of these are on by default, and each can be left out:
//!
//! * `lz4`, `zlib`, `zstd`, `snappy`, `lizard` (which is only read), `zfp` (for arrays of floats):
//!   the codecs; blosclz is always included.
//! * `threads`: blocks in parallel.
//! * `frame`: super-chunks and frames. `array`: arrays, in frames. `bloscpack`: `.blp` files.
//!   `legacy`: the packed super-chunk, and writers of early frames. Without these four there are
//!   single chunks only, and few dependencies.
//!
//! Off by default: `zstd-pure` replaces the C library of Zstandard by Rust, and `pure` is
//! everything that needs no C compiler; `zstd-legacy` reads streams of zstd 0.1 to 0.7, with the
//! old C decoders; `ndarray` converts arrays to and from those of the crate of that name.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "array", feature = "bloscpack", feature = "legacy")),
    allow(rustdoc::broken_intra_doc_links, reason = "links to a tier that is left out")
)]
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

/// Codecs and filters of the caller's, for [`Options::with_plugins`] and
/// [`Decompressor::with_plugins`], and the caller's threads, for [`Threads::custom`].
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

/// Rescuing the data of a damaged frame. Start with [`Repair`](crate::repair::Repair).
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
/// others use a [`Decompressor`] with [`Limits`].
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
