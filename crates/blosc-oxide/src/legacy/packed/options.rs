//! How a packed super-chunk is to be written.

use super::filters::PackedFilters;
use super::header::{PackedHeader, PackedSpecial};
use crate::chunk::{Compressor, Format, Options, SplitMode};
use crate::codec::Codec;
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::filter::Filter;
use std::collections::BTreeMap;

/// Which release of C-Blosc2 is written for. We read both; they do not read everything of each
/// other.
///
/// ```
/// use blosc_oxide::legacy::{PackedOptions, PackedRelease};
/// let options = PackedOptions::new(4).with_release(PackedRelease::Alpha4);
/// assert_eq!(options.release(), PackedRelease::Alpha4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PackedRelease {
    /// 2.0.0a2: chunks of version 2, which C-Blosc 1.x decompresses too, and an uncompressed delta
    /// reference.
    Alpha2,
    /// 2.0.0a4, the last one with this format: chunks of version 3, and a compressed delta
    /// reference.
    #[default]
    Alpha4,
}

/// Options for writing packed super-chunks; built by value and checked once, when a writer is made.
///
/// | option | range | default |
/// |---|---|---|
/// | typesize | 1 to 536,866,816 bytes | none, it must be given |
/// | codec | any that is built in | `BloscLz` |
/// | level | 0 (store) to 9 | 5 |
/// | filters | `Delta`, then `Shuffle` or `BitShuffle` | `Shuffle` |
/// | reference | any data, with `Delta` only | the first buffer |
/// | release | see [`PackedRelease`] | `Alpha4` |
/// | threads | see [`Threads`] | as many as there are |
///
/// ```
/// use blosc_oxide::{Codec, Filter, legacy::PackedOptions};
/// let options = PackedOptions::new(8).with_codec(Codec::Zlib).with_filters([Filter::Delta, Filter::BitShuffle]);
/// let packed: Vec<u8> = options.pack([[0; 800], [1; 800]])?;
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedOptions {
    typesize: usize,
    codec: Codec,
    level: u8,
    filters: Vec<Filter>,
    release: PackedRelease,
    threads: Threads,
    specials: BTreeMap<PackedSpecial, Vec<u8>>,
}

impl PackedOptions {
    /// The defaults, for items of `typesize` bytes.
    #[must_use]
    pub fn new(typesize: usize) -> Self {
        Self {
            typesize,
            codec: Codec::BloscLz,
            level: 5,
            filters: vec![Filter::Shuffle],
            release: PackedRelease::default(),
            threads: Threads::default(),
            specials: BTreeMap::new(),
        }
    }

    /// Sets the codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    /// Sets the level: 0 stores, 1 is the fastest, 9 the smallest.
    #[must_use]
    pub fn with_level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// Sets the filters, in the order of compression.
    #[must_use]
    pub fn with_filters(mut self, filters: impl IntoIterator<Item = Filter>) -> Self {
        self.filters = filters.into_iter().collect();
        self
    }

    /// Sets the release that is written for.
    #[must_use]
    pub fn with_release(mut self, release: PackedRelease) -> Self {
        self.release = release;
        self
    }

    /// Sets where blocks are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Sets what the delta filter refers to, in place of the first buffer.
    #[must_use]
    pub fn with_reference(self, data: impl Into<Vec<u8>>) -> Self {
        self.with_special(PackedSpecial::Filters, data)
    }

    /// Sets the data of a special chunk.
    #[must_use]
    pub fn with_special(mut self, kind: PackedSpecial, data: impl Into<Vec<u8>>) -> Self {
        self.specials.insert(kind, data.into());
        self
    }

    /// The size of an item in bytes.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.typesize
    }

    /// The codec.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The level: 0 stores, 1 is the fastest, 9 the smallest.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// The filters, in the order of compression.
    #[must_use]
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// The release that is written for.
    #[must_use]
    pub fn release(&self) -> PackedRelease {
        self.release
    }

    /// Where blocks are worked on.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The data of a special chunk.
    #[must_use]
    pub fn special(&self, kind: PackedSpecial) -> Option<&[u8]> {
        self.specials.get(&kind).map(Vec::as_slice)
    }

    /// What the delta filter refers to, in place of the first buffer.
    #[must_use]
    pub fn reference(&self) -> Option<&[u8]> {
        self.special(PackedSpecial::Filters)
    }

    /// The options that the rest of a super-chunk is written with.
    pub(super) fn of_header(header: &PackedHeader, typesize: usize, release: PackedRelease) -> Result<Self> {
        let Ok(level) = u8::try_from(header.level()) else {
            bail!(Unsupported, "the level is {}, it can be 0 to 9", header.level());
        };
        let options = Self::new(typesize).with_codec(header.codec()).with_level(level).with_release(release);
        Ok(options.with_filters(header.filters().iter()))
    }

    /// The header of a super-chunk without chunks.
    pub(super) fn header(&self) -> Result<PackedHeader> {
        Ok(PackedHeader::empty(self.codec, self.level, self.packed_filters()?))
    }

    pub(super) fn packed_filters(&self) -> Result<PackedFilters> {
        PackedFilters::new(&self.filters)
    }

    pub(super) fn has_delta(&self) -> bool {
        self.filters.first() == Some(&Filter::Delta)
    }

    pub(super) fn is_alpha(&self) -> bool {
        self.release == PackedRelease::Alpha4
    }

    /// The special chunks in the order they are stored in.
    pub(super) fn take_specials(&mut self) -> Result<BTreeMap<PackedSpecial, Vec<u8>>> {
        if self.specials.contains_key(&PackedSpecial::Filters) && !self.has_delta() {
            bail!(InvalidArgument, "a reference is given, but delta is not the first filter");
        }
        Ok(std::mem::take(&mut self.specials))
    }

    /// What compresses data after the delta.
    pub(super) fn compressor(&self) -> Result<Compressor> {
        let filters = self.filters.iter().copied().filter(|&filter| filter != Filter::Delta);
        // The reader of the second alpha knows no flag for blocks that are not split: they are
        // wherever they can be.
        let split = if self.is_alpha() { SplitMode::default() } else { SplitMode::Always };
        let options = self.chunk_options(self.typesize).with_codec(self.codec).with_level(self.level);
        Compressor::new(options.with_filters(filters).with_split(split))
    }

    /// What makes the chunk that the delta refers to. The second alpha did not compress it.
    pub(super) fn reference_compressor(&self) -> Result<Compressor> {
        match self.release {
            PackedRelease::Alpha2 => Compressor::new(self.chunk_options(1).with_level(0).with_filters([])),
            PackedRelease::Alpha4 => self.compressor(),
        }
    }

    fn chunk_options(&self, typesize: usize) -> Options {
        Options::new(typesize).with_format(Format::Blosc1).alpha(self.is_alpha()).with_threads(self.threads.clone())
    }
}
