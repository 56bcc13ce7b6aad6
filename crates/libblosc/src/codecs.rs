//! The codecs by the names and numbers of blosc.h.

use blosc_oxide::Codec;
use std::ffi::CStr;

/// A codec, and what C calls it.
pub(crate) struct Entry {
    pub(crate) codec: Codec,
    pub(crate) name: &'static CStr,
    pub(crate) library: &'static CStr,
}

/// Every codec that a Blosc1 chunk can have, by its number.
static ALL: [Entry; 6] = [
    Entry { codec: Codec::BloscLz, name: c"blosclz", library: c"BloscLZ" },
    Entry { codec: Codec::Lz4, name: c"lz4", library: c"LZ4" },
    Entry { codec: Codec::Lz4Hc, name: c"lz4hc", library: c"LZ4" },
    Entry { codec: Codec::Snappy, name: c"snappy", library: c"Snappy" },
    Entry { codec: Codec::Zlib, name: c"zlib", library: c"Zlib" },
    Entry { codec: Codec::Zstd, name: c"zstd", library: c"Zstd" },
];

/// The names of those that are there.
pub(crate) const LIST: &CStr =
    if cfg!(feature = "snappy") { c"blosclz,lz4,lz4hc,snappy,zlib,zstd" } else { c"blosclz,lz4,lz4hc,zlib,zstd" };

/// Which version all of them are: they are parts of this library.
pub(crate) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), " (blosc-oxide)\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

impl Entry {
    /// Whether this build has it.
    pub(crate) fn is_there(&self) -> bool {
        match self.codec {
            // Other packages of a build may have turned it on for theirs.
            Codec::Snappy => cfg!(feature = "snappy"),
            codec => codec.is_built_in(),
        }
    }

    /// The number of the library it is in, which is that of its format as well.
    pub(crate) fn library_number(&self) -> i32 {
        self.codec.format_code().into()
    }
}

/// The codec with this number, whether it is there or not.
pub(crate) fn by_number(number: i32) -> Option<&'static Entry> {
    ALL.get(usize::try_from(number).ok()?)
}

/// The number of the codec with this name, if it is there.
pub(crate) fn number_of(name: &CStr) -> Option<i32> {
    let place = ALL.iter().position(|entry| entry.name == name && entry.is_there())?;
    i32::try_from(place).ok()
}

/// The first codec of this format.
pub(crate) fn by_format(format: u8) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.codec.format_code() == format)
}
